"""Reads that are small, and in order: each waits for storage, and few would have to."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.fix_lines import reader_of
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.random_access import are_databases
from tfdarshan.frameworks.tensorflow.pipeline_words import records
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.storage_edits import LargeReads
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "small_reads"
ABOUT = About(
    title="Reads are small",
    cause="The job reads files in order, at most 64 KiB at a time, and the storage serves each read by "
    "itself. Each read waits for the storage's latency. A few large reads wait a few times.",
    says="files are read 4.1 kB at a time",
    seen=("small access sizes", "the tab's Patterns"),
    fixes={
        "tf.data": "`tf.data.TFRecordDataset(path, buffer_size=8 << 20)`",
        "plain Python": "`open(path, 'rb', buffering=1 << 20)`, or `file.read()`",
        "SQLite": "`PRAGMA page_size = 65536; VACUUM`, once",
    },
    estimate="The replay has reads as large as the kernel's requests to storage. Bytes, "
    "order and decoding stay.",
    ignore="the job needs only the beginning of each file",
    fix="larger reads",
)
LARGE = int(SETTING["request"])
# What a data set of records is to read at a time.
BUFFER_BYTES = 8 << 20
# The largest pages that SQLite has.
PAGE_BYTES = 64 << 10
# Stages whose function makes the data sets that read.
MADE_WITHIN = ("interleave", "flat_map")


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it where storage serves small reads one by one, though nothing is jumped over."""
    if not measures.traced:
        return None
    made, moved = measures.pipeline.costs.reads, measures.pipeline.costs.read_bytes
    scattered = np.zeros(len(measures.files), bool)
    scattered[measures.facts.scattered.files] = True
    mean = moved / np.maximum(made, 1)
    # A file that stays open is read whole again without an open.
    passes = np.maximum(np.maximum(measures.costs.opens, measures.costs.passes(measures.sizes)), 1)
    small = (made >= 2 * passes) & (mean <= THRESHOLD["small"]) & ~scattered
    chosen, (stored, stored_ns) = int(made[small].sum()), measures.facts.stored.by_file
    reads, read_s = int(stored[small].sum()), float(stored_ns[small].sum()) / 1e9
    all_s = float(measures.costs.read_s.sum())
    # Where the kernel reads ahead most are quick, and large reads would be cut into the same parts.
    if not reads or 2 * reads < chosen:
        return None
    bytes_read = float(moved[small].sum())
    parts = float(np.ceil(moved[small] / passes[small] / LARGE) @ passes[small])
    each_s = read_s / reads
    found = np.argsort(-np.where(small, made, 0), kind="stable")[: int(small.sum())]
    return Finding(
        name=NAME,
        title=f"files are read {human_bytes(bytes_read / chosen)} at a time",
        what=f"{reads:,} sequential reads wait {human_seconds(each_s)} each for storage. "
        f"{plural(int(parts), 'read')} of up to {human_bytes(LARGE)} would be enough.",
        evidence=(
            Evidence("small sequential reads", f"{chosen:,}", chosen),
            Evidence("of them served by storage", f"{reads:,}", reads),
            Evidence("time of one read", human_seconds(each_s), each_s),
            Evidence("share of the time of all reads", percent(read_s, all_s), read_s / all_s),
        ),
        files=measures.paths_of(found),
        fix=_fix(measures, found),
        edits=(LargeReads(PAGE_BYTES if are_databases(measures, found) else LARGE, small),),
    )


def _fix(measures: Measures, files: np.ndarray) -> Fix:
    what = f"Read whole files, or {human_bytes(LARGE)} at a time."
    if are_databases(measures, files):
        return Fix(
            "Have SQLite read larger pages.",
            f'database.executescript("PRAGMA page_size = {PAGE_BYTES}; VACUUM")'
            "  # once: it writes the file again",
        )
    reader = reader_of(measures)
    if reader is not None and reader.is_source:
        return Fix(what, reader.with_size(BUFFER_BYTES).statement, reader.statement)
    if reader is not None and reader.name in MADE_WITHIN:
        return Fix(
            f"{what} Give a larger buffer to the data sets inside {reader.name}().",
            records(reader.compression, BUFFER_BYTES),
        )
    return Fix(what, "file = open(path, 'rb', buffering=1 << 20)  # or data = file.read()")
