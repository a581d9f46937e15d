"""What this host's clock is off that of the job's first rank, asked over TCP when a rank begins and ends."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfdarshan.errors import NOT_AS_WRITTEN
from tfdarshan.recording.asked_clock import Asked, keep, summed
from tfdarshan.recording.clock_service import (
    ANSWER,
    ClockService,
    OfferedClock,
    host_monotonic_ns,
)
from tfdarshan.recording.job_identity import JobIdentity
from tfdarshan.recording.rank_directory import CLOCK_FILE
from tfdarshan.sessions.session_directory import boot_id, host_id

# Set to 0: nobody asks, and nobody is asked.
SWITCH_VARIABLE = "TFDARSHAN_CLOCK"
QUESTIONS = 200
# Only WAITING_S, twice at most, is time of the job: the rest is a thread's own.
ASKING_S, ANSWERING_S, TRYING_S, WAITING_S = 0.25, 1.0, 10.0, 0.5
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 1.0
Question = Callable[[], int]


@dataclass
class ClockExchange:
    """One rank's exchange.

    Attributes:
        path: The file that says whom to ask.
        spool: The spool folder, where what was learnt is kept.
        reference: The host that is asked, by its `host_id`; "" before it is known.
        asked: What was learnt.
        begin_ns: When it began, by this host's CLOCK_MONOTONIC.
        service: Where the clock is asked for, once that is known.
        thread: What asks.
    """

    path: Path
    spool: Path
    reference: str = ""
    asked: list[Asked] = field(default_factory=list)
    begin_ns: int = field(default_factory=host_monotonic_ns)
    service: ClockService | None = None
    thread: threading.Thread | None = None

    def begin(self) -> None:
        """Ask for the first time, or begin to answer; the job does not wait for it."""
        self._run(self._begin)

    def end(self) -> dict[str, Any] | None:
        """Ask once more, for half a second at most.

        Returns:
            `reference`, the host that was asked; `offset_ns`, what its CLOCK_MONOTONIC is ahead of this
            host's; `error_ns`, by how much that may be off from the session's beginning to its end. None if
            nobody answered.
        """
        if self.thread is not None:
            self.thread.join(WAITING_S)
        if self.reference and self.reference != host_id():
            self._run(self._ask)
            if self.thread is not None:
                self.thread.join(WAITING_S)
        if self.reference == host_id():
            return {"reference": self.reference, "offset_ns": 0, "error_ns": 0}
        return summed(self.reference, list(self.asked), self.begin_ns, host_monotonic_ns())

    def _run(self, task: Callable[[], None]) -> None:
        if self.thread is not None and self.thread.is_alive():
            return
        self.thread = threading.Thread(target=_quietly, args=(task,), name="tfdarshan clock", daemon=True)
        with suppress(RuntimeError):  # no thread can be had
            self.thread.start()
            return
        self.thread = None

    def _begin(self) -> None:
        if not self.path.exists() and publish(self.path):
            self.reference = host_id()
        else:
            self._ask()
        keep(self.spool, self.reference, self.asked, self.begin_ns)

    def _ask(self) -> None:
        if self.service is None:
            self.reference, self.service = look_up(self.path)
        if self.reference != host_id():
            self.asked.append(ask(self.service))


def begin_exchange(directory: Path, spool: Path, identity: JobIdentity | None) -> ClockExchange | None:
    """Begin an exchange for a rank that may have others on other hosts; None if it has none, or must not.

    Args:
        directory: The rank's folder.
        spool: Its spool folder.
        identity: Which rank it is.
    """
    if identity is None or os.environ.get(SWITCH_VARIABLE) == "0":
        return None
    if identity.world_size is not None and identity.world_size <= (identity.local_size or 1):
        return None
    exchange = ClockExchange(directory.parent / CLOCK_FILE, spool)
    exchange.begin()
    return exchange


def publish(path: Path) -> bool:
    """Begin to answer, and write down where; False if another rank did."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.{boot_id()[:8]}")
    clock = OfferedClock()
    content = {"boot_id": host_id(), **dataclasses.asdict(clock.service)}
    try:
        descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            json.dump(content, file)
        os.link(partial, path)
    except FileExistsError:
        clock.withdraw()
        return False
    finally:
        partial.unlink(missing_ok=True)
    clock.answer()
    return True


def look_up(path: Path) -> tuple[str, ClockService]:
    """Read whom to ask.

    Raises:
        OSError, NOT_AS_WRITTEN: It says nothing.
    """
    said = json.loads(path.read_bytes())
    service = ClockService(tuple(map(str, said["addresses"])), int(said["port"]), str(said["token"]))
    return str(said["boot_id"]), service


def ask(service: ClockService) -> Asked:
    """Ask many times, and take the answer that came quickest.

    Raises:
        OSError: It cannot be reached.
    """
    for address in service.addresses:
        with suppress(OSError), socket.create_connection((address, service.port), ANSWERING_S) as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer.sendall(bytes.fromhex(service.token))
            return best_of(lambda: _one_answer(peer))
    raise OSError("the job's first rank answers by none of its addresses")


def best_of(question: Question, own: Callable[[], int] = host_monotonic_ns) -> Asked:
    """Ask QUESTIONS times, for ASKING_S at most: the error is half of the quickest answer's time.

    Raises:
        OSError: Nothing was answered.
    """
    found: Asked | None = None
    until_ns = own() + int(ASKING_S * 1e9)
    for _ in range(QUESTIONS):
        before_ns = own()
        try:
            other_ns = question()
        except OSError:
            if found is None:
                raise
            return found
        after_ns = own()
        middle_ns, error_ns = (before_ns + after_ns) // 2, (after_ns - before_ns + 1) // 2
        if found is None or error_ns < found.error_ns:
            found = Asked(middle_ns, other_ns - middle_ns, error_ns)
        if after_ns > until_ns:
            break
    assert found is not None
    return found


def _one_answer(peer: socket.socket) -> int:
    peer.sendall(bytes(ANSWER.size))
    answer = b""
    while len(answer) < ANSWER.size:
        part = peer.recv(ANSWER.size - len(answer))
        if not part:
            raise ConnectionError("the job's first rank answers no longer")
        answer += part
    return int(ANSWER.unpack(answer)[0])


def _quietly(task: Callable[[], None]) -> None:
    """Do what it can until it is too late: nobody waits for it, and what is not known is said elsewhere."""
    until_s, pause_s = time.monotonic() + TRYING_S, FIRST_PAUSE_S
    while True:
        try:
            return task()
        except (OSError, *NOT_AS_WRITTEN):
            if time.monotonic() > until_s:
                return None
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
