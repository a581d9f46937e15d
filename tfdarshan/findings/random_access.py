"""Large files read in small pieces out of order: every piece waits for the device."""

from __future__ import annotations

import math

import numpy as np

from tfdarshan.analysis.call_kinds import NO_CALLS
from tfdarshan.analysis.in_order.read_pieces import ScatteredReads
from tfdarshan.findings.asked_by_queries import asked_by_queries
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Unknown
from tfdarshan.findings.full_storage import is_full
from tfdarshan.findings.later_waits import within_first_waits
from tfdarshan.findings.limit_in_parts import parts_that_pass
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.part_of_calls import LEAST_S, part_of
from tfdarshan.findings.pipeline_api import input_pipeline, reads_by_tf_data
from tfdarshan.findings.read_split import (
    bytes_are_told,
    seconds_per_byte,
    split_evidence,
    wait_of_a_read,
)
from tfdarshan.findings.served_once import memory_served_later
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "random_access"
BLOCK = 1 << 20
# Share of the reads that go back, from which on they are out of order.
JUMPS = 0.3
# Of what is expected, what has to be so if storage moves bytes slowly.
MOSTLY = 0.25
# Of a file that is read several times this share of the reads, the quickest, is as quick as memory.
QUICK = 0.25
# What SQLite's files are mostly called.
DATABASES = r"\.(?:db|sqlite3?)$"


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where reading the same bytes in order would take less time."""
    if not measures.traced:
        return _counted(measures)
    found = measures.facts.pieces.scattered
    reads = measures.group("read")
    if not found.reads or not reads.thread_s or not found.thread_s:
        return None
    mean = found.read_bytes / found.pieces
    needed = max(found.read_bytes, _covered_bytes(measures, found.files))
    # SQLite reads page after page in any order, so it is up to storage whether that is quicker.
    by_page = _are_databases(measures, found.files)
    asked = asked_by_queries(measures, found.files) if by_page else NO_CALLS
    share = found.thread_s / max(float(measures.costs.read_s.sum()), found.thread_s)
    saved = [
        share * (1 - seconds / found.thread_s) for seconds in _sequential_s(measures, needed, found.files)
    ]
    # Memory gives no more in order; of SQLite's rows it is the reads of pages that are fewer.
    most_s = math.inf if by_page else share * _stored_share(measures, found.files) * reads.thread_s
    spared_s = [min(max(0.0, value) * reads.thread_s, most_s) + asked.thread_s for value in saved]
    if spared_s[2] <= 0:
        return None
    theirs = np.isin(np.arange(len(measures.files)), found.files)
    calls = part_of(measures, reads, measures.costs.read_s, theirs) + asked
    low, expected, high = (seconds / max(calls.thread_s, LEAST_S) for seconds in spared_s)
    each_s = found.thread_s / found.pieces
    made = f"{found.pieces:,} {'parts' if found.pieces < found.reads else 'reads'}"
    files = plural(len(found.files), "file")
    per_byte = seconds_per_byte(measures)[0]
    # Storage that is full of bytes gives no more of them in order; a limit of bytes allows the usual least.
    limited = measures.allowance is not None and 0.7 * low >= MOSTLY * expected
    full = is_full(measures) and not bytes_are_told(measures) and not limited
    assumed = Assumption(
        f"a reader gets {human_bytes(1 / per_byte)}/s or more in order",
        "" if full or by_page else f"{human_bytes(mean / each_s)}/s in {made} that jump about",
        "reads in order are no quicker",
    )
    # What is asked with each query is spared for certain.
    sure = asked.thread_s / max(spared_s[1], 1e-12)
    likely = 0.0 if full and parts_that_pass(measures) is not None else UNSHOWN
    chance = sure + (1 - sure) * likely if full or by_page else 1.0
    gain, stall_s = measures.without(
        calls,
        min(0.7 * low, expected),
        expected,
        high,
        [assumed],
        # At most, one query takes as good as none of what thousands do.
        other_s=(0.0, 0.0, measures.model.other_s if by_page else 0.0),
        chance=chance,
    )
    if not by_page and memory_served_later(measures):
        gain = within_first_waits(gain, measures, calls.within_s / measures.model.units)
    return Finding(
        name=NAME,
        kind="problem",
        title=f"large files are read out of order, {human_bytes(mean)} at a time",
        what=f"{made} of {human_bytes(mean)} jump about in {files} and take "
        f"{human_seconds(each_s)} each: {human_bytes(mean / each_s)}/s.",
        evidence=(
            *_counts(found, int(reads.calls)),
            Evidence("mean size", human_bytes(mean), mean),
            Evidence("mean time", human_seconds(each_s), each_s),
            Evidence("time in them, over all threads", human_seconds(found.thread_s), found.thread_s),
            *split_evidence(measures),
        ),
        files=measures.paths_of(found.files),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=stall_s,
        cure=_cure(measures, found.files),
        gain=gain,
        not_worth="where only a small part of each file is wanted, or the files are on NVMe or in memory",
    )


def _counts(found: ScatteredReads, reads: int) -> tuple[Evidence, ...]:
    """Gives how often was jumped, and in how many of all reads."""
    if found.pieces < found.reads:
        return (
            Evidence("parts out of order", f"{found.pieces:,}", found.pieces),
            Evidence("reads of them", f"{found.reads:,}", found.reads),
        )
    return (
        Evidence("reads out of order", f"{found.reads:,}", found.reads),
        Evidence("of all reads", percent(found.reads, reads), found.reads / max(reads, 1)),
    )


def _are_databases(measures: Measures, files: np.ndarray) -> bool:
    return bool(measures.files.rows["path"].iloc[files].str.contains(DATABASES).all())


def _cure(measures: Measures, files: np.ndarray) -> Cure:
    """Words it for what reads these files."""
    what = f"Read in order, {human_bytes(BLOCK)} or more at a time, and shuffle in memory."
    if _are_databases(measures, files):
        return Cure(what, 'rows = database.execute("SELECT * FROM samples ORDER BY rowid")  # not one by one')
    if input_pipeline(measures) is None and not reads_by_tf_data(measures):
        return Cure(what, f"block = os.pread(file, {BLOCK >> 20} << 20, offset)  # cut the samples out of it")
    return Cure(what, "dataset = tf.data.TFRecordDataset(shards, buffer_size=8 << 20).shuffle(10_000)")


def _covered_bytes(measures: Measures, files: np.ndarray) -> float:
    """Gives what reading the files through, as often as their bytes were read, comes to."""
    size = measures.sizes[files]
    return float(np.where(size > 0, size, 0).sum())


def _stored_share(measures: Measures, files: np.ndarray) -> float:
    """Gives the share of the time in some files' reads that passes take which storage served."""
    costs = measures.costs
    return min(1.0, float(costs.slow_s[files].sum()) / max(float(costs.read_s[files].sum()), 1e-12))


def _sequential_s(measures: Measures, needed: float, files: np.ndarray) -> list[float]:
    """Gives thread seconds of reading so many bytes in order: at worst, as expected, at best.

    The first pass is storage's to serve; of later ones what memory served costs what quick reads cost.
    """
    per_byte, waits_s = seconds_per_byte(measures), wait_of_a_read(measures)[::-1]
    stored = max(_covered_bytes(measures, files), float(measures.costs.slow_bytes[files].sum()))
    stored = min(needed, stored)
    length, taken_ns = measures.facts.sizes_and_times
    quick_s = math.inf
    if len(length):
        quick_s = float(np.quantile(taken_ns / np.maximum(length, 1), QUICK)) / 1e9
    return [
        wait * waits * stored / BLOCK + stored * byte_s + (needed - stored) * min(byte_s, quick_s)
        for wait, waits, byte_s in zip((1.0, 0.5, 0.0), waits_s, per_byte, strict=True)
    ]


def _counted(measures: Measures) -> Finding | Unknown | None:
    data = measures.summary
    reads, in_order = data.pattern.reads_with_data, data.pattern.sequential_reads
    files = int(np.count_nonzero(measures.files.rows["reads"]))
    # The first read of a file is never in order, by Darshan's definition.
    jumps = reads - in_order - files
    size = data.posix.bytes_read / max(reads, 1)
    if jumps < JUMPS * reads or size >= BLOCK:
        return None
    return counted_note(
        measures,
        NAME,
        unknown="what reading out of order costs",
        title=f"{percent(jumps, reads)} of the reads go back in their files, {human_bytes(size)} at a time",
        what=f"{jumps:,} of {reads:,} reads are not sequential.",
        evidence=(Evidence("reads", f"{reads:,}", reads), Evidence("not sequential", f"{jumps:,}", jumps)),
        most_s=data.file_time.read_s,
        cure=_cure(measures, np.arange(len(measures.files))),
    )
