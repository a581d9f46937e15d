"""What a cure says of the job's own input pipeline, where it is so and where it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.findings.made_up_databases import database_job
from tests.unit.findings.made_up_jobs import (
    BATCH,
    CACHE,
    DECODE,
    GENERATOR,
    INTERLEAVE,
    LOAD,
    PATHS,
    SHARDS,
    pipeline_job,
)
from tests.unit.findings.made_up_training import LOOP
from tests.unit.findings.made_up_validation import validation_job
from tfdarshan.findings import random_access, small_reads, unsharded_input
from tfdarshan.findings.finding import Cure
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.pipeline_api import (
    keep_decoded,
    keep_in_memory,
    more_decoding,
    more_readers,
    read_ahead,
    validation_cure,
)
from tfdarshan.findings.shard_cure import SHARD_BYTES, in_shards
from tfdarshan.session import Session

UNNAMED = LOAD | {"function": "<lambda>"}
WRITE_RECORDS = """\
for number in range(2):  # once
    with tf.io.TFRecordWriter("DIR/%05d.tfrecord" % number) as writer:
        for path in paths[number::2]:
            writer.write(tf.io.read_file(path).numpy())
shards = tf.io.gfile.glob("DIR/*.tfrecord")
dataset = tf.data.TFRecordDataset(shards, buffer_size=8 << 20, num_parallel_reads=1)"""
WRITE_ARCHIVES = """\
for number in range(2):  # once
    with tarfile.open("DIR/%05d.tar" % number, "w") as archive:
        for path in paths[number::2]:
            archive.add(path)
for shard in glob.glob("DIR/*.tar"):  # each epoch, in place of the files
    with open(shard, "rb", buffering=8 << 20) as file, tarfile.open(fileobj=file) as archive:
        for member in archive:
            data = archive.extractfile(member).read()"""
TORCH = {"versions": {"torch": "2.8.0"}}
TENSORFLOW = {"versions": {"tensorflow": "2.20.0"}}
TAKE = {"name": "take", "size": 10}
NO_PLACE = {name: value for name, value in GENERATOR.items() if name not in ("file", "line")}
PYTHON = LOAD | {"does": ["python"], "function": "decode_image"}
DRAWS = {"random": True}
REPEAT = {"name": "repeat", "size": 4}
Asked = Callable[[Measures], Cure]
Job = Callable[[Path], Measures]


def of(*stages: dict, **more) -> Job:
    """Gives what measures a job whose input pipeline has such stages."""
    return lambda folder: measure(pipeline_job(folder, *stages, **more))


def of_session(make: Callable[..., Session], **more) -> Job:
    """Gives what measures a session."""
    return lambda folder: measure(make(folder, **more))


def with_workers(folder: Path) -> Measures:
    """Measures a job of PyTorch with four worker processes."""
    measures = of(readers=2)(folder)
    return replace(measures, versions=TORCH["versions"], summary=replace(measures.summary, processes=5))


def by_loop(versions: dict) -> Job:
    """Gives what measures a job whose loop's own thread reads."""
    sketch = SKETCHES["read by the loop itself"]
    looked = {"pipelines": {"found": [], "left_out": 0}}
    return lambda folder: measure(sketched(folder, replace(sketch, meta=sketch.meta | versions | looked)))


def by_sqlite(folder: Path) -> Measures:
    """Measures a job whose loop's own thread reads a database."""
    return database_job(folder, LOOP)


def having(versions: dict) -> Job:
    """Gives what measures a job with such libraries."""
    return lambda folder: replace(of()(folder), **versions)


def named(suffix: str) -> Job:
    """Gives what measures a job with one file, whose name ends in such a way."""

    def made(folder: Path) -> Measures:
        measures = of()(folder)
        rows = measures.files.rows.assign(path=f"/data/train{suffix}")
        return replace(measures, files=replace(measures.files, rows=rows))

    return made


def threads(measures: Measures) -> Cure:
    """Asks for 16 readers."""
    return more_readers(measures, 16, 1)


def shards(measures: Measures) -> Cure:
    """Asks for two shards."""
    return in_shards(measures, 2 * SHARD_BYTES)


def larger(measures: Measures) -> Cure:
    """Asks for larger reads."""
    return small_reads._cure(measures, np.flatnonzero(measures.is_input))


def in_order(measures: Measures) -> Cure:
    """Asks for reads in order."""
    return random_access._cure(measures, np.flatnonzero(measures.is_input), 8e3)


BUSY = "the processors have no more to give"


def decoded(limit: str = "") -> Asked:
    """Gives what asks to keep what was decoded, where `limit` says why no more can be decoded at a time."""
    return lambda measures: keep_decoded(measures, limit)


def too_large(measures: Measures) -> Cure:
    """Asks for less decoding of what does not fit into memory."""
    return keep_decoded(measures, BUSY, fits=False)


def decoded_once(measures: Measures) -> Cure:
    """Asks for less decoding of what is decoded in one epoch."""
    return keep_decoded(measures, BUSY, again=False)


def decode_more(measures: Measures) -> Cure:
    """Asks for as many calls that decode as there are processors."""
    return more_decoding(measures, 2)


def validation(*, keep: bool) -> Asked:
    """Gives what asks for a validation set to be kept, or to be read by more."""
    return lambda measures: validation_cure(measures, 16, keep=keep)


@dataclass(frozen=True)
class Words:
    """What a cure says of one job, and does not say of another, or where something else is asked."""

    said: str
    asked: Asked
    true: Job
    false: Job
    otherwise: Asked | None = None


TABLE = (
    Words("A generator reads one after the other: have threads read, in samples (data.py:7).", threads,
          of(GENERATOR, BATCH), of(PATHS, LOAD, BATCH)),
    Words("have threads read, in the generator.", threads, of(NO_PLACE, BATCH), of(GENERATOR, BATCH)),
    Words("yield from map_ahead(read, samples, threads=16)  # of tfdarshan.ahead", threads, of(GENERATOR),
          of(SHARDS, DECODE)),
    Words(" read() gives one sample.", threads, by_loop({}), of(SHARDS, DECODE)),
    Words("class Database(threading.local):  # each thread opens its own\n    def __init__(self):\n"
          "        self.execute = sqlite3.connect(path).execute\ndatabase = Database()", threads, by_sqlite,
          by_loop({})),
    Words("The thread uses a connection that another thread opened.", read_ahead, by_sqlite, by_loop({})),
    Words("decode_image runs Python, one call at a time as far as it computes.", threads,
          of(PATHS, PYTHON, BATCH), of(PATHS, LOAD, BATCH)),
    Words("Now the training loop reads its input itself: let workers of a DataLoader do it.", threads,
          by_loop(TORCH), by_loop({})),
    Words("Now the training loop reads its input itself: let threads do it.", threads, by_loop({}),
          by_loop(TORCH)),
    Words("A worker of a DataLoader makes one.", threads, with_workers, having(TORCH)),
    Words("Give the pool that reads so many threads.", threads, of(readers=2), of()),
    Words("Now a thread of the job's own reads one after the other: let more do it.", threads, of(),
          of(readers=2)),
    Words("Each worker of the DataLoader then has 4 batches ready.", read_ahead, with_workers, having(TORCH)),
    Words("Now the loop reads its input itself: let a thread read ahead.", read_ahead, by_loop({}), of()),
    Words("Now the loop waits for what it reads: let a thread read ahead.", read_ahead, of(), by_loop({})),
    Words("A generator decodes one after the other: have threads read and decode, as NumPy and Pillow let "
          "them; give bytes and decode in a map if that is Python code of yours.", decode_more,
          of(GENERATOR, BATCH), of(PATHS, LOAD, DECODE, BATCH)),
    Words("Keep what was decoded in memory from the first epoch on.", decoded(),
          of(PATHS, LOAD, DECODE), of(PATHS, LOAD, DECODE), decoded(BUSY)),
    Words(f"Decode less, by keeping decoded data or storing it smaller: {BUSY}.",
          decoded(BUSY), of(PATHS, LOAD, DECODE), of(PATHS, LOAD, DECODE), decoded()),
    Words("Decode less, by storing the data smaller: the processors have no more to give.", too_large,
          of(PATHS, LOAD, DECODE), of(PATHS, LOAD, DECODE), decoded(BUSY)),
    Words("Decode less, by storing the data smaller, or by keeping decoded data if more epochs follow: the "
          "processors have no more to give.", decoded_once, of(PATHS, LOAD, DECODE),
          of(PATHS, LOAD, DECODE), decoded(BUSY)),
    Words("map(decode, num_parallel_calls=2) draws random numbers, and a cache() behind it would repeat them "
          "in each epoch: decode in a map of its own, and put cache() behind that.", decoded(),
          of(PATHS, LOAD, DECODE | DRAWS), of(PATHS, LOAD, DECODE)),
    Words("map(read_image) draws random numbers, and a cache() behind it would repeat them in each epoch: "
          "read in a map of its own, and put cache() between both.", keep_in_memory, of(PATHS, LOAD | DRAWS),
          of(PATHS, LOAD)),
    Words(" repeat() in front of a cache() leaves it no end: put it behind.", decoded(),
          of(PATHS, REPEAT, LOAD, DECODE), of(PATHS, LOAD, DECODE, REPEAT)),
    Words("The data set is made anew for each epoch, and a cache with it: make it once, before them.",
          keep_in_memory, of(PATHS, LOAD, datasets=3), of(PATHS, LOAD)),
    Words("The data set is made anew for each epoch, and its cache() with it: make it once, before them.",
          keep_in_memory, of(PATHS, LOAD, CACHE, datasets=3), of(PATHS, LOAD, CACHE)),
    Words("dataset = make_dataset()  # before the first epoch\nfor batch in dataset:", keep_in_memory,
          of(PATHS, LOAD, CACHE, datasets=3), of(PATHS, LOAD, CACHE)),
    Words("cache() begins to serve when an epoch has read it to its end, and take(10) ends each before: take "
          "in front of it, and no more behind it.", keep_in_memory, of(PATHS, LOAD, CACHE, TAKE),
          of(PATHS, LOAD, TAKE, CACHE)),
    Words("cache() is there, and no epoch reads it to its end, which is when it begins to serve: "
          "read whole epochs, or put what ends them early in front of cache().", keep_in_memory,
          of(PATHS, LOAD, CACHE), of(PATHS, LOAD, CACHE, TAKE)),
    Words("@functools.cache\ndef read(path):", keep_in_memory, of(), of(PATHS, LOAD)),
    Words(" read() gives what is in a file.", keep_in_memory, of(), of(PATHS, LOAD)),
    Words(" read() decodes, too.", decoded(), of(), of(PATHS, LOAD, DECODE)),
    Words("parse(data) is read_image (train.py:12) for what is in a file: without its read.", shards,
          of(PATHS, LOAD, BATCH), of(SHARDS, DECODE, BATCH)),
    Words("parse(data) gives a sample of what is in a file.", shards, of(PATHS, UNNAMED, BATCH),
          of(PATHS, LOAD, BATCH)),
    Words(WRITE_RECORDS, shards, of(PATHS, LOAD, BATCH), of(GENERATOR, BATCH)),
    Words(WRITE_ARCHIVES, shards, of(GENERATOR, BATCH), of(PATHS, LOAD, BATCH)),
    Words("Put them into 2 tar files of about 268.4 MB in a folder DIR, and read them from end to end: data "
          "is what is in one of the files.", shards, of(GENERATOR, BATCH), of(PATHS, LOAD, BATCH)),
    Words("Put them into 2 TFRecord shards of about 268.4 MB in a folder DIR.", shards,
          of(PATHS, LOAD, BATCH), of(GENERATOR, BATCH)),
    Words("Keep the validation set in memory from its first pass on.", validation(keep=True),
          of_session(validation_job), of_session(validation_job, pipelines=False)),
    Words("Keep the validation set in memory.", validation(keep=True),
          of_session(validation_job, pipelines=False), of_session(validation_job)),
    Words("@functools.cache\ndef read_validation(path):", validation(keep=True),
          of_session(validation_job, pipelines=False), of_session(validation_job)),
    Words("Give the data sets that interleave reads from a larger buffer.", larger,
          of(PATHS, INTERLEAVE, DECODE), of(SHARDS, DECODE)),
    Words("tf.data.TFRecordDataset(path, buffer_size=8388608)", larger,
          of(PATHS, INTERLEAVE, DECODE), of(PATHS, LOAD)),
    Words("Have SQLite read larger pages.", larger, named(".db"), named(".tfrecord")),
    Words('database.executescript("PRAGMA page_size = 65536; VACUUM")  # once: it writes the file anew',
          larger, named(".sqlite3"), named(".dbx")),
    Words('rows = database.execute("SELECT * FROM samples ORDER BY rowid")  # not one by one', in_order,
          named(".sqlite"), named(".tfrecord")),
    Words("block = os.pread(file, 1 << 20, offset)  # cut the samples out of it", in_order, of(),
          of(SHARDS, DECODE)),
    Words("dataset = files.shard(world_size, rank).interleave(...)", unsharded_input._cure,
          having(TENSORFLOW), having(TORCH)),
    Words("DataLoader(dataset, sampler=DistributedSampler(dataset))", unsharded_input._cure, having(TORCH),
          having(TENSORFLOW)),
    Words("for path in files[rank::world_size]:", unsharded_input._cure, having({}), having(TORCH)),
)  # fmt: skip


@pytest.mark.parametrize("words", TABLE, ids=lambda words: words.said[:40])
def test_a_cure_says_it_of_a_job_that_is_so(words, tmp_path):
    # WHEN
    cure = words.asked(words.true(tmp_path / "true"))
    other = (words.otherwise or words.asked)(words.false(tmp_path / "false"))

    # THEN
    assert words.said in f"{cure.what}\n{cure.line}", cure
    assert words.said not in f"{other.what}\n{other.line}", other


@pytest.mark.parametrize(
    ("versions", "before"),
    [(TENSORFLOW, "dataset = files.interleave(...)"), (TORCH, "DataLoader(dataset, shuffle=True)")],
)
def test_what_is_to_go_is_what_such_a_job_has(versions, before, tmp_path):
    assert unsharded_input._cure(having(versions)(tmp_path)).instead_of == before
