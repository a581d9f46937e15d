"""While another process writes: what an index gives is of its snapshot, or it is an error."""

import os
import random
import signal
import time

import pytest

from tests.integration.lmdb_reader import writer
from tests.integration.lmdb_reader.databases import found, py_lmdb
from tests.integration.lmdb_reader.forked_child import in_child
from tfdarshan.errors import ConfigurationError, DataFileError
from tfdarshan.lmdb import Index, batched_records, dataset


@pytest.fixture
def path(tmp_path):
    py_lmdb()
    writer.run(tmp_path / "db", 100)
    return tmp_path / "db"


def check_all(index):
    assert found(index) == writer.held_by(index.facts.transaction)


def test_a_held_transaction_keeps_the_snapshot(path, capfd):
    # GIVEN an index, and a writer that replaces all values several times
    with Index(path) as index:
        assert index.holds_transaction
        writer.run(path, 300)

        # WHEN / THEN what is read is what was there
        check_all(index)
        check_all(index)
    assert capfd.readouterr().err.count("is being written to, and grows") == 1


def test_without_a_transaction_a_writer_is_noticed(path):
    # GIVEN an index that holds nothing
    with Index(path, snapshot="check") as index:
        assert not index.holds_transaction
        writer.run(path, 1)

        # WHEN one commit is in the file, which leaves the snapshot's pages alone
        check_all(index)

        # THEN from the second on nothing is given
        writer.run(path, 1)
        with pytest.raises(DataFileError, match="was written to while it was read"):
            index.read([0])
    with Index(path, snapshot="check") as index:
        assert index.facts.transaction == 102
        check_all(index)


def test_a_forked_child_relies_on_its_parents_transaction(path):
    with Index(path) as index:
        # GIVEN a child that lets go what is not its own
        assert in_child(index.close) == 0
        writer.run(path, 300)

        # WHEN / THEN the parent still holds it, and so does another child
        check_all(index)
        assert in_child(lambda: check_all(index)) == 0


def test_a_forked_child_is_told_when_the_transaction_is_gone(path):
    # GIVEN a child of a process that closes its index and goes on
    index = Index(path)
    told, tell = os.pipe()

    def read_when_told():
        os.read(told, 1)
        with pytest.raises(DataFileError, match="was written to while it was read"):
            found(index)

    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            read_when_told()
            code = 0
        finally:
            os._exit(code)

    # WHEN
    index.close()
    writer.run(path, 300)
    os.write(tell, b"x")

    # THEN
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_child_whose_parent_was_killed_is_told(path, tmp_path):
    # GIVEN a process with an index, and its child, which reads until it fails
    said = tmp_path / "said"
    started, start = os.pipe()
    parent = os.fork()
    if parent == 0:
        index = Index(path)
        if os.fork() == 0:
            os.write(start, b"x")
            try:
                while True:
                    index.read([0])
                    time.sleep(0.01)
            except DataFileError as error:
                (tmp_path / "part").write_text(str(error))
                (tmp_path / "part").rename(said)
            os._exit(0)
        signal.pause()
        os._exit(1)
    os.read(started, 1)

    # WHEN the parent is killed, and a writer writes
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    writer.run(path, 3)

    # THEN
    while not said.exists():
        time.sleep(0.01)
    assert "was written to while it was read" in said.read_text()


def read_beside_a_writer(path, snapshot, transactions, least):
    """Open and read until so many transactions were written meanwhile, and `least` reads gave something.

    Return how many did and did not, and how many transactions were written.
    """
    dice, given, refused = random.Random(1), 0, 0
    firsts: list[int] = []
    while given < least or firsts[-1] - firsts[0] < transactions:
        try:
            with Index(path, snapshot=snapshot, threads=3) as index:
                firsts.append(index.facts.transaction)
                right = writer.held_by(index.facts.transaction)
                assert index.keys() == [key for key, _ in right]
                for _ in range(20):
                    numbers = [dice.randrange(writer.RECORDS) for _ in range(40)]
                    values = index.read(numbers).tolist()
                    assert values == [right[number][1] for number in numbers]
                    given += 1
        except DataFileError:
            if snapshot == "transaction":
                raise
            refused += 1
    return given, refused, firsts[-1] - firsts[0]


@pytest.mark.parametrize("snapshot", ["transaction", "check"])
@pytest.mark.parametrize(
    ("per_second", "transactions", "least"),
    # What a minute of the writer has, however long a busy machine takes for it.
    [(100, 20, 60), pytest.param(1000, 60_000, 100, marks=pytest.mark.long)],
    ids=["few", "a minute"],
)
def test_no_wrong_record_beside_a_writer(path, snapshot, per_second, transactions, least):
    start_s = time.monotonic()
    with writer.beside(path, per_second):
        given, refused, written = read_beside_a_writer(path, snapshot, transactions, least)
    rate = written / (time.monotonic() - start_s)
    print(f"{snapshot}: {given:,} reads of 40 records, {refused:,} refused, ", end="")
    print(f"beside {written:,} transactions, {rate:,.0f} a second")


def test_without_a_check_records_beside_a_writer_would_be_wrong(path, monkeypatch):
    """Show that the tests above can fail: the check is what makes them right."""
    monkeypatch.setattr("tfdarshan.lmdb.held_snapshot.SAFE_COMMITS", 1 << 60)
    with Index(path, snapshot="check") as index:
        writer.run(path, 300)
        try:
            given = found(index)
        except DataFileError:  # by chance there is no value any more where one was
            given = None
        assert given != writer.held_by(index.facts.transaction)


def test_a_data_set_that_lost_its_snapshot_ends_with_an_error(path, monkeypatch):
    # GIVEN a data set under way, that reads a little at a time
    monkeypatch.setattr(batched_records, "READ_BYTES", 5000)
    with Index(path, snapshot="check") as index:
        batches = iter(dataset(index, batch=1))
        assert next(batches)[0] == writer.held_by(index.facts.transaction)[0][1]
        writer.run(path, 10)

        # WHEN / THEN it ends, and gives nothing wrong before
        right = [value for _, value in writer.held_by(index.facts.transaction)]
        given: list[bytes] = []
        with pytest.raises(DataFileError, match="was written to while it was read"):
            given.extend(value for batch in batches for value in batch.tolist())
        assert given == right[1 : 1 + len(given)]


def test_py_lmdb_opens_what_a_data_set_reads(path):
    # GIVEN a data set of an index that holds nothing
    with Index(path, snapshot="check") as index:
        batches = iter(dataset(index, batch=7))
        next(batches)

        # WHEN the job opens its database, too
        environment = py_lmdb().open(str(path), subdir=path.is_dir(), readonly=True)
        entries = environment.stat()["entries"]
        environment.close()

        # THEN both read
        assert 7 + sum(len(batch) for batch in batches) == entries


def test_a_data_set_reads_what_py_lmdb_has_open(path):
    # GIVEN
    environment = py_lmdb().open(str(path), subdir=path.is_dir(), readonly=True)

    # WHEN / THEN
    with Index(path) as index:
        assert not index.holds_transaction
        assert sum(len(batch) for batch in dataset(index, batch=7)) == environment.stat()["entries"]
    environment.close()


@pytest.fixture
def environment(path):
    """The database as a job has it open by py-lmdb."""
    with py_lmdb().open(str(path), readonly=True) as opened:
        yield opened


def test_a_transaction_is_held_in_the_environment_that_the_job_has_open(path, environment):
    # GIVEN an index of that environment, and a writer that replaces all values several times
    with Index(environment) as index:
        assert index.holds_transaction
        writer.run(path, 300)

        # WHEN / THEN what is read is what was there
        check_all(index)
        assert sum(len(batch) for batch in dataset(index, batch=7)) == writer.RECORDS

    # THEN the environment is the job's to close
    assert environment.stat()["entries"] == writer.RECORDS
    assert sum(len(batch) for batch in dataset(environment, batch=7)) == writer.RECORDS


def test_a_job_that_closes_its_environment_is_told_of_a_writer(path, environment):
    # GIVEN
    index = Index(environment)
    environment.close()

    # WHEN
    writer.run(path, 300)

    # THEN
    with pytest.raises(DataFileError, match="was written to while it was read"):
        index.read([0])
    index.close()


def test_a_forked_child_checks_beside_the_jobs_environment(path, environment):
    # GIVEN a child that cannot see whether its parent closes the environment
    with Index(environment) as index:

        def refused():
            with pytest.raises(DataFileError, match="was written to while it was read"):
                index.read([0])

        # WHEN
        writer.run(path, 300)

        # THEN
        assert in_child(refused) == 0
        check_all(index)


def test_an_environment_without_locks_holds_nothing(path):
    with py_lmdb().open(str(path), readonly=True, lock=False) as environment, Index(environment) as index:
        assert not index.holds_transaction


def test_what_is_open_already_is_asked_for(path, environment):
    with pytest.raises(ConfigurationError) as refused:
        Index(path, snapshot="transaction")

    assert str(refused.value) == (
        f"{path}: no transaction can be held: The environment '{path}' is already open in this process. "
        "If this job has the database open by py-lmdb, give that environment in place of the path."
    )
