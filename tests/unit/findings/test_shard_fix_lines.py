"""Small files put into large ones: what is printed is pasted, and reads what the files hold."""

from __future__ import annotations

import ast
import glob
import io
import tarfile
import time
from typing import Any

import pytest

from tests import later_tensorflow as tf
from tests.unit.findings.made_up_jobs import BATCH, GENERATOR, LOAD, PATHS, SHARDS
from tests.unit.findings.made_up_jobs import pipeline_job as job
from tests.unit.findings.made_up_training import training
from tfdarshan.findings import small_files
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.shard_fix_lines import SHARD_BYTES, in_shards

READS = "lambda path: tf.io.read_file(path)"
WRAPPED = LOAD | {"function": READS, "file": ""}


def fix_of(folder, *stages, shards=3, readers=2):
    return in_shards(measure(job(folder, *stages, readers=readers)), shards * SHARD_BYTES)


@pytest.fixture
def files(tmp_path):
    """Return ten files' paths, and what is in them."""
    found = {}
    for number in range(10):
        path = tmp_path / f"file-{number}"
        path.write_bytes(f"sample {number}".encode() * (number + 1))
        found[str(path)] = path.read_bytes()
    (tmp_path / "DIR").mkdir()
    return found


def test_lines_for_python_write_archives_and_read_them(tmp_path, files):
    # GIVEN what is printed for threads of Python, with a folder for DIR, and something to do with data
    line = fix_of(tmp_path / "logs").line.replace("DIR", str(tmp_path / "DIR"))
    read: list[bytes] = []

    # WHEN
    exec(
        f"{line}\n            read.append(data)",
        {"glob": glob, "tarfile": tarfile, "paths": list(files), "read": read},
    )

    # THEN three files hold all of the ten
    assert len(list((tmp_path / "DIR").iterdir())) == 3
    assert sorted(read) == sorted(files.values())


def test_a_file_of_an_archive_costs_no_more_than_reading_it(tmp_path):
    # GIVEN 600 files of 8 kB in an archive, and what reads those in the least calls
    (tmp_path / "DIR").mkdir()
    with tarfile.open(tmp_path / "DIR" / "0.tar", "w") as archive:
        for number in range(600):
            member = tarfile.TarInfo(str(number))
            member.size = 8000
            archive.addfile(member, io.BytesIO(b"a" * 8000))
    line = fix_of(tmp_path / "logs", shards=1, readers=1).line.replace("DIR", str(tmp_path / "DIR"))
    known = {"glob": glob, "tarfile": tarfile, "paths": []}

    # WHEN the printed lines read them, and the library by itself
    printed_s = min(_cpu_s(lambda: exec(line, known)) for _ in range(3))
    library_s = min(_cpu_s(lambda: _read_all(tmp_path / "DIR" / "0.tar")) for _ in range(3))

    # THEN they do no more work; 8 MiB copied for each file would be 30 times as much
    assert printed_s < 8 * library_s


def _read_all(path):
    with tarfile.open(path) as archive:
        for member in archive:
            archive.extractfile(member).read()


def _cpu_s(work):
    before_s = time.process_time()
    work()
    return time.process_time() - before_s


def test_lines_for_tf_data_write_records_and_read_them(tmp_path, files):
    tf.needs("tensorflow")
    fix = fix_of(tmp_path / "logs", PATHS, LOAD, BATCH)
    known: dict[str, Any] = {"tf": tf, "paths": list(files), "parse": lambda data: data}

    exec(fix.line.replace("DIR", str(tmp_path / "DIR")), known)

    assert len(list((tmp_path / "DIR").iterdir())) == 3
    assert sorted(one.numpy() for one in known["dataset"]) == sorted(files.values())
    assert "num_parallel_reads=2" in fix.line


@pytest.mark.parametrize(
    ("paths", "records"), [(1_000_000, 10_000), (-1, 10_000), (None, 10_000), (320, 320)]
)
def test_a_shuffle_of_paths_holds_few_records_of_shuffled_shards(tmp_path, paths, records):
    # GIVEN paths that are shuffled in front of the map that reads their files
    fix = fix_of(tmp_path, PATHS, {"name": "shuffle", "size": paths}, LOAD, BATCH)

    # THEN a buffer never holds more records than one of records that are read out of order
    assert f").shuffle({records}).map(parse)" in fix.line
    assert "shards = tf.data.Dataset.list_files(" in fix.line
    assert " Shuffle the shards, then the records in a small buffer." in fix.what


def test_shuffled_shards_are_read_whole_in_another_order_in_each_epoch(tmp_path, files):
    # GIVEN what is printed for shuffled paths
    tf.needs("tensorflow")
    fix = fix_of(tmp_path / "logs", PATHS, {"name": "shuffle", "size": 10}, LOAD, BATCH, shards=9)
    known: dict[str, Any] = {"tf": tf, "paths": list(files), "parse": lambda data: data}

    # WHEN it is run, without its buffer of records
    exec(fix.line.replace("DIR", str(tmp_path / "DIR")).replace(".shuffle(10)", ""), known)
    epochs = {tuple(one.numpy() for one in known["dataset"]) for _ in range(8)}

    # THEN each epoch reads all that the files hold
    assert len(epochs) > 1
    assert {tuple(sorted(epoch)) for epoch in epochs} == {tuple(sorted(files.values()))}


@pytest.mark.parametrize(
    ("stages", "goes", "library", "parses"),
    [
        (
            (PATHS, LOAD, BATCH),
            "dataset = dataset.map(read_image)",
            "tf",
            "read_image (train.py:12)",
        ),
        (
            (PATHS, WRAPPED, BATCH),
            "dataset = dataset.map(lambda path: tf.io.read_file(path))",
            "tf",
            "a sample",
        ),
        ((SHARDS, BATCH), "", "tf", ""),
        ((GENERATOR, BATCH), "", "tarfile", ""),
        ((), "", "tarfile", ""),
    ],
    ids=["a map", "a lambda", "records", "a generator", "plain Python"],
)
def test_they_are_read_as_the_job_reads(tmp_path, stages, goes, library, parses):
    fix = fix_of(tmp_path, *stages)

    ast.parse(fix.line)
    assert fix.instead_of == goes
    assert f"{library}." in fix.line
    assert ("parse" in fix.line) == bool(parses)
    assert parses in fix.what


@pytest.mark.parametrize(("shards", "read"), [(1, "read it from end"), (2, "read them from end")])
def test_files_are_put_together_in_words(tmp_path, shards, read):
    what = fix_of(tmp_path, shards=shards, readers=shards).what
    assert read in what
    assert "{" not in what


def waiting(logdir, files, *, readers=1, open_ms=10.0, read_ms=10.0):
    """Return the gain of shards where each step waits for one of so many files, and hardly computes."""
    calls, steps, at = [], [], 0.0
    for number in range(files):
        opened, read = at + open_ms, at + open_ms + read_ms
        tid = 1 + number % readers
        calls += [(at, opened, tid, "open", number, 0), (opened, read, tid, "pread", number, 1_000, 0)]
        steps.append((at, read + 0.02, read - at))
        at = read + 0.02
    paths = [f"/data/{number}.jpg" for number in range(files)]
    return small_files.find(measure(training(logdir, calls, steps, paths=paths, sizes=[1_000] * files))).gain
