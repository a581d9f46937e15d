"""The reads that storage served, apart from those of the page cache: how many, and what they waited."""

from __future__ import annotations

from dataclasses import dataclass

from tfdarshan.analysis.contention import call_time
from tfdarshan.analysis.time_model import fit_time_model
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import serial_share
from tfdarshan.findings.read_split import (
    DOUBT,
    EXPLAINED,
    SHOWN,
    STREAMED,
    STREAMS_BYTES,
    seconds_per_byte_limited,
    seconds_per_byte_probed,
    wait_of_a_read,
)


@dataclass(frozen=True)
class StoredReads:
    """They, over all units.

    Attributes:
        calls: How many.
        moved_bytes: What they moved.
        waiting: What share of their time is waiting, not moving bytes: at least, as expected, at most.
        shown: Whether their sizes and times show it.
    """

    calls: float
    moved_bytes: float
    waiting: tuple[float, float, float]
    shown: bool


def stored_reads(measures: Measures) -> StoredReads:
    """Gives them. Quick ones among them, which memory served, would be taken for what reads usually take."""
    reads, stored = measures.group("read"), measures.facts.stored
    if not stored.reads:
        waiting = [wait * reads.calls / max(reads.thread_s, 1e-12) for wait in wait_of_a_read(measures)]
        low, expected, high = (min(1.0, share) for share in waiting)
        return StoredReads(reads.calls, reads.moved_bytes, (0.0, expected, high), False)
    calls = reads.calls * stored.reads / measures.facts.reads
    size, mean_s = stored.read_bytes / stored.reads, stored.read_ns / stored.reads / 1e9
    length, taken_ns = stored.sizes_and_times
    model = fit_time_model(length, taken_ns / 1e9)
    shown = model.r2 >= EXPLAINED and size * model.s_per_byte > SHOWN * model.seconds(size)
    limited = seconds_per_byte_limited(measures) is not None
    if limited or (not shown and seconds_per_byte_probed(measures) is not None):
        low, expected, high = (
            min(1.0, wait * reads.calls / max(reads.thread_s, 1e-12)) for wait in wait_of_a_read(measures)
        )
        return StoredReads(calls, calls * size, (low, expected, high), True)
    if shown:
        low, expected, high = _waiting(measures, size * model.s_per_byte, mean_s)
    else:
        # Nothing tells them apart: it may be a pipe that is all moving.
        _, usual, quick = (max(0.0, 1 - size / stream / mean_s) for stream in STREAMS_BYTES)
        streamed = measures.streamed_share >= STREAMED
        low, expected, high = 0.0, 0.0 if streamed else usual, quick
    return StoredReads(calls, calls * size, (low, expected, high), shown)


def _waiting(measures: Measures, transfer_s: float, mean_s: float) -> tuple[float, float, float]:
    """Gives the share of a read that is waiting, if its own bytes take `transfer_s` of `mean_s`.

    A read that waits for the bytes of others takes longer whatever its own size is: what the others move
    before it is moving, too. At least all that is under way stands before it, at most nothing; it is
    expected to be what storage serves one at a time, as far as that is bytes.
    """
    depth, share = measures.pipeline.readers.together, serial_share(measures).expected
    alone_s = mean_s / call_time(share, depth)
    served_s = max(share * alone_s, 1e-12)
    queued_s = (mean_s - alone_s) * min(1.0, transfer_s / served_s)
    waits_s = (mean_s - depth * transfer_s, mean_s - transfer_s - queued_s, mean_s - transfer_s)
    low, expected, high = (
        min(1.0, max(0.0, doubt * wait_s / mean_s)) for doubt, wait_s in zip(DOUBT, waits_s, strict=True)
    )
    return low, min(max(low, expected), high), high
