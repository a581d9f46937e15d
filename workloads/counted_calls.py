"""What a session counted on a data set, and what the files say it must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.session import Session

from .records import LabelledFile
from .result import Result

READ_CHUNK_BYTES = 1 << 20  # what tf.io.read_file reads in one call


@dataclass(frozen=True)
class Counted:
    """Sums over the files of a data set."""

    opens: int
    reads: int
    zero_reads: int
    bytes_read: int


def counted_on(session: Session, files: Sequence[LabelledFile]) -> Counted:
    """Sum up the session's POSIX counters of these files."""
    rows = session.files
    rows = rows[(rows["module"] == "POSIX") & rows["path"].isin({str(file.path) for file in files})]
    columns = ("POSIX_OPENS", "POSIX_READS", "TFD_ZERO_READS", "POSIX_BYTES_READ")
    return Counted(*(int(rows[column].sum()) for column in columns))


def expected_of(files: Sequence[LabelledFile], times: int = 1, *, at_once: bool = False) -> Counted:
    """Return what tf.io.read_file makes of files read whole: a read per MiB begun, and an empty one.

    Args:
        files: The files.
        times: How often each is read.
        at_once: Whether one read gives all of a file, as Python's read() asks for it.
    """
    reads = sum(-(-file.size_bytes // (at_once * file.size_bytes or READ_CHUNK_BYTES)) + 1 for file in files)
    total_bytes = sum(file.size_bytes for file in files)
    return Counted(len(files) * times, reads * times, len(files) * times, total_bytes * times)


def check_counts(result: Result, what: str, expected: Counted, counted: Counted) -> None:
    """Add the four checks to the result."""
    result.check(f"{what}: opens", expected.opens, counted.opens)
    result.check(f"{what}: reads", expected.reads, counted.reads)
    result.check(f"{what}: zero-length reads", expected.zero_reads, counted.zero_reads)
    result.check(f"{what}: bytes", expected.bytes_read, counted.bytes_read)
