"""Whether reads and writes went on where the one before ended; empty reads are a class of their own."""

from __future__ import annotations

from dataclasses import dataclass

from tfdarshan.analysis.files.file_totals import FileTotals


@dataclass(frozen=True)
class AccessPattern:
    """Sequential: anywhere after the last byte; consecutive: right after it.

    Empty reads are left out, but where `zero_length_reads` is None: then nothing tells them apart.
    """

    reads_with_data: int
    sequential_reads: int
    consecutive_reads: int
    zero_length_reads: int | None
    writes: int
    sequential_writes: int
    consecutive_writes: int


def access_pattern(files: FileTotals) -> AccessPattern:
    """Return the calls of the POSIX module by where they began.

    Source: POSIX_SEQ_READS and its like, by which an empty read at the end of a file is both sequential and
    consecutive; TFD_ZERO_SEQ_READS and TFD_ZERO_CONSEC_READS say how many of them were empty.
    """
    sums = files.sums
    # An imported log may tell how many reads were empty, but not how many of these were sequential.
    zero = None if "TFD_ZERO_SEQ_READS" in files.unknown else files.posix_zero_reads
    return AccessPattern(
        reads_with_data=sums["POSIX_READS"] - (zero or 0),
        sequential_reads=sums["POSIX_SEQ_READS"] - sums["TFD_ZERO_SEQ_READS"],
        consecutive_reads=sums["POSIX_CONSEC_READS"] - sums["TFD_ZERO_CONSEC_READS"],
        zero_length_reads=zero,
        writes=sums["POSIX_WRITES"],
        sequential_writes=sums["POSIX_SEQ_WRITES"],
        consecutive_writes=sums["POSIX_CONSEC_WRITES"],
    )
