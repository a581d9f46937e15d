"""LMDBIO's arms on small databases: each reads every record once, and what goes wrong is said."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("lmdb", reason="py-lmdb is not installed")

from tfdarshan.errors import ConfigurationError, StorageError
from tfdarshan.workloads import runner
from tfdarshan.workloads.fuse_mount import check_fuse
from tfdarshan.workloads.lmdbio import arm, matrix, model_rows
from tfdarshan.workloads.lmdbio.arm import ARMS, COAL, DM, LMDB, LMM, OURS
from tfdarshan.workloads.lmdbio.caffe_records import CIFAR10, IMAGENET, RecordKind, make_database
from tfdarshan.workloads.lmdbio.reader_team import TEAMS, read_all
from tfdarshan.workloads.result import ASSUMED, SCALE, SHAPE, Result

TINY = RecordKind(name="tiny", side=20, key_digits=4, batch=3)


@pytest.fixture
def database(tmp_path):
    """50 records: batches of 3 that no number of readers divides evenly."""
    return make_database(tmp_path, TINY, 50, seed=5)


@pytest.mark.parametrize("team", TEAMS)
@pytest.mark.parametrize("readers", [1, 3, 8])
def test_every_arm_reads_every_record_once(database, team, readers):
    for kind in ARMS:
        assert read_all(kind, database, readers, team).content == database.content, kind.name


@pytest.mark.parametrize("team", TEAMS)
@pytest.mark.parametrize("kind", [LMDB, LMM, DM, COAL, OURS], ids=lambda kind: kind.name)
def test_more_readers_than_records_are_no_harm(tmp_path, team, kind):
    database = make_database(tmp_path, TINY, 2, seed=0)
    assert read_all(kind, database, 5, team).content == database.content


def killed(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def failing(*arguments):
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize(
    ("reads", "message"), [(killed, "it was killed"), (failing, "Input/output error")], ids=["killed", "EIO"]
)
def test_a_process_that_fails_ends_all(database, monkeypatch, reads, message):
    # GIVEN a reader that shares what it reads, for which the others wait
    monkeypatch.setattr(arm, "_give_out", reads)
    # WHEN / THEN one sentence, and nobody is left waiting
    with pytest.raises(StorageError, match=message):
        read_all(LMM, database, 3, "processes")
    assert multiprocessing.active_children() == []


def test_a_thread_that_fails_ends_all(database, monkeypatch):
    monkeypatch.setattr(arm, "_give_out", failing)
    with pytest.raises(OSError, match="Input/output error"):
        read_all(LMM, database, 3, "threads")


def test_a_thread_that_cannot_take_a_record_ends_all(database, monkeypatch):
    # GIVEN a reader that fails at its first record, while the one that shares has many more for it
    def refuse(self, key, value):
        raise ValueError("no such key")

    monkeypatch.setattr(arm.Tally, "take", refuse)
    with pytest.raises(ValueError, match="no such key"):
        read_all(LMM, database, 2, "threads")


@pytest.fixture
def small(monkeypatch):
    """Settings of a second or two: one database, and three points of the model's axis."""
    scale = matrix.Scale(records={CIFAR10.name: 70}, readers=(2,), wake_up_readers=(2,))
    monkeypatch.setattr(matrix, "QUICK", scale)
    monkeypatch.setattr(model_rows, "AXIS", (1, 36, 288))


def run(tier: str, work_dir: Path) -> Result:
    plan = runner.Plan(names=("lmdbio",), tiers=(tier,), work_dir=work_dir, quick=True)
    return runner.run_plan(plan, say=lambda line: None)[0]


def kinds_of(result: Result) -> dict[str, str]:
    return {row.what: row.kind for row in result.rows}


MODEL_ROWS = 1 + 2 * (7 + 2)


@pytest.mark.long
def test_the_table_has_each_arm_and_both_models(small, tmp_path):
    pytest.importorskip("simpy", reason="SimPy is not installed")
    # WHEN
    result = run("cached", tmp_path)
    # THEN all that was read is what was written, by every arm
    assert result.ok
    assert [check.what for check in result.checks] == [
        "cifar10: records",
        "cifar10: bytes of their values",
        "cifar10: hash of all keys and values",
    ]
    assert result.checks[0].counted == 70
    # AND each arm is a row and two sessions, of threads and of processes
    rows = kinds_of(result)
    for kind in ARMS:
        assert rows[f"cifar10: {kind.name}, MB/s by 2 readers"] == SCALE
    assert [len(found.sessions) for found in result.arms] == [1] * 2 * len(ARMS)
    # AND the model's rows say what they are
    modelled = [row for row in result.rows if row.what.startswith("model")]
    assert len(modelled) == MODEL_ROWS
    assert {row.kind for row in modelled} == {ASSUMED}
    assert all(model_rows.FITTED in row.note for row in modelled[1:])
    whole = [row for row in modelled if "best arm by LMDB" in row.what]
    assert [row.paper for row in whole] == ["up to 65x", "up to 65x"]
    assert f"model: {model_rows.FITTED}; all that follows is assumed" in result.legend


def test_a_record_that_is_not_what_was_written_is_found(small, tmp_path, monkeypatch):
    # GIVEN readers of a data set that leave a record out
    monkeypatch.setattr(matrix, "ARMS", (LMDB, DM, OURS))
    reads = arm._READERS["dataset"]

    def leave_out(job, index, which, tally):
        reads(job, index, which, tally)
        tally.records -= 1

    monkeypatch.setitem(arm._READERS, "dataset", leave_out)
    # WHEN
    result = run("cached", tmp_path)
    # THEN the check under the arm's own name is wrong
    assert not result.ok
    wrong = [check for check in result.checks if not check.ok]
    assert ("cifar10: dataset, 2 threads: records", 70, 68) in [
        (check.what, check.expected, check.counted) for check in wrong
    ]


def test_page_faults_are_not_emulated_where_there_is_no_fuse(small, tmp_path, monkeypatch):
    # GIVEN a machine that cannot mount
    def refuse():
        raise ConfigurationError("storage by FUSE needs root.")

    monkeypatch.setattr(runner, "check_fuse", refuse)
    # WHEN
    result = run("hdd", tmp_path)
    # THEN nothing was read, and it says why
    assert result.tier_said == (
        "nothing is read, as no emulation slows page faults, and storage by FUSE needs root."
    )
    assert result.ok
    assert result.arms == []


def test_without_simpy_the_axis_is_left_out_in_a_sentence(small, tmp_path, monkeypatch):
    monkeypatch.setattr(model_rows.importlib.util, "find_spec", lambda name: None)
    result = Result("lmdbio", "", "", True, 1, "")
    said: list[str] = []
    model_rows.add_model_rows(result, said.append)
    assert result.notes == said == [model_rows.WITHOUT_SIMPY]
    assert result.rows == []


def on_fuse():
    try:
        check_fuse()
    except ConfigurationError as error:
        pytest.skip(str(error))


@pytest.mark.long
def test_readers_sleep_for_their_own_page_alone(small, tmp_path):
    on_fuse()
    result = run("lustre", tmp_path)
    assert result.ok
    assert "cifar10: DM, 2 processes: sleeps a request" in kinds_of(result)
    assert result.arm("wake-ups, 2 processes").median("switches_a_request") > 0


@pytest.mark.long
@pytest.mark.timeout(900)
def test_all_arms_on_a_disk_that_seeks(tmp_path, monkeypatch):
    on_fuse()
    monkeypatch.setattr(matrix, "QUICK", dataclasses.replace(matrix.QUICK, readers=(1, 8)))
    monkeypatch.setattr(model_rows, "AXIS", (1, 36))
    result = run("hdd", tmp_path)
    # THEN nothing is wrong, and skipping readers lose on a seeking disk what one reader that shares keeps
    assert result.ok
    usual = result.arm("imagenet: LMDB, 8 processes").median("mb_s")
    assert result.arm("imagenet: LMM, 8 processes").median("mb_s") > 2 * usual
    assert result.arm("imagenet: LMDB, 1 processes").median("mb_s") > 2 * usual
    # AND no completed read wakes all sixteen
    assert kinds_of(result)[f"{IMAGENET.name}: DM, 16 processes: sleeps a request"] == SHAPE
    assert result.arm("wake-ups, 16 processes").median("switches_a_request") < 8
