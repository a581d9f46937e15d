"""Large files read in small pieces out of order: every piece waits for the device."""

from __future__ import annotations

import math

import numpy as np

from tfdarshan.analysis.calls.read_pieces import ScatteredReads
from tfdarshan.findings.about import About
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.fix_lines import input_pipeline, reads_in_python, words_of
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.tensorflow.pipeline_words import RECORDS_IN_ORDER
from tfdarshan.replay.edits import Readers
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.storage_edits import LargeReads, SequentialReads
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "random_access"
ABOUT = About(
    title="Large files are read out of order",
    cause="The job reads small pieces of large files in random order. A disk moves its arm for each "
    "piece, and a network file system cannot read ahead. Reading in order and shuffling in "
    "memory waits far less often.",
    says="large files are read out of order, 64.0 kB at a time",
    seen=("few sequential reads", "the tab's Patterns"),
    fixes={
        "tf.data": f"`{RECORDS_IN_ORDER}`",
        "PyTorch": "`DataLoader(dataset, sampler=order)`, an order of shuffled blocks of samples",
        "plain Python": "`block = os.pread(file, 1 << 20, offset)`, then cut the samples out of the block",
        "SQLite": "`SELECT * FROM samples ORDER BY rowid`, not one query a sample",
    },
    estimate="The replay has one reader whose reads follow each other, in the requests "
    "that the kernel makes if it reads ahead. The range is wide because a session does not tell "
    "whether the storage has a disk arm.",
    ignore="the job needs only a small part of each file, or the files are on NVMe or in memory",
    fix="reads in order",
)
BLOCK = int(SETTING["request"])
# What SQLite's files are mostly called.
DATABASES = r"\.(?:db|sqlite3?)$"


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it where reading the same bytes in order would take less time."""
    if not measures.traced:
        return _counted(measures)
    found = measures.facts.scattered
    reads = measures.group("read")
    if not found.reads or not reads.thread_s or not found.thread_s:
        return None
    mean = found.read_bytes / found.pieces
    each_s = found.thread_s / found.pieces
    made = f"{found.pieces:,} {'parts' if found.pieces < found.reads else 'reads'}"
    files, mine = plural(len(found.files), "file"), np.isin(np.arange(len(measures.files)), found.files)
    return Finding(
        name=NAME,
        title=f"large files are read out of order, {human_bytes(mean)} at a time",
        what=f"{made} of {human_bytes(mean)} are out of order in {files} and take "
        f"{human_seconds(each_s)} each, which is {human_bytes(mean / each_s)}/s.",
        evidence=(
            *_counts(found, int(reads.calls)),
            Evidence("mean size", human_bytes(mean), mean),
            Evidence("mean time", human_seconds(each_s), each_s),
            Evidence("time in them, over all threads", human_seconds(found.thread_s), found.thread_s),
        ),
        files=measures.paths_of(found.files),
        fix=_fix(measures, found.files, mean),
        edits=(SequentialReads(mine), LargeReads(files=mine), Readers(1)),
    )


def _counts(found: ScatteredReads, reads: int) -> tuple[Evidence, ...]:
    """Return how often was jumped, and in how many of all reads."""
    if found.pieces < found.reads:
        return (
            Evidence("parts out of order", f"{found.pieces:,}", found.pieces),
            Evidence("reads of them", f"{found.reads:,}", found.reads),
        )
    return (
        Evidence("reads out of order", f"{found.reads:,}", found.reads),
        Evidence("of all reads", percent(found.reads, reads), found.reads / max(reads, 1)),
    )


def are_databases(measures: Measures, files: np.ndarray) -> bool:
    """Say whether SQLite reads some files, all of them."""
    return bool(measures.files.rows["path"].iloc[files].str.contains(DATABASES).all())


def _fix(measures: Measures, files: np.ndarray, mean: float) -> Fix:
    """Word it for what reads these files, so many bytes at a time."""
    what = f"Read in order, {human_bytes(BLOCK)} or more at a time, and shuffle in memory."
    if are_databases(measures, files):
        return Fix(what, 'rows = database.execute("SELECT * FROM samples ORDER BY rowid")  # not one by one')
    words = words_of(measures)
    if words is not None and input_pipeline(measures) is None:
        return words.read_in_order(math.ceil(BLOCK / max(mean, 1.0)))
    if reads_in_python(measures):
        return Fix(what, "block = os.pread(file, 1 << 20, offset)  # cut the samples out of the block")
    return Fix(f"{what} The line below is for TFRecord shards.", RECORDS_IN_ORDER)


def _counted(measures: Measures) -> Finding | Unknown | None:
    data = measures.summary
    reads, in_order = data.pattern.reads_with_data, data.pattern.sequential_reads
    files = int(np.count_nonzero(measures.files.rows["reads"]))
    # The first read of a file is never in order, by Darshan's definition.
    jumps = reads - in_order - files
    size = data.posix.bytes_read / max(reads, 1)
    if 2 * jumps < reads or size >= BLOCK:
        return None
    return counted_note(
        measures,
        NAME,
        unknown="what reading out of order costs",
        title=f"{percent(jumps, reads)} of the reads are not sequential, {human_bytes(size)} at a time",
        what=f"{jumps:,} of {reads:,} reads are not sequential.",
        evidence=(Evidence("reads", f"{reads:,}", reads), Evidence("not sequential", f"{jumps:,}", jumps)),
        most_s=data.file_time.read_s,
        fix=_fix(measures, np.arange(len(measures.files)), size),
    )
