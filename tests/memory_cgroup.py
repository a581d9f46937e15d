"""A control group whose memory is limited, for tests: version 1 or 2, whichever this machine has."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FIRST, SECOND = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
LIMITS = {FIRST: "memory.limit_in_bytes", SECOND: "memory.max"}


@contextmanager
def limited_memory(bytes_allowed: int) -> Iterator[Path]:
    """Make a group with a limit for the time of the block; a process enters it by its `cgroup.procs`.

    Skips the test where that is not allowed.
    """
    for top, limit in LIMITS.items():
        group = top / f"tfdarshan-test-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if (group / limit).exists():
                (group / limit).write_text(str(bytes_allowed))
                yield group
                return
        finally:
            group.rmdir()
    pytest.skip("limiting the memory of a control group needs root and the controller memory")


def in_group(group: Path, command: list[str]) -> list[str]:
    """Return a command that runs another one in a group."""
    return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(group), *command]
