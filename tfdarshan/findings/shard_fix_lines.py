"""How to put small files into a few large ones, and to read these: all lines that it takes."""

from __future__ import annotations

import math

from tfdarshan.findings.finding import Fix
from tfdarshan.findings.fix_lines import input_pipeline, reads_by_tf_data
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.tensorflow import record_words
from tfdarshan.frameworks.tensorflow.pipeline_words import GENERATOR
from tfdarshan.units import human_bytes, plural

# What one file is to hold.
SHARD_BYTES = 256 << 20
# A stream ("r|") of so large a buffer copies what is left of it for each file.
ARCHIVES = """\
for number in range({shards}):  # once
    with tarfile.open("DIR/%05d.tar" % number, "w") as archive:
        for path in paths[number::{shards}]:
            archive.add(path)
for shard in glob.glob("DIR/*.tar"):  # each epoch, in place of the files
    with open(shard, "rb", buffering=8 << 20) as file, tarfile.open(fileobj=file) as archive:
        for member in archive:
            data = archive.extractfile(member).read()"""


def in_records(measures: Measures) -> bool:
    """Say whether the shards are of TFRecords: if tf.data reads the files itself."""
    pipeline = input_pipeline(measures)
    return reads_by_tf_data(measures) and (pipeline is None or pipeline.reader_name != GENERATOR)


def in_shards(measures: Measures, whole_bytes: float) -> Fix:
    """Word how to write large files in place of small ones of so many bytes, and how to read them."""
    readers = max(1, round(measures.model.readers))
    shards = max(readers, math.ceil(whole_bytes / SHARD_BYTES))
    each = human_bytes(whole_bytes / shards)
    if in_records(measures):
        return record_words.in_records(input_pipeline(measures), shards, readers, each)
    return Fix(
        f"Put the files into {plural(shards, 'tar file')} of about {each} in a folder DIR, and read "
        f"{'it' if shards == 1 else 'them'} from end to end. "
        "In the last line, data is the content of one file.",
        ARCHIVES.format(shards=shards),
    )
