"""The folder of this rank in the session that all ranks of its job share: found without asking them."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tfdarshan.errors import NOT_AS_WRITTEN, StorageError, reason
from tfdarshan.recording.clock_sample import clock_sample
from tfdarshan.recording.job_identity import JobIdentity
from tfdarshan.sessions.rank_folder import rank_folder
from tfdarshan.sessions.session_directory import PLUGIN_FOLDER

# Says when the first rank came: read only where jobs may have the same identity.
FIRST_RANK = "session.json"
# Says whom to ask for the clock of the first rank, which makes it.
CLOCK_FILE = "clock.json"
# Ranks of one job begin a session within this time; a job of the same name that began earlier is another one.
TOGETHER_NS = 600 * 10**9
MOST_OF_ONE_NAME = 1000

_begun: Counter[tuple[Path, str]] = Counter()


def next_number(logdir: Path, identity: JobIdentity) -> int:
    """Count the sessions that this process began in a logdir: all ranks do the same, and get one number."""
    key = logdir, identity.folder(0)
    _begun[key] += 1
    return _begun[key]


def make_rank_directory(
    logdir: Path, identity: JobIdentity, number: int, clock: Callable[[], int] = time.time_ns
) -> Path:
    """Make `<logdir>/plugins/tfdarshan/<job>-<number>/rank-<rank>/`.

    Where this rank was there before, as in a second run of a job that has the same identity, `_2` and so on
    is added to the session's name; all its ranks find theirs there.

    Args:
        logdir: The logdir.
        identity: Which rank of which job.
        number: The how-manyth session of the job it is.
        clock: Gives ns since the epoch.

    Raises:
        StorageError: It cannot be made.
    """
    name = identity.folder(number)
    parent = logdir / PLUGIN_FOLDER
    try:
        for again in range(1, MOST_OF_ONE_NAME):
            session = parent / (name if again == 1 else f"{name}_{again}")
            session.mkdir(parents=True, exist_ok=True)
            if not _is_of_now(session, identity, clock):
                continue
            directory = rank_folder(session, identity.rank)
            try:
                directory.mkdir()
            except FileExistsError:
                continue
            return directory
    except OSError as error:
        raise StorageError(
            f"logdir {logdir} cannot be written: {reason(error)}; choose a folder you can write to."
        ) from error
    raise StorageError(f"logdir {logdir} already holds {again:,} sessions {name}: choose another one.")


def job_block(directory: Path, identity: JobIdentity, number: int) -> dict[str, Any]:
    """Return what the metadata says of the job, this rank of it, and its host's clocks."""
    return {**dataclasses.asdict(identity), "number": number, "clock": clock_sample(directory)}


def _is_of_now(session: Path, identity: JobIdentity, clock: Callable[[], int]) -> bool:
    """Return whether a session is no earlier job's of the same name: its first rank wrote when it came."""
    now_ns = clock()
    first = json.dumps({"launcher": identity.launcher, "job": identity.job, "start_realtime_ns": now_ns})
    path = session / FIRST_RANK
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return identity.unique or abs(now_ns - _began_ns(path, now_ns)) < TOGETHER_NS
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{first}\n")
    return True


def _began_ns(path: Path, unknown_ns: int) -> int:
    """Read when the first rank came; it may be writing that just now."""
    with suppress(OSError, *NOT_AS_WRITTEN):
        return int(json.loads(path.read_bytes())["start_realtime_ns"])
    return unknown_ns
