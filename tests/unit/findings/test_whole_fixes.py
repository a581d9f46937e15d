"""A printed line keeps what stands in the line that it replaces, and works when it is typed."""

import gc
import sqlite3
import textwrap
import warnings
from typing import Any

import numpy as np
import pytest

from tests.unit.findings.made_up_databases import database_job
from tests.unit.findings.made_up_jobs import BATCH, DECODE, GENERATOR, INTERLEAVE, KB, LOAD, PATHS
from tests.unit.findings.made_up_jobs import pipeline_job as job
from tests.unit.findings.made_up_training import LOOP
from tfdarshan.findings import random_access, small_reads
from tfdarshan.findings.fix_lines import (
    fewer_readers,
    keep_in_memory,
    more_decoding,
    more_readers,
    read_ahead,
)
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.shard_fix_lines import in_shards
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import Stage
from tfdarshan.workloads.laboratory.applied import apply_lines

SHUFFLE = {"name": "shuffle", "size": 320}
CALLS = {"calls": 8, "deterministic": False}
ORDER = " Call shuffle() after cache(): cache() repeats the order of the first epoch."
BY_SQLITE = """\
import sqlite3
import threading

path = {path!r}
samples = range(40)
database = sqlite3.connect(path)

def read(sample):
    (data,) = database.execute("SELECT data FROM samples WHERE id = ?", (sample,)).fetchone()
    return data

def read_samples():
    for sample in samples:
        yield read(sample)

batches = read_samples()
taken = []
for batch in batches:
    taken.append(batch)
"""


def taken_by(program):
    names: dict[str, Any] = {}
    exec(compile(program, "program", "exec"), names)
    taken = names["taken"]
    # The connections of a program end with it; a newer Python warns of each.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        names.clear()
        gc.collect()
    return taken


@pytest.fixture
def program(tmp_path):
    """Write a database, and return the program that reads it row by row."""
    path = tmp_path / "rows.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE samples (id INTEGER PRIMARY KEY, data INTEGER)")
    connection.executemany("INSERT INTO samples VALUES (?, ?)", [(n, n * n) for n in range(40)])
    connection.commit()
    connection.close()
    return BY_SQLITE.format(path=str(path))


def test_records_keep_the_calls_of_the_map_and_the_shuffle_in_front_of_it(tmp_path):
    # GIVEN shuffled paths of small files, which a map reads with eight calls
    measures = measure(job(tmp_path, PATHS, SHUFFLE, LOAD | CALLS, BATCH))

    # WHEN they are to be put into shards
    fix = in_shards(measures, 10 * KB)

    # THEN what goes is the map, and what comes has all of it
    map_of = "map({}, num_parallel_calls=8, deterministic=False)"
    assert fix.instead_of == f"dataset = dataset.{map_of.format('read_image')}"
    assert fix.line.endswith(f").shuffle(320).{map_of.format('parse')}")


@pytest.mark.parametrize(
    ("name", "files"),
    [("TFRecordDataset", "shards"), ("TextLineDataset", "paths"),
     ("FixedLengthRecordDataset", "paths, record_bytes")],
)  # fmt: skip
def test_a_source_of_records_has_the_arguments_that_tensorflow_knows(name, files):
    stage = Stage(name, compression="GZIP", deterministic=None).with_size(8).with_calls(16)

    assert stage.statement == (
        f'dataset = tf.data.{name}({files}, compression_type="GZIP", buffer_size=8, num_parallel_reads=16)'
    )


def test_records_of_an_interleave_stay_compressed(tmp_path):
    measures = measure(job(tmp_path, PATHS, INTERLEAVE | {"compression": "GZIP"}, DECODE))

    fix = small_reads._fix(measures, np.zeros(1, np.int64))

    assert fix.line == 'tf.data.TFRecordDataset(path, compression_type="GZIP", buffer_size=8388608)'


def test_a_generator_that_jumps_is_told_of_python(tmp_path):
    measures = measure(job(tmp_path, GENERATOR, BATCH))

    assert random_access._fix(measures, np.zeros(1, np.int64), 8e3).line.startswith("block = os.pread(")


def test_what_was_shuffled_is_shuffled_behind_the_cache(tmp_path):
    shuffled, plain = (
        keep_in_memory(measure(job(tmp_path / name, PATHS, *front, LOAD, BATCH)))
        for name, front in (("shuffled", [SHUFFLE]), ("plain", []))
    )

    # THEN the sentence says where
    assert shuffled.line == "dataset = dataset.map(read_image).cache().shuffle(320)"
    assert shuffled.what.endswith(ORDER)
    assert ORDER not in plain.what


def test_of_a_pipeline_that_nobody_saw_no_shuffle_is_taken_out(tmp_path):
    fix = keep_in_memory(measure(job(tmp_path, found=False)))

    assert fix.instead_of == "dataset = dataset.map(load)"
    assert fix.line == "dataset = dataset.map(load).cache()"
    assert fix.what.endswith(ORDER)


@pytest.mark.parametrize("fix", [lambda one: more_readers(one, 4, 1), lambda one: more_decoding(one, 4)])
def test_threads_that_read_a_database_open_it_each(tmp_path, program, fix):
    # GIVEN a loop that reads a database by itself
    found = fix(database_job(tmp_path / "logs", LOOP))
    opens, *loop = found.instead_of.splitlines()
    *comes, threads = found.line.splitlines()
    loop = textwrap.indent("\n".join(loop), "    ")
    assert opens in program
    assert loop in program

    # WHEN what is printed is typed
    typed = program.replace(opens, "\n".join(comes)).replace(loop, f"    {threads}")

    # THEN all rows are read, in order
    assert taken_by(f"from tfdarshan.ahead import map_ahead\n{typed}") == [n * n for n in range(40)]


def test_a_thread_that_reads_ahead_may_use_the_connection_of_another(tmp_path, program):
    # GIVEN a loop that reads a database by itself
    fix = read_ahead(database_job(tmp_path / "logs", LOOP))

    # WHEN what is printed is typed
    typed = apply_lines(program, fix.line, fix.instead_of, {})

    # THEN
    assert "in read_ahead(" in typed
    assert taken_by(typed) == [n * n for n in range(40)]


def test_a_pool_of_readers_of_a_database_keeps_their_connections(tmp_path):
    fix = fewer_readers(database_job(tmp_path, 1, 2), 1, 2)

    assert fix.instead_of == "pool = ThreadPoolExecutor(2, initializer=connect)"
    assert fix.line == "pool = ThreadPoolExecutor(1, initializer=connect)  # from concurrent.futures"
