"""What of a read waits, and what moves bytes: by the session, else by a probe, else what is usual."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.in_order.read_pieces import READ_AHEAD_BYTES
from tfdarshan.analysis.limited_quantity import COUNTED_BYTES, LimitedQuantity
from tfdarshan.findings.finding import Evidence
from tfdarshan.findings.limit_in_parts import parts_that_pass
from tfdarshan.findings.measures import Measures
from tfdarshan.units import human_seconds, percent

# Where all reads are of one size the session does not show what a byte costs. Then a stream is taken to give
# at least, about, and at most so many bytes per second.
STREAMS_BYTES = (10e6, 400e6, 2e9)
# A fit whose bytes cost a smaller share of a read says nothing about them; nor one that explains less.
SHOWN = 0.02
EXPLAINED = 0.3
# Where this share of the bytes is streamed, reading ahead hides what each part would wait.
STREAMED = 0.8
DOUBT = (0.7, 1.0, 1.2)
# Disks seek in 10 ms, and servers answer sooner; object stores take up to 20 ms more.
LONGEST_WAIT_S = 0.03
# Of the time for which a limit of bytes held reads, what is theirs for certain.
CERTAINLY = 0.9
# Disks that are sold with a limit of calls and one of bytes, as clouds do, reach both with reads of 40 to 200
# kB, the small ones of 120 calls and 25 MB/s, too: what holds larger reads back is a limit of bytes.
LIMITS_MEET_BYTES = 200e3
LEAST_S = 1e-12


def seconds_per_byte(measures: Measures) -> tuple[float, float, float]:
    """Gives what a byte costs one reader: at most, as expected, at least."""
    limited = seconds_per_byte_limited(measures)
    if limited is not None:
        return limited
    fitted = seconds_per_byte_shown(measures)
    if fitted is None:
        fitted = seconds_per_byte_probed(measures)
    if fitted is not None:
        return 1.2 * fitted, fitted, 0.5 * fitted
    slow, usual, quick = (1 / stream for stream in STREAMS_BYTES)
    return slow, usual, quick


def wait_of_a_read(measures: Measures) -> tuple[float, float, float]:
    """Gives what a read takes apart from its bytes: at least, as expected, at most."""
    reads = measures.group("read")
    if not reads.calls:
        return 0.0, 0.0, 0.0
    fitted, limited = seconds_per_byte_shown(measures), seconds_per_byte_limited(measures)
    mean_s, size = reads.thread_s / reads.calls, reads.moved_bytes / reads.calls
    if limited is not None and counts_bytes(measures):
        low, expected, high = (max(0.0, mean_s - size * byte_s) for byte_s in limited)
    elif limited is not None:
        waits_s = max(0.0, mean_s - size * limited[1])
        low, expected, high = (min(mean_s, doubt * waits_s) for doubt in DOUBT)
    if limited is not None:
        return low, expected, high
    if fitted is not None:
        low, expected, high = (min(mean_s, doubt * measures.read_cost.base_s) for doubt in DOUBT)
        return low, expected, high
    if seconds_per_byte_probed(measures) is not None:
        low, expected, high = (mean_s * share for share in _waiting_probed(measures, size))
    elif measures.allowance is not None:
        # A limit of calls has a read wait, one of bytes has it move bytes, at the usual least rate or more.
        # What it counts is what storage is asked for at a time, not what a program reads.
        rate, asked = measures.allowance.bytes_per_s, _asked_at_a_time(measures)
        high = mean_s * max(0.0, 1 - asked / COUNTED_BYTES)
        moves = min(1.0, asked / LIMITS_MEET_BYTES)
        if parts_that_pass(measures) is not None:
            moves = 1.0
        low = high * max(0.0, 1 - rate / STREAMS_BYTES[0])
        expected = max(low, min(high, mean_s * (1 - moves)))
    else:
        slow, usual, quick = seconds_per_byte(measures)
        # At worst all that is under way shares what one stream is known to give at least.
        low = max(0.0, mean_s - _shared_by(measures) * size * slow)
        alone, expected, high = (max(0.0, mean_s - size * byte_s) for byte_s in (slow, usual, quick))
        # What takes longer than storage is known to wait is expected to move bytes, as far as a slow
        # stream may: the rest is a queue's.
        expected = min(expected, max(alone, LONGEST_WAIT_S * _stored_share(measures)))
    if measures.streamed_share >= STREAMED:
        low, expected = 0.0, 0.0
    return low, expected, high


def _shared_by(measures: Measures) -> float:
    """Gives how many reads' bytes pass while one is served, at most: those of all that are under way."""
    most = 1.0 if measures.contention is None else measures.contention.high
    return 1 + most * max(0.0, measures.pipeline.readers.together - 1)


def _asked_at_a_time(measures: Measures) -> float:
    """Gives how many bytes storage is asked for at a time.

    Of reads in order those that memory serves in between were read ahead, with the one before that waited.
    """
    costs, reads, stored = measures.costs, measures.group("read"), measures.facts.stored
    size = reads.moved_bytes / reads.calls
    in_order = np.array(costs.read_bytes)
    in_order[measures.facts.pieces.scattered.files] = 0.0
    passes = np.maximum(np.maximum(costs.opens, costs.passes(measures.sizes)), 1)
    part = np.clip(in_order / passes, 1, READ_AHEAD_BYTES)
    moved, parts = float(in_order.sum()), float((in_order / part).sum())
    if not stored.reads or not parts:
        return size
    ahead = min(moved / parts, float(costs.slow_bytes.sum()) / stored.reads)
    return max(size, ahead * moved / float(costs.read_bytes.sum()))


def _stored_share(measures: Measures) -> float:
    """Gives the share of the bytes that storage served."""
    return float(measures.costs.slow_bytes.sum()) / max(float(measures.costs.read_bytes.sum()), 1.0)


def waits_share(measures: Measures, place: int) -> float:
    """Gives the share of the input calls' time that is waiting: 0 at least, 1 as expected, 2 at most."""
    calls, reads = measures.input_calls, measures.group("read")
    if calls.thread_s <= 0:
        return 1.0
    moving = reads.thread_s - wait_of_a_read(measures)[place] * reads.calls
    return float(min(1.0, max(0.0, 1 - moving / calls.thread_s)))


def seconds_per_byte_limited(measures: Measures) -> tuple[float, float, float] | None:
    """Gives what a byte costs where a limit holds calls back: at most, as expected, at least.

    None without such a limit, and where the session does not tell what it counts.
    """
    allowance, reads = measures.allowance, measures.group("read")
    if allowance is None or allowance.counts is None or not reads.moved_bytes:
        return None
    held_s = allowance.held_share * allowance.reads_share * measures.input_calls.thread_s
    each_s = min(held_s, reads.thread_s) / reads.moved_bytes
    if allowance.counts.is_bytes:
        return reads.thread_s / reads.moved_bytes, each_s + 1 / STREAMS_BYTES[1], CERTAINLY * each_s
    # So long takes a call, and it may be so large.
    each_s *= reads.moved_bytes / reads.calls / COUNTED_BYTES
    return 1.2 * each_s, each_s, 0.5 * each_s


def counts_bytes(measures: Measures) -> bool:
    """Says whether storage is known to hold calls back for their bytes, however many they are."""
    allowance = measures.allowance
    return allowance is not None and allowance.counts is not None and allowance.counts.is_bytes


def limit_words(counts: LimitedQuantity) -> str:
    """Words what shows what a limit counts."""
    counted, others = ("bytes", "calls") if counts.is_bytes else ("calls", "bytes")
    return (
        f"in {counts.intervals} intervals of the limit {counted} vary by {percent(counts.varies, 1)}, "
        f"{others} by {percent(counts.other_varies, 1)}"
    )


def seconds_per_byte_shown(measures: Measures) -> float | None:
    """Gives the seconds of a byte by the reads' times and sizes, None where these do not show it."""
    model, reads = measures.read_cost, measures.group("read")
    if not measures.traced or not reads.calls:
        return None
    size = reads.moved_bytes / reads.calls
    shown = (
        model.r2 >= EXPLAINED
        and model.s_per_byte > 0
        and size * model.s_per_byte > SHOWN * model.seconds(size)
    )
    return model.s_per_byte if shown else None


def seconds_per_byte_probed(measures: Measures) -> float | None:
    """Gives the seconds of a byte by a probe; None without one, and where the session itself shows them."""
    probe = measures.probe
    if probe is None or seconds_per_byte_shown(measures) is not None:
        return None
    return None if probe.base_s is None else probe.s_per_byte


def bytes_are_told(measures: Measures) -> bool:
    """Says whether it is known what a byte costs: by the session, or by a probe."""
    told = (seconds_per_byte_limited, seconds_per_byte_shown, seconds_per_byte_probed)
    return any(found(measures) is not None for found in told)


def split_evidence(measures: Measures) -> tuple[Evidence, ...]:
    """Gives what to say of a probe that told latency from bandwidth, nothing where the session does."""
    probe, byte_s = measures.probe, seconds_per_byte_probed(measures)
    if probe is None or byte_s is None or probe.base_s is None:
        return ()
    moving = f"{human_seconds(byte_s * 1e6)} per MB"
    text = f"{human_seconds(probe.base_s)} a read and {moving}, measured by {probe.words}"
    return (Evidence("latency and bandwidth", text, probe.base_s),)


def _waiting_probed(measures: Measures, size: float) -> list[float]:
    """Gives the share of a read that is waiting, by a probe: at least, as expected, at most.

    The session's reads may take longer than the probe's, beside others: both parts do.
    """
    probe = measures.probe
    assert probe is not None
    base_s, byte_s = probe.base_s or 0.0, probe.s_per_byte or 0.0
    waits = (doubt * base_s for doubt in DOUBT)
    return [min(1.0, wait / max(base_s + size * byte_s, LEAST_S)) for wait in waits]
