"""How to put small files into TFRecord shards, and to read these in a tf.data pipeline, as one types it."""

from __future__ import annotations

import dataclasses

from tfdarshan.frameworks.tensorflow.cache_place import shuffled_before
from tfdarshan.frameworks.tensorflow.pipeline_words import SHUFFLED_SAMPLES
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import PLAIN_SIZE, Pipeline, Stage
from tfdarshan.frameworks.words import Fix
from tfdarshan.units import plural

PARSES = "Write a function parse(data) that turns the bytes of one file into a sample."
# DIR is the reader's to fill in, and `paths` are his files.
RECORDS = """\
for number in range({shards}):  # once
    with tf.io.TFRecordWriter("DIR/%05d.tfrecord" % number) as writer:
        for path in paths[number::{shards}]:
            writer.write(tf.io.read_file(path).numpy())
shards = {files}
dataset = tf.data.TFRecordDataset(shards, buffer_size=8 << 20, num_parallel_reads={readers})"""
IN_ORDER = 'tf.io.gfile.glob("DIR/*.tfrecord")'
# list_files() gives the files in another order in each epoch.
SHUFFLED = 'tf.data.Dataset.list_files("DIR/*.tfrecord")'


def in_records(pipeline: Pipeline | None, shards: int, readers: int, each: str) -> Fix:
    """Word how to write shards, and how to read them in place of the files.

    Args:
        pipeline: What reads the files; None if nobody has looked at it.
        shards: How many shards.
        readers: How many of them are read at a time.
        each: How large one is, in words.
    """
    what = f"Put the files into {plural(shards, 'TFRecord shard')} of about {each} in a folder DIR."
    shuffled = _shuffles_paths(pipeline)
    lines = RECORDS.format(shards=shards, files=SHUFFLED if shuffled else IN_ORDER, readers=readers)
    if pipeline is not None and pipeline.reader_name != "map":
        return Fix(what, lines)
    if shuffled:
        what += " Shuffle the shards, then the records in a small buffer."
    if pipeline is None or pipeline.reader is None:
        return Fix(f"{what} {PARSES}", f"{lines}.map(parse)")
    reader = pipeline.reader
    name = reader.place or (reader.function if reader.function.isidentifier() else "")
    parses = f"Write parse(data) like {name}, without the read: data holds the bytes of one file."
    parses = parses if name else PARSES
    return Fix(f"{what} {parses}", f"{lines}{_of_records(pipeline, reader)}", reader.statement)


UNPACKED = """\
for path in paths:  # once
    with tf.io.TFRecordWriter("DIR/" + os.path.basename(path)) as writer:
        for record in tf.data.TFRecordDataset(path, compression_type="{compression}"):
            writer.write(record.numpy())
{reads}"""


def unpacked(reader: Stage) -> Fix:
    """Word how to write compressed records again as they are, and how to read these.

    Args:
        reader: What reads them, a source or a stage whose function makes one.
    """
    what = "Write the records without compression to a folder DIR, and read them there."
    plain = dataclasses.replace(reader, compression="")
    reads, now = (
        (one.statement if one.is_source else f"tf.data.TFRecordDataset(path{_packed(one)})")
        for one in (plain, reader)
    )
    return Fix(what, UNPACKED.format(compression=reader.compression, reads=reads), now)


def _packed(reader: Stage) -> str:
    return f', compression_type="{reader.compression}"' if reader.compression else ""


def _shuffles_paths(pipeline: Pipeline | None) -> bool:
    """Say whether the pipeline shuffles paths before it reads their files."""
    reader = None if pipeline is None else pipeline.reader
    return pipeline is not None and reader is not None and shuffled_before(pipeline, reader) is not None


def _of_records(pipeline: Pipeline, reader: Stage) -> str:
    """Return what stands in front of a map that reads files, and the map, for records in place of paths."""
    before = [_of_record(stage) for stage in pipeline.before(reader) if stage.name in PLAIN_SIZE]
    parse = dataclasses.replace(reader, function="parse")
    return "".join(f".{stage.typed}" for stage in (*before, parse))


def _of_record(stage: Stage) -> Stage:
    """Return a stage of paths for records; a buffer of paths holds many, and one of records a few."""
    if stage.name != "shuffle":
        return stage
    size = SHUFFLED_SAMPLES if stage.size is None or stage.size < 0 else min(stage.size, SHUFFLED_SAMPLES)
    return stage.with_size(size)
