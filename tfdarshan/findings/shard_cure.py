"""How to put small files into a few large ones, and to read these: all lines that it takes."""

from __future__ import annotations

import dataclasses
import math

from tfdarshan.analysis.cache_place import shuffled_before
from tfdarshan.analysis.tf_data_pipeline import PLAIN_SIZE, Pipeline, Stage
from tfdarshan.findings.finding import Cure
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.pipeline_api import (
    GENERATOR,
    SHUFFLED_SAMPLES,
    input_pipeline,
    reads_by_tf_data,
)
from tfdarshan.units import human_bytes, plural

# What one file is to hold.
SHARD_BYTES = 256 << 20
PARSES = "parse(data) gives a sample of what is in a file."
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
    """Says whether the shards are of TFRecords: where tf.data reads the files itself."""
    pipeline = input_pipeline(measures)
    return reads_by_tf_data(measures) and (pipeline is None or pipeline.reader_name != GENERATOR)


def in_shards(measures: Measures, whole_bytes: float) -> Cure:
    """Words how to write large files in place of small ones of so many bytes, and how to read them."""
    shards = max(1, round(measures.model.readers), math.ceil(whole_bytes / SHARD_BYTES))
    pipeline, each = input_pipeline(measures), human_bytes(whole_bytes / shards)
    if not in_records(measures):
        return Cure(
            f"Put them into {plural(shards, 'tar file')} of about {each} in a folder DIR, and read "
            f"{'it' if shards == 1 else 'them'} from end to end: data is what is in one of the files.",
            ARCHIVES.format(shards=shards),
        )
    what = f"Put them into {plural(shards, 'TFRecord shard')} of about {each} in a folder DIR."
    shuffled = _shuffles_paths(pipeline)
    lines = RECORDS.format(
        shards=shards,
        files=SHUFFLED if shuffled else IN_ORDER,
        readers=max(1, round(measures.model.readers)),
    )
    if pipeline is not None and pipeline.reader_name != "map":
        return Cure(what, lines)
    if shuffled:
        what += " Shuffle the shards, then the records in a small buffer."
    if pipeline is None or pipeline.reader is None:
        return Cure(f"{what} {PARSES}", f"{lines}.map(parse)")
    reader = pipeline.reader
    name = reader.place or (reader.function if reader.function.isidentifier() else "")
    parses = f"parse(data) is {name} for what is in a file: without its read." if name else PARSES
    return Cure(f"{what} {parses}", f"{lines}{_of_records(pipeline, reader)}", reader.statement)


def _shuffles_paths(pipeline: Pipeline | None) -> bool:
    """Says whether the pipeline shuffles paths before it reads their files."""
    reader = None if pipeline is None else pipeline.reader
    return pipeline is not None and reader is not None and shuffled_before(pipeline, reader) is not None


def _of_records(pipeline: Pipeline, reader: Stage) -> str:
    """Gives what stands in front of a map that reads files, and the map, for records in place of paths."""
    before = [_of_record(stage) for stage in pipeline.before(reader) if stage.name in PLAIN_SIZE]
    parse = dataclasses.replace(reader, function="parse")
    return "".join(f".{stage.typed}" for stage in (*before, parse))


def _of_record(stage: Stage) -> Stage:
    """Gives a stage of paths for records; a buffer of paths holds many, and one of records a few."""
    if stage.name != "shuffle":
        return stage
    size = SHUFFLED_SAMPLES if stage.size is None or stage.size < 0 else min(stage.size, SHUFFLED_SAMPLES)
    return stage.with_size(size)
