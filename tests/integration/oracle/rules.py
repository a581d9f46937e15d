"""When a session says the same of a file as strace does. All rules are here.

strace sees system calls, the session what programs call. Both see the same of a file that is used
through descriptors. libc reads and writes for a stream inside itself, in blocks of its own choice
and unseen by the session, which counts the fread or fwrite; so of a file used through a stream the
bytes are compared, not the calls. Streams are to be read to the end. One that seeks may have its
surroundings, up to one block, read again by libc each time.

Darshan's opens include descriptors gained by dup and fileno, and streams made of a descriptor,
for which the kernel opens nothing. Directories are opened and examined inside libc (opendir):
only stats of their path are compared.

A character given back with ungetc is read twice; Darshan counts it twice as well. Files of which that
is done are named in KNOWN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tests.integration.oracle.tally import FileTally

Counters = Mapping[str, int]  # of one file, its rows added up


@dataclass(frozen=True)
class Rule:
    """`low(tally) <= counted(counters) <= high(tally)`; equal where there is no `high`."""

    name: str
    counted: Callable[[Counters], int]
    low: Callable[[FileTally], int]
    high: Callable[[FileTally], int] | None = None

    def broken(self, counters: Counters, tally: FileTally) -> str:
        """Return what differs, or nothing."""
        counted, low = self.counted(counters), self.low(tally)
        high = low if self.high is None else self.high(tally)
        if low <= counted <= high:
            return ""
        seen = f"{low}" if low == high else f"{low} to {high}"
        return f"{self.name}: session {counted}, strace {seen}"


def _sum(*names: str) -> Callable[[Counters], int]:
    return lambda counters: sum(counters[name] for name in names)


def _opens(counters: Counters) -> int:
    posix = counters["POSIX_OPENS"] - counters["POSIX_DUPS"] - counters["POSIX_FILENOS"]
    return posix + counters["STDIO_OPENS"] - counters["STDIO_FDOPENS"]


_ANY_STAT = _sum("POSIX_STATS", "TFD_STATS_OTHER")

ALWAYS = (
    Rule("opens", _opens, lambda tally: tally.opens),
    Rule("copies from", _sum("TFD_COPY_READS"), lambda tally: tally.copy_reads),
    Rule("bytes copied from", _sum("TFD_COPY_READ_BYTES"), lambda tally: tally.copy_bytes_read),
    Rule("copies to", _sum("TFD_COPY_WRITES"), lambda tally: tally.copy_writes),
    Rule("bytes copied to", _sum("TFD_COPY_WRITE_BYTES"), lambda tally: tally.copy_bytes_written),
    Rule("fsyncs", _sum("POSIX_FSYNCS"), lambda tally: tally.fsyncs),
    Rule("fdatasyncs", _sum("POSIX_FDSYNCS"), lambda tally: tally.fdatasyncs),
    Rule("truncates", _sum("TFD_TRUNCATES"), lambda tally: tally.truncates),
    Rule("unlinks", _sum("TFD_UNLINKS"), lambda tally: tally.unlinks),
    Rule("renames", _sum("TFD_RENAMES"), lambda tally: tally.renames),
    Rule("maps", _sum("POSIX_MMAPS"), lambda tally: tally.maps),
    Rule("bytes mapped", _sum("TFD_MMAP_BYTES"), lambda tally: tally.bytes_mapped),
)
DESCRIPTORS_ONLY = (
    Rule("reads", _sum("POSIX_READS"), lambda tally: tally.reads),
    Rule("zero-length reads", _sum("TFD_ZERO_READS"), lambda tally: tally.zero_reads),
    Rule("bytes read", _sum("POSIX_BYTES_READ"), lambda tally: tally.bytes_read),
    Rule("writes", _sum("POSIX_WRITES"), lambda tally: tally.writes),
    Rule("bytes written", _sum("POSIX_BYTES_WRITTEN"), lambda tally: tally.bytes_written),
    Rule("seeks", _sum("POSIX_SEEKS"), lambda tally: tally.seeks - tally.recorder_seeks),
    Rule(
        "stats",
        _ANY_STAT,
        lambda tally: tally.path_stats + tally.descriptor_stats - tally.recorder_stats,
    ),
)
_BYTES_READ = _sum("POSIX_BYTES_READ", "STDIO_BYTES_READ")
_BYTES_WRITTEN = _sum("POSIX_BYTES_WRITTEN", "STDIO_BYTES_WRITTEN")
STREAMS = (
    Rule("reads through descriptors", _sum("POSIX_READS"), lambda _: 0, lambda tally: tally.reads),
    Rule("writes through descriptors", _sum("POSIX_WRITES"), lambda _: 0, lambda tally: tally.writes),
    Rule(
        "stats",
        _ANY_STAT,
        lambda tally: tally.path_stats,
        lambda tally: tally.path_stats + tally.descriptor_stats,
    ),
)
STREAM_BYTES_WRITTEN = Rule("bytes written", _BYTES_WRITTEN, lambda tally: tally.bytes_written)
STREAM_BYTES_READ = Rule("bytes read", _BYTES_READ, lambda tally: tally.bytes_read)
PUSHED_BACK = (
    STREAM_BYTES_WRITTEN,
    Rule("bytes read", _BYTES_READ, lambda tally: tally.bytes_read, lambda tally: 2 * tally.bytes_read),
)
PRINTED = DESCRIPTORS_ONLY[:-2]  # dprintf itself asks where the descriptor is, and what it is
REMOVED = DESCRIPTORS_ONLY[:-1]  # the recorder asks before remove() whether that is a folder
KNOWN = {  # (workload, file): rules for its bytes
    ("c_calls", "dprintf"): PRINTED,
    ("c_calls", "print_with"): PRINTED,
    ("c_calls", "remove"): REMOVED,
    ("tofile_and_fromfile", "values.txt"): PUSHED_BACK,
}
BLOCK_BYTES = 4096  # of a stream's buffer, on every file system the tests may run on
_PATH_STATS = STREAMS[-1]


def differences(
    workload: str, files: pd.DataFrame, tallies: Mapping[str, FileTally], directory: Path
) -> list[str]:
    """Compare every file below `directory` that either side names.

    Args:
        workload: Its name, for what is known of its files.
        files: `session.files`.
        tallies: What strace saw, by path.
        directory: Files elsewhere are not compared.

    Returns:
        One sentence per file and rule that is broken.
    """
    below = files[files["path"].str.startswith(f"{directory}/")]
    counted = below.select_dtypes("integer").groupby(below["path"]).sum().to_dict("index")
    nothing = dict.fromkeys(files.select_dtypes("integer"), 0)
    streams = set(below["path"][below["module"] == "STDIO"])
    found = []
    for path in sorted(counted.keys() | tallies.keys()):
        counters, tally = counted.get(path, nothing), tallies.get(path, FileTally())
        if tally.is_directory:
            rules: tuple[Rule, ...] = (_PATH_STATS,)
        elif path in streams:
            rules = (*ALWAYS, *STREAMS, *_stream_bytes(counters, KNOWN.get((workload, Path(path).name))))
        else:
            rules = ALWAYS + KNOWN.get((workload, Path(path).name), DESCRIPTORS_ONLY)
        broken = filter(None, (rule.broken(counters, tally) for rule in rules))
        found += [f"{Path(path).relative_to(directory)}: {difference}" for difference in broken]
    return found


def _stream_bytes(counters: Counters, known: tuple[Rule, ...] | None) -> tuple[Rule, ...]:
    if known is not None:
        return known
    if not counters["STDIO_SEEKS"]:
        return STREAM_BYTES_WRITTEN, STREAM_BYTES_READ
    read_again = BLOCK_BYTES * counters["STDIO_SEEKS"]
    return STREAM_BYTES_WRITTEN, Rule(
        "bytes read",
        _BYTES_READ,
        lambda tally: tally.bytes_read - read_again,
        lambda tally: tally.bytes_read,
    )
