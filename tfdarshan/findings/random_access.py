"""Large files read in small pieces out of order: every piece waits for the device."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Unknown
from tfdarshan.findings.full_storage import is_full
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.pipeline_api import input_pipeline, reads_by_tf_data
from tfdarshan.findings.read_split import (
    bytes_are_told,
    seconds_per_byte,
    split_evidence,
    wait_of_a_read,
)
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "random_access"
BLOCK = 1 << 20
# Share of the reads that go back, from which on they are out of order.
JUMPS = 0.3
# Of what is expected, what has to be so if storage moves bytes slowly.
MOSTLY = 0.25
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
    mean = found.read_bytes / found.reads
    needed = max(found.read_bytes, _covered_bytes(measures, found.files))
    share = found.thread_s / max(float(measures.costs.read_s.sum()), found.thread_s)
    saved = [share * (1 - seconds / found.thread_s) for seconds in _sequential_s(measures, needed)]
    low, expected, high = (max(0.0, value) for value in saved)
    each_s = found.thread_s / found.reads
    files = plural(len(found.files), "file")
    per_byte = seconds_per_byte(measures)[0]
    # Storage that is full of bytes gives no more of them in order; a limit of bytes allows the usual least.
    limited = measures.allowance is not None and 0.7 * low >= MOSTLY * expected
    full = is_full(measures) and not bytes_are_told(measures) and not limited
    # SQLite reads page after page in any order, so it is up to storage whether that is quicker.
    by_page = _are_databases(measures, found.files)
    assumed = Assumption(
        f"a reader gets {human_bytes(1 / per_byte)}/s or more in order",
        "" if full or by_page else f"{human_bytes(mean / each_s)}/s in {found.reads:,} reads that jump about",
        "reads in order are no quicker",
    )
    chance = UNSHOWN if full or by_page else 1.0
    gain, stall_s = measures.without(
        reads, min(0.7 * low, expected), expected, high, [assumed], chance=chance
    )
    return Finding(
        name=NAME,
        kind="problem",
        title=f"large files are read out of order, {human_bytes(mean)} at a time",
        what=f"{found.reads:,} reads of {human_bytes(mean)} jump about in {files} and take "
        f"{human_seconds(each_s)} each: {human_bytes(mean / each_s)}/s.",
        evidence=(
            Evidence("reads out of order", f"{found.reads:,}", found.reads),
            Evidence("of all reads", percent(found.reads, reads.calls), found.reads / max(reads.calls, 1)),
            Evidence("mean size", human_bytes(mean), mean),
            Evidence("mean time", human_seconds(each_s), each_s),
            Evidence("time in them, over all threads", human_seconds(found.thread_s), found.thread_s),
            *split_evidence(measures),
        ),
        files=measures.paths_of(found.files),
        unit=measures.model.unit,
        cost_s=gain.expected_s,
        stall_s=stall_s,
        cure=_cure(measures, found.files),
        gain=gain,
        not_worth="where only a small part of each file is wanted, or the files are on NVMe or in memory",
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


def _sequential_s(measures: Measures, needed: float) -> list[float]:
    """Gives thread seconds of reading so many bytes in order: at worst, as expected, at best."""
    per_byte = seconds_per_byte(measures)
    return [
        wait * waits * needed / BLOCK + needed * byte_s
        for wait, waits, byte_s in zip((1.0, 0.5, 0.0), wait_of_a_read(measures)[::-1], per_byte, strict=True)
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
