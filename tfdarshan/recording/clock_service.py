"""Tells other hosts' ranks this host's clock over TCP, for as long as the process lives."""

from __future__ import annotations

import fcntl
import os
import secrets
import selectors
import socket
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

from tfdarshan.recording.clock_sample import time_namespace_offset_ns

# By which address other hosts reach this one, if not by all that it has.
ADDRESS_VARIABLE = "TFDARSHAN_CLOCK_ADDRESS"
TOKEN_BYTES = 16
# A question is any 8 bytes, and the answer CLOCK_MONOTONIC in ns.
ANSWER = struct.Struct("!q")
MOST_QUESTIONERS = 1_024
# After a questioner that no descriptor could be had for.
REST_S = 0.1
INTERFACE_ADDRESS = 0x8915  # SIOCGIFADDR, netdevice(7)


@dataclass(frozen=True)
class ClockService:
    """Where the clock is asked for.

    Attributes:
        addresses: This host's addresses, the likeliest first.
        port: The port.
        token: What a questioner says first, in hexadecimal.
    """

    addresses: tuple[str, ...]
    port: int
    token: str


def host_monotonic_ns() -> int:
    """Return CLOCK_MONOTONIC of the host, also in a container that has one of its own."""
    return time.monotonic_ns() - _NAMESPACE_OFFSET_NS


class OfferedClock:
    """A port at which this host's clock can be asked for, once `answer` was called.

    Raises:
        OSError: No port can be had.
    """

    def __init__(self) -> None:
        self._listening = socket.create_server(("", 0), backlog=MOST_QUESTIONERS)
        self._listening.setblocking(False)
        self._token = secrets.token_bytes(TOKEN_BYTES)
        port = self._listening.getsockname()[1]
        self.service = ClockService(own_addresses(), port, self._token.hex())

    def answer(self) -> None:
        """Begin to answer, on a daemon thread."""
        answering = _Answering(self._listening, self._token)
        threading.Thread(target=answering.run, name="tfdarshan clock", daemon=True).start()

    def withdraw(self) -> None:
        """Close the port."""
        self._listening.close()


@dataclass
class _Answering:
    """Answers all questioners from one thread, so that none waits for another's network."""

    listening: socket.socket
    token: bytes
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    known: set[socket.socket] = field(default_factory=set)

    def run(self) -> None:
        self.selector.register(self.listening, selectors.EVENT_READ)
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is self.listening:
                    self._accept()
                elif isinstance(key.fileobj, socket.socket) and not self._answer(key.fileobj):
                    self._leave(key.fileobj)

    def _accept(self) -> None:
        try:
            questioner, _ = self.listening.accept()
        except (BlockingIOError, ConnectionError):  # who asked has left
            return
        except OSError:
            # No descriptor is to be had, and who asks stays ready: without a rest this would spin.
            time.sleep(REST_S)
            return
        with suppress(OSError):
            questioner.setblocking(False)
            questioner.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if len(self.selector.get_map()) <= MOST_QUESTIONERS:
            self.selector.register(questioner, selectors.EVENT_READ)
        else:
            questioner.close()

    def _answer(self, questioner: socket.socket) -> bool:
        """Answer one question; False ends the conversation."""
        try:
            if questioner in self.known:
                asked = questioner.recv(ANSWER.size)
                return len(asked) == ANSWER.size and _send(questioner, ANSWER.pack(host_monotonic_ns()))
            said = questioner.recv(TOKEN_BYTES)
        except OSError:
            return False
        self.known.add(questioner)
        return secrets.compare_digest(said, self.token)

    def _leave(self, questioner: socket.socket) -> None:
        self.known.discard(questioner)
        self.selector.unregister(questioner)
        questioner.close()


def _send(questioner: socket.socket, answer: bytes) -> bool:
    return questioner.send(answer) == len(answer)


def own_addresses() -> tuple[str, ...]:
    """Return the addresses by which others may reach this host. No name is looked up, and nothing is sent."""
    if given := os.environ.get(ADDRESS_VARIABLE):
        return (given,)
    found = [address for _, name in socket.if_nameindex() if (address := _address_of(name))]
    return tuple(dict.fromkeys(address for address in found if not address.startswith("127.")))


def _address_of(interface: str) -> str:
    """Return an interface's IPv4 address, "" if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking, suppress(OSError):
        request = struct.pack("256s", interface.encode()[:15])
        return socket.inet_ntoa(fcntl.ioctl(asking.fileno(), INTERFACE_ADDRESS, request)[20:24])
    return ""


_NAMESPACE_OFFSET_NS = time_namespace_offset_ns()
