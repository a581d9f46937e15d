"""What jobs that read `*.bin` files did with each, by strace and by a session."""

import socket
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from tests.integration.oracle import strace_log
from tfdarshan.session import Session

Counts = dict[str, tuple[int, int, int]]


def seen_by_strace(folder: Path) -> Counts:
    """Return opens, reads and bytes read of each file."""
    opens: Counter[str] = Counter()
    reads: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    for call in strace_log.read_calls(folder):
        if call.name == "openat" and call.result_path.endswith(".bin"):
            opens[call.result_path] += 1
        elif call.name in ("read", "pread64") and call.descriptors[0].endswith(".bin"):
            reads[call.descriptors[0]] += 1
            moved[call.descriptors[0]] += call.result
    return {path: (opens[path], reads[path], moved[path]) for path in opens}


def counted(session: Session) -> Counts:
    """Return the same by the session."""
    files = session.files[session.files["path"].str.endswith(".bin")]
    sums = files.groupby("path")[["POSIX_OPENS", "POSIX_READS", "POSIX_BYTES_READ"]].sum()
    return {path: tuple(row) for path, *row in sums.itertuples()}


def free_ports(count: int) -> list[int]:
    """Return ports of this machine that nothing listens at now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("localhost", 0))
        return [one.getsockname()[1] for one in sockets]
