"""Jobs that read mapped files on storage of known latency: what is found, and what the printed fix gives."""

import concurrent.futures
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tfdarshan
import tfdarshan.lmdb
from tests.integration.mapped.mapped_job import (
    BATCH,
    ROW_BYTES,
    ROWS,
    SLOW,
    STEPS,
    found_in,
    is_kept,
    mapped_job,
    records,
)
from tests.integration.mapped.touched_files import ALL
from tests.integration.storage_probe.fuse_storage import make_server, needs_fuse, storage, tried_again
from tfdarshan.ahead import map_ahead
from tfdarshan.commands import main
from tfdarshan.findings.diagnosis import diagnose

pytestmark = needs_fuse


@pytest.fixture(autouse=True)
def every_fault(monkeypatch):
    """Have each fault seen, whatever that costs: on a busy machine the guard may leave too few."""
    for name, value in ALL.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return make_server(tmp_path_factory.mktemp("server"))


def arrays(folder):
    folder.mkdir()
    np.save(folder / "rows.npy", np.random.default_rng(1).integers(0, 255, (ROWS, ROW_BYTES), np.uint8))
    return folder


@tried_again
def test_threads_that_copy_ahead_give_a_numpy_job_what_is_promised(capsys, server, tmp_path):
    # GIVEN a loop that copies rows that lie anywhere out of an np.memmap
    backing = arrays(tmp_path / "backing")
    order = np.random.default_rng(2).permutation(ROWS)[: STEPS * BATCH].reshape(STEPS, BATCH)
    with storage(server, backing, tmp_path / "m", **SLOW) as folder:
        array = np.load(folder / "rows.npy", mmap_mode="r")
        session, before_s = mapped_job(tmp_path / "logs", (np.array(array[rows]) for rows in order))
        del array
    unknown = found_in(session)["mapped_wait"]

    # WHEN the storage is probed
    with storage(server, backing, tmp_path / "m", **SLOW) as folder:
        assert main(["probe", "--logdir", str(tmp_path / "logs")]) == 0
    finding = found_in(tfdarshan.open_session(tmp_path / "logs"))["mapped_wait"]

    # THEN more is certain than by the session alone, the file and its format are named
    assert finding.files == (str(tmp_path / "m" / "rows.npy"),)
    assert "NumPy array" in finding.title
    assert finding.gain.speedup_range[0] > unknown.gain.speedup_range[0] > 1
    assert diagnose(tfdarshan.open_session(tmp_path / "logs")).verdict.finding == "mapped_wait"

    # and the line as printed gives it
    with storage(server, backing, tmp_path / "m", **SLOW) as folder:
        names: dict[str, Any] = {"np": np, "map_ahead": map_ahead, "order": order}
        names["array"] = np.load(folder / "rows.npy", mmap_mode="r")
        exec(finding.fix.line, names)
        _, after_s = mapped_job(tmp_path / "fixed", names["batches"])
        names.clear()
    is_kept(finding.gain, before_s, after_s)


@tried_again
def test_an_array_in_memory_is_no_finding(capsys, server, tmp_path):
    # GIVEN the same job once the page cache has the file
    backing = arrays(tmp_path / "backing")
    with storage(server, backing, tmp_path / "m", **SLOW) as folder:
        array = np.load(folder / "rows.npy", mmap_mode="r")
        np.array(array)
        session, _ = mapped_job(tmp_path / "logs", (np.array(array[n : n + BATCH]) for n in range(STEPS)))
        del array

    assert "mapped_wait" not in found_in(session)


@pytest.mark.long
@tried_again
def test_single_pages_give_what_is_promised_where_bytes_are_slow(capsys, server, tmp_path):
    # GIVEN a pipe of 30 MB/s, and rows of a page each, anywhere in a file
    slow = {"bandwidth": 30e6, "page_cache": 1}
    backing = tmp_path / "backing"
    backing.mkdir()
    rows, page = 8_000, 4096
    np.random.default_rng(1).integers(0, 255, (rows, page), np.uint8).tofile(backing / "rows")
    order = np.random.default_rng(2).permutation(rows)[: STEPS * 12].reshape(STEPS, 12)

    def read(array):
        return (np.array(array.reshape(rows, page)[chosen]) for chosen in order)

    with storage(server, backing, tmp_path / "m", **slow) as folder:
        array = np.memmap(folder / "rows", np.uint8, "r")
        session, before_s = mapped_job(tmp_path / "logs", read(array))
        del array
    assert found_in(session)["mapped_wait"]
    with storage(server, backing, tmp_path / "m", **slow) as folder:
        assert main(["probe", "--logdir", str(tmp_path / "logs")]) == 0

    # WHEN
    finding = found_in(tfdarshan.open_session(tmp_path / "logs"))["mapped_wait"]

    # THEN
    assert finding.gain.speedup_range[0] > 1.3
    with storage(server, backing, tmp_path / "m", **slow) as folder:
        array = np.memmap(folder / "rows", np.uint8, "r")
        line = finding.fix.line.replace("mapped.", "array._mmap.")
        exec(line, {"array": array, "mmap": __import__("mmap")})
        _, after_s = mapped_job(tmp_path / "fixed", read(array))
        del array
    is_kept(finding.gain, before_s, after_s)


def job_of_generator(logdir, folder, keys):
    """Take all batches of a tf.data generator that asks py-lmdb for records; likewise."""
    lmdb, tf = pytest.importorskip("lmdb"), pytest.importorskip("tensorflow")
    # It is closed before the storage goes: TensorFlow keeps a generator until the interpreter ends.
    with lmdb.open(str(folder), readonly=True, lock=False) as database, database.begin() as reading:
        records = tf.data.Dataset.from_generator(
            lambda: (reading.get(key) for key in keys), output_signature=tf.TensorSpec((), tf.string)
        )
        return mapped_job(logdir, records.batch(BATCH), steps=len(keys) // BATCH)


@tried_again
def test_a_generator_of_lmdb_records_that_memory_holds_is_no_finding(capsys, server, tmp_path):
    lmdb = pytest.importorskip("lmdb")
    # GIVEN a database in the page cache, read in order
    backing, keys = records(lmdb, tmp_path / "backing")
    with storage(server, backing, tmp_path / "m", **SLOW) as folder:
        with (folder / "data.mdb").open("rb") as file:
            while file.read(1 << 20):
                pass
        session, _ = job_of_generator(tmp_path / "logs", folder, keys[: STEPS * BATCH])

    assert "mapped_wait" not in found_in(session)


@pytest.mark.long
@tried_again
def test_merged_reads_give_an_lmdb_job_what_is_promised(capsys, server, tmp_path):
    lmdb = pytest.importorskip("lmdb")
    # GIVEN a loop that asks py-lmdb for records that lie anywhere
    backing, keys = records(lmdb, tmp_path / "backing")
    order = np.random.default_rng(2).permutation(ROWS)[: STEPS * BATCH].reshape(STEPS, BATCH)
    with storage(server, backing, tmp_path / "m", **SLOW) as folder:
        database = lmdb.open(str(folder), readonly=True, lock=False)
        with database.begin(buffers=False) as reading:
            asked = ([reading.get(keys[number]) for number in row] for row in order)
            session, before_s = mapped_job(tmp_path / "logs", asked)
        database.close()

    # WHEN
    finding = found_in(session)["mapped_wait"]

    # THEN
    assert "LMDB database" in finding.title
    assert 'shuffle="blocks"' in finding.fix.line
    with storage(server, backing, tmp_path / "m", **SLOW) as folder:
        names = {"tfdarshan": tfdarshan, "batch_size": BATCH}
        exec(finding.fix.line.replace(', framework="tensorflow"', ""), names)
        _, after_s = mapped_job(tmp_path / "fixed", names["dataset"])
        names.clear()
    is_kept(finding.gain, before_s, after_s)


@pytest.mark.long
@tried_again
def test_reads_by_calls_give_an_arrow_job_what_is_promised(capsys, server, tmp_path):
    # GIVEN a loop that adds up the record batches of a mapped Arrow file, in any order
    backing = tmp_path / "backing"
    backing.mkdir()
    values = np.random.default_rng(1).integers(0, 1 << 60, (STEPS, 1 << 15))
    schema = pa.schema([("x", pa.int64())])
    with pa.OSFile(str(backing / "rows.arrow"), "wb") as out, pa.ipc.new_file(out, schema) as writer:
        for row in values:
            writer.write_batch(pa.record_batch([pa.array(row)], schema))
    numbers = np.random.default_rng(2).permutation(STEPS).tolist()

    def used(batches):
        return (batch.column(0).to_numpy().sum() for batch in batches)

    with storage(server, backing, tmp_path / "m", **SLOW) as folder:
        reader = pa.ipc.open_file(pa.memory_map(str(folder / "rows.arrow")))
        session, before_s = mapped_job(
            tmp_path / "logs", used(reader.get_batch(number) for number in numbers)
        )
        del reader

    # WHEN
    finding = found_in(session)["mapped_wait"]

    # THEN
    assert "Arrow file" in finding.title
    with storage(server, backing, tmp_path / "m", **SLOW) as folder:
        path = str(folder / "rows.arrow")
        names: dict[str, Any] = {"pa": pa, "concurrent": concurrent, "numbers": numbers, "path": path}
        exec(finding.fix.line, names)
        _, after_s = mapped_job(tmp_path / "fixed", used(names["batches"]))
        names.clear()
    is_kept(finding.gain, before_s, after_s)
