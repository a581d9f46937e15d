"""Records of an LMDB database as tf.data has them by the op in C, and without it."""

import itertools
import os
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

from tests import later_tensorflow as tf
from tests.integration.lmdb_reader import writer
from tests.integration.lmdb_reader.databases import write
from tests.lean_tensorflow import WITHOUT_KERAS
from tfdarshan.lmdb import Index, batched_records, borrowed_records, dataset, measured_reading

RECORDS = 300


def value_of(number):
    """Sizes around those that TensorFlow's strings hold in themselves, and of several pages."""
    return b"%d." % number * (number % 30 if number % 3 else number * 20)


VALUES = [value_of(number) for number in range(RECORDS)]


@pytest.fixture
def path(tmp_path):
    write(tmp_path / "db", [(b"%06d" % number, value) for number, value in enumerate(VALUES)])
    return tmp_path / "db"


@pytest.fixture(autouse=True)
def no_generator(monkeypatch, request):
    """Batches come by the op alone, but where a test is of what comes without it."""
    if "without" not in request.node.name:
        monkeypatch.setattr(tf.data.Dataset, "from_generator", None)


def flat_values(batches):
    for buffer, offsets in batches:
        whole = buffer.numpy().tobytes()
        yield [whole[begin:end] for begin, end in itertools.pairwise(offsets.numpy())]


def string_values(batches):
    return (batch.numpy().tolist() for batch in batches)


READERS = {"flat": flat_values, "strings": string_values}


def read(source, kind, **options):
    batches = dataset(source, framework="tensorflow", strings=kind == "strings", **options)
    return list(READERS[kind](batches))


def flattened(batches):
    return list(itertools.chain.from_iterable(batches))


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("share", [0.0, 1.0], ids=["from storage", "cached"])
def test_the_op_gives_the_values(path, monkeypatch, kind, share):
    # GIVEN windows and spans of a few batches
    monkeypatch.setattr(measured_reading, "cached_share", lambda path, offsets: share)
    monkeypatch.setattr(borrowed_records, "READ_BYTES", 40_000)
    monkeypatch.setattr(borrowed_records, "SPAN_BYTES", 100_000)

    # WHEN
    batches = read(path, kind, batch=7)

    # THEN
    assert [len(batch) for batch in batches] == [7] * 42 + [6]
    assert flattened(batches) == VALUES


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("access", ["auto", "cached", "direct"])
def test_each_epoch_has_the_order_that_it_has_in_python(path, kind, access):
    with Index(path, access=access) as index:
        options: Any = {"batch": 8, "shuffle": "exact", "seed": 3, "epochs": 3, "drop_remainder": True}
        wanted = [batch.tolist() for batch in dataset(index, **options)]
        assert read(index, kind, **options) == wanted
    assert len(wanted) == 3 * (RECORDS // 8)


def test_a_data_set_can_be_read_again_and_twice_at_once(path):
    batches = dataset(path, batch=9, framework="tensorflow", strings=True)
    for first, second in zip(string_values(batches), string_values(batches), strict=True):
        assert first == second
    assert flattened(string_values(batches)) == VALUES


def test_it_goes_on_for_ever(path):
    batches = dataset(path, batch=100, epochs=None, framework="tensorflow", strings=True)
    assert flattened(string_values(batches.take(9))) == VALUES * 3


@pytest.mark.parametrize("kind", READERS)
def test_nothing_and_large_values(tmp_path, kind):
    write(tmp_path / "none", [])
    assert read(tmp_path / "none", kind, epochs=None) == []
    large = [(b"a", os.urandom((9 << 20) + 5)), (b"b", b""), (b"c", bytes(23))]
    write(tmp_path / "large", large)
    assert flattened(read(tmp_path / "large", kind, batch=2)) == [value for _, value in large]


def test_a_closed_index_is_one_sentence(path):
    index = Index(path)
    batches = iter(dataset(index, batch=1, framework="tensorflow"))
    next(batches)
    index.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="the index of this data set is closed"):
        list(batches)


def test_a_writer_ends_it_with_an_error(tmp_path):
    # GIVEN
    writer.run(tmp_path / "db", 100)
    with Index(tmp_path / "db", snapshot="check") as index:
        batches = iter(dataset(index, batch=1, framework="tensorflow", strings=True))
        right = [value for _, value in writer.held_by(index.facts.transaction)]
        given = [next(batches).numpy()[0]]

        # WHEN
        writer.run(tmp_path / "db", 10)

        # THEN
        with pytest.raises(tf.errors.DataLossError, match=r"data\.mdb was written to while it was read"):
            given += flattened(string_values(batches))
    assert given == right[: len(given)]
    assert len(given) < len(right)


def test_a_held_transaction_keeps_what_it_reads(tmp_path):
    writer.run(tmp_path / "db", 100)
    with Index(tmp_path / "db", snapshot="transaction") as index:
        right = [value for _, value in writer.held_by(index.facts.transaction)]
        writer.run(tmp_path / "db", 300)
        assert flattened(read(index, "strings", batch=20)) == right


def test_damage_is_data_loss(path):
    with Index(path, snapshot="check") as index:
        batches = dataset(index, batch=8, framework="tensorflow")
        with (path / "data.mdb").open("r+b") as file:
            file.truncate(8192)
        with pytest.raises(tf.errors.OpError, match="ends before byte"):
            list(batches)


def test_a_part_that_is_none_is_refused(path):
    from tfdarshan.lmdb import tensorflow_op

    with Index(path) as index:
        lent = index.lend()
        ops = tensorflow_op.ops()
        for numbers, first, count in (([RECORDS], 0, 1), ([-1], 0, 1), ([0], 2, 1), ([0], 0, -1)):
            with pytest.raises(tf.errors.OpError):
                ops.tfdarshan_lmdb_flat(
                    lent=lent.number, span=0, numbers=np.array(numbers, np.int64), first=first, count=count
                )
        with pytest.raises(tf.errors.FailedPreconditionError):
            ops.tfdarshan_lmdb_flat(lent=1 << 40, span=0, numbers=np.zeros(1, np.int64), first=0, count=1)


def test_more_data_sets_than_can_be_lent_at_once(path):
    # GIVEN more than there are slots, each gone before the next
    with Index(path, snapshot="check") as index:
        for _ in range(600):
            lent = index.lend()
            assert lent is not None
            lent.take_back()
        # WHEN all are lent THEN one more is refused, until one is given back
        lents = [index.lend() for _ in range(300)]
        assert lents[-1] is None
        kept = [lent for lent in lents if lent is not None]
        assert len({lent.number for lent in kept}) == len(kept) <= 256
    with Index(path, snapshot="check") as index:
        assert flattened(read(index, "strings", batch=50)) == VALUES


def test_it_works_without_the_op(path, monkeypatch, tmp_path, capfd):
    from tfdarshan.lmdb import tensorflow_op

    # GIVEN a library that does not load
    tensorflow_op.ops.cache_clear()
    monkeypatch.setattr(tensorflow_op, "LIBRARY", tmp_path / "libnone.so")
    monkeypatch.setattr(batched_records, "READ_BYTES", 50_000)

    # WHEN / THEN
    try:
        assert flattened(read(path, "strings", batch=7)) == VALUES
        assert flattened(read(path, "flat", batch=7)) == VALUES
    finally:
        tensorflow_op.ops.cache_clear()
    said = capfd.readouterr().err
    assert said.count("batches reach TensorFlow through Python: libnone.so cannot be used") == 1


WAIT = "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
ENDS = {
    "exits while it reads": "sys.exit(0)",
    "closes and exits": "index.close(); sys.exit(0)",
    "forks children that end, and that read by Python": (
        f"pid = os.fork(); pid or os._exit(0); first = {WAIT};"
        f"pid = os.fork(); pid or os._exit(len(index.read([1, 2]).tolist()) - 2); sys.exit(first or {WAIT})"
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("how", ENDS)
def test_a_process_ends_as_it_would(path, how):
    program = f"""
        import os, sys
        from tfdarshan.lmdb import Index, dataset
        index = Index({str(path)!r}, snapshot="check")
        batches = iter(dataset(index, batch=1, epochs=None, framework="tensorflow"))
        for _ in range(20):
            next(batches)
        {ENDS[how]}
    """
    environment = {**os.environ, **WITHOUT_KERAS, "TF_CPP_MIN_LOG_LEVEL": "3"}
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=environment, capture_output=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert b"Traceback" not in ran.stderr
