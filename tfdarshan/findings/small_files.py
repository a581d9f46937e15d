"""Many small files: each is opened, asked, read and closed by itself."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.record_files import in_shards_already, steps_read_records
from tfdarshan.findings.shard_fix_lines import in_records, in_shards
from tfdarshan.replay.storage_edits import Shards
from tfdarshan.staging.candidate import databases
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = "small_files"
ABOUT = About(
    title="The input is many small files",
    cause="The job opens, reads and closes every sample as a file of its own. A small file costs "
    "opens, closes and `stat()` calls whatever its size, and a disk seeks for each file.",
    says="the input is 4,096 small files, 12.3 kB each",
    seen=("small file sizes", "the tab's Patterns and Files"),
    fixes={
        "tf.data": "TFRecord shards: `tf.io.TFRecordWriter`, then `tf.data.TFRecordDataset(shards, "
        "buffer_size=8 << 20)`",
        "PyTorch, plain Python": "tar files, read from end to end with `tarfile`",
    },
    estimate="tfdarshan replays the job without opens, `stat()` calls and end-of-file reads, with reads "
    "in order and as large as the kernel's requests. A framework's record reader reads with one "
    "call at a time. Converting the data has a price in the ranking.",
    ignore="the run is shorter than the conversion, which reads and writes all input once",
    fix="samples in shards",
)
MANY = int(THRESHOLD["many"])


def find(measures: Measures) -> Finding | None:
    """Find them where what a file costs whatever its size is what costs most."""
    costs, size = measures.costs, measures.sizes
    # A file renamed in the session was made in it, though under another name; one that is gone is no input.
    opened = (costs.opens >= 1) & (measures.files.rows["moves"].to_numpy() == 0)
    whole = opened & (costs.reads > 0) & ((size <= 0) | (2 * costs.read_bytes >= size * costs.opens))
    # What no step reads is no part of what a batch takes.
    whole[measures.validation_files] = False
    if np.count_nonzero(whole) < MANY or steps_read_records(measures):
        return None
    paths = measures.files.paths
    whole &= ~(in_shards_already(paths) | databases(paths))
    files = int(np.count_nonzero(whole))
    files_s = float(costs.call_s[whole].sum())
    if files < MANY or files_s <= 0:
        return None
    passes = float(costs.opens[whole].sum())
    unique = float(np.where(size > 0, size, costs.read_bytes / np.maximum(costs.opens, 1))[whole].sum())
    opens_s = float(costs.other_s[whole].sum())
    mean, each_s = unique / files, files_s / passes
    order = np.argsort(-np.where(whole, costs.call_s, 0), kind="stable")
    return Finding(
        name=NAME,
        title=f"the input is {files:,} small files, {human_bytes(mean)} each",
        what=f"Opening, reading and closing a file takes {human_seconds(each_s)} on average. The job did "
        f"so {passes:,.0f} times. Opens, closes and stat() calls take {percent(opens_s, files_s)} of that "
        "time.",
        evidence=(
            Evidence("files", f"{files:,}", files),
            Evidence("mean size", human_bytes(mean), mean),
            Evidence("time of one file", human_seconds(each_s), each_s),
            Evidence(
                "opens, closes, stat() calls, end-of-file reads, over all threads",
                human_seconds(opens_s),
                opens_s,
            ),
        ),
        files=measures.paths_of(order[:files]),
        fix=in_shards(measures, unique),
        edits=(Shards(archives=not in_records(measures), files=whole),),
        work="convert",
    )
