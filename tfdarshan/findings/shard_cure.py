"""How to put small files into a few large ones, and to read these: all lines that it takes."""

from __future__ import annotations

from tfdarshan.findings.finding import Cure
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.pipeline_api import GENERATOR, input_pipeline, reads_by_tf_data
from tfdarshan.units import human_bytes, plural

PARSES = "parse(data) gives a sample of what is in a file."
# DIR is the reader's to fill in, and `paths` are his files.
RECORDS = """\
for number in range({shards}):  # once
    with tf.io.TFRecordWriter("DIR/%05d.tfrecord" % number) as writer:
        for path in paths[number::{shards}]:
            writer.write(tf.io.read_file(path).numpy())
shards = tf.io.gfile.glob("DIR/*.tfrecord")
dataset = tf.data.TFRecordDataset(shards, buffer_size={mib} << 20, num_parallel_reads={readers})"""
# What reading a record takes beyond reading a file that memory serves, seconds per byte: it is copied once
# more, and its checksum worked out. 0.5 ns for records of 100 kB and of 1 MB, 1.5 ns beside processors that
# are busy otherwise.
RECORD_S_PER_BYTE, RECORD_S_PER_BYTE_AT_WORST = 0.5e-9, 1.5e-9
# A stream ("r|") of so large a buffer copies what is left of it for each file.
ARCHIVES = """\
for number in range({shards}):  # once
    with tarfile.open("DIR/%05d.tar" % number, "w") as archive:
        for path in paths[number::{shards}]:
            archive.add(path)
for shard in glob.glob("DIR/*.tar"):  # each epoch, in place of the files
    with open(shard, "rb", buffering={mib} << 20) as file, tarfile.open(fileobj=file) as archive:
        for member in archive:
            data = archive.extractfile(member).read()"""


def in_records(measures: Measures) -> bool:
    """Says whether the shards are of TFRecords: where tf.data reads the files itself."""
    pipeline = input_pipeline(measures)
    return reads_by_tf_data(measures) and (pipeline is None or pipeline.reader_name != GENERATOR)


def in_shards(measures: Measures, shards: int, shard_bytes: float, buffer_bytes: int) -> Cure:
    """Words how to write large files in place of small ones, and how to read them.

    Args:
        measures: The session.
        shards: How many files to write.
        shard_bytes: The size of one, about.
        buffer_bytes: What is to be read at a time.
    """
    pipeline, each, mib = input_pipeline(measures), human_bytes(shard_bytes), buffer_bytes >> 20
    if not in_records(measures):
        return Cure(
            f"Put them into {plural(shards, 'tar file')} of about {each} in a folder DIR, and read "
            f"{'it' if shards == 1 else 'them'} from end to end: data is what is in one of the files.",
            ARCHIVES.format(shards=shards, mib=mib),
        )
    what = f"Put them into {plural(shards, 'TFRecord shard')} of about {each} in a folder DIR."
    lines = RECORDS.format(shards=shards, mib=mib, readers=max(1, round(measures.model.readers)))
    if pipeline is not None and pipeline.reader_name != "map":
        return Cure(what, lines)
    if pipeline is None or pipeline.reader is None:
        return Cure(f"{what} {PARSES}", f"{lines}.map(parse)")
    reader = pipeline.reader
    name = reader.place or (reader.function if reader.function.isidentifier() else "")
    parses = f"parse(data) is {name} for what is in a file: without its read." if name else PARSES
    return Cure(f"{what} {parses}", f"{lines}.map(parse)", reader.statement)
