"""The drain: back pressure, failures of the slow tier, and what the next owner finds."""

import errno
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tfdarshan.checkpoint.bundle import single_file
from tfdarshan.checkpoint.burst_errors import BurstBufferError
from tfdarshan.checkpoint.burst_options import BurstOptions
from tfdarshan.checkpoint.fast_tier import new_id
from tfdarshan.checkpoint.ledger import ledger_path, read_ledger
from tfdarshan.checkpoint.pipeline import Pipeline
from tfdarshan.durable.file_operations import Storage
from tfdarshan.errors import ConfigurationError
from tfdarshan.sessions.session_directory import BURST_CONTROL

SOON_S = 60


class SlowTierSwitch:
    """Lets the slow tier's copies hang or fail until told otherwise; calls `before_sync` in each sealing."""

    def __init__(self):
        self.go, self.hangs, self.error = threading.Event(), threading.Event(), None
        self.before_sync = lambda path: None

    def __call__(self, operation, path):
        if operation == "fsync" and "queue" in path.parts and path.suffix == ".keras":
            self.before_sync(path)
        if operation == "write" and "incoming" in path.parts and path.suffix == ".keras":
            self.hangs.set()
            assert self.go.wait(SOON_S)
            if self.error is not None:
                raise OSError(self.error, os.strerror(self.error), str(path))


@pytest.fixture
def switch():
    return SlowTierSwitch()


@pytest.fixture
def make(tmp_path, switch):
    made = []

    def make_pipeline(**options):
        pipeline = Pipeline(
            tmp_path / "fast", tmp_path / "slow", BurstOptions(**options), storage=Storage(switch)
        )
        made.append(pipeline)
        return pipeline

    yield make_pipeline
    switch.error = None
    switch.go.set()
    for pipeline in made:
        pipeline.close(wait=False)


def save(pipeline, number):
    path = pipeline.fast.folder / f"{number}.keras"
    path.write_bytes(str(number).encode() * 5000)
    if not pipeline.drain.admit():
        return False
    pipeline.capture(single_file(path), unique=new_id(), saved_at=time.time())
    path.unlink()
    return True


def durable(folder):
    return sorted(path.stem for path in folder.glob("*.keras"))


def until(condition):
    deadline_s = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_skip_leaves_a_save_out_when_too_many_wait(make, switch, tmp_path):
    # GIVEN two that wait
    pipeline = make(max_pending=2, when_full="skip")
    assert save(pipeline, 1)
    assert save(pipeline, 2)

    # WHEN / THEN
    assert not save(pipeline, 3)
    switch.go.set()
    assert pipeline.close()
    assert durable(tmp_path / "slow") == ["1", "2"]


def test_wait_holds_the_saver_up_until_one_is_durable(make, switch, tmp_path):
    # GIVEN two that wait
    pipeline = make(max_pending=2, when_full="wait")
    save(pipeline, 1)
    save(pipeline, 2)

    # WHEN a third is saved, and the slow tier is let go only after that
    threading.Timer(0.3, switch.go.set).start()
    began_s = time.monotonic()
    save(pipeline, 3)

    # THEN
    assert time.monotonic() - began_s >= 0.29
    assert pipeline.close()
    assert durable(tmp_path / "slow") == ["1", "2", "3"]


def test_wait_does_not_wait_for_ever(make, switch, tmp_path):
    # GIVEN a slow tier that hangs
    pipeline = make(max_pending=2, when_full="wait", wait_limit_s=0.2)
    save(pipeline, 1)
    assert switch.hangs.wait(SOON_S)
    save(pipeline, 2)

    # WHEN
    assert save(pipeline, 3)
    assert save(pipeline, 4)

    # THEN the newest waits, beside the one that is being copied
    switch.go.set()
    assert pipeline.close()
    assert durable(tmp_path / "slow") == ["1", "4"]


def test_each_series_has_its_newest(make, switch, tmp_path):
    # GIVEN one that is being copied
    pipeline = make(when_full="newest")
    save(pipeline, "a")
    assert switch.hangs.wait(SOON_S)

    # WHEN files of three series are saved by turns
    for name in ("model", "weights-1", "other-1", "weights-2", "other-12", "weights-30"):
        save(pipeline, name)
    switch.go.set()

    # THEN
    assert pipeline.close()
    assert durable(tmp_path / "slow") == ["a", "model", "other-12", "weights-30"]


def test_newest_takes_the_place_of_those_that_wait(make, switch, tmp_path):
    # GIVEN one that is being copied
    pipeline = make(when_full="newest")
    save(pipeline, 1)
    assert switch.hangs.wait(SOON_S)

    # WHEN
    for number in range(2, 7):
        save(pipeline, number)
    waiting = [entry.name for entry in pipeline.status().pending]
    switch.go.set()

    # THEN
    assert waiting == ["1.keras", "6.keras"]
    assert pipeline.close()
    assert durable(tmp_path / "slow") == ["1", "6"]
    outcomes = [row.outcome for row in read_ledger(ledger_path(tmp_path / "fast"))]
    assert sorted(outcomes) == ["slow_durable"] * 2 + ["superseded"] * 4


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.ESTALE])
def test_a_slow_tier_that_fails_is_tried_again(make, switch, tmp_path, code):
    # GIVEN
    switch.error = code
    switch.go.set()
    pipeline = make()
    save(pipeline, 1)
    until(lambda: pipeline.status().problem)

    # WHEN it says what is wrong, and is mended
    problem = pipeline.status().problem
    switch.error = None

    # THEN
    assert problem.startswith(f"{tmp_path}/slow/")
    assert problem.endswith(os.strerror(code))
    assert pipeline.wait(SOON_S)
    (row,) = read_ledger(ledger_path(tmp_path / "slow"))
    assert row.tries >= 2
    assert pipeline.status().problem == ""


def test_a_slow_tier_that_is_away_is_used_again_when_it_is_back(make, switch, tmp_path):
    # GIVEN
    switch.go.set()
    pipeline = make()
    save(pipeline, 1)
    assert pipeline.wait(SOON_S)
    (tmp_path / "slow").rename(tmp_path / "away")
    (tmp_path / "slow").mkdir()
    save(pipeline, 2)
    until(lambda: pipeline.status().problem)
    assert "check whether it is mounted" in pipeline.status().problem

    # WHEN
    (tmp_path / "slow").rmdir()
    (tmp_path / "away").rename(tmp_path / "slow")

    # THEN
    assert pipeline.wait(SOON_S)
    assert durable(tmp_path / "slow") == ["1", "2"]


def test_the_next_run_starts_while_the_slow_tier_is_away_and_drains_when_it_is_back(make, switch, tmp_path):
    # GIVEN a run that ended with one waiting, and a slow tier that is gone
    pipeline = make()
    save(pipeline, 1)
    assert switch.hangs.wait(SOON_S)
    switch.error = errno.EIO
    switch.go.set()
    until(lambda: pipeline.status().problem)
    assert not pipeline.close(wait=False)
    switch.error = None
    (tmp_path / "slow").rename(tmp_path / "away")

    # WHEN the next run starts, saves, and the slow tier comes back
    pipeline = make()
    save(pipeline, 2)
    assert [entry.name for entry in pipeline.status().pending] == ["1.keras", "2.keras"]
    until(lambda: pipeline.status().problem)
    (tmp_path / "away").rename(tmp_path / "slow")

    # THEN
    assert pipeline.wait(SOON_S)
    assert durable(tmp_path / "slow") == ["1", "2"]


def test_a_slow_tier_that_never_worked_is_refused(make, tmp_path):
    # GIVEN a fast tier that knows no slow one, and a file in the place of that
    (tmp_path / "slow").write_text("no folder")

    # WHEN / THEN
    with pytest.raises(BurstBufferError, match=r"slow tier .* cannot be used"):
        make()


def test_a_checkpoint_the_fast_tier_does_not_give_back_holds_up_no_other(make, switch, tmp_path, capsys):
    # GIVEN the first of two loses its bytes before it is copied
    pipeline = make()
    save(pipeline, 1)
    assert switch.hangs.wait(SOON_S)
    save(pipeline, 2)
    save_path = pipeline.fast.path(pipeline.status().pending[1]) / "2.keras"
    save_path.unlink()

    # WHEN
    switch.go.set()
    assert not pipeline.drain.wait(SOON_S)

    # THEN
    assert durable(tmp_path / "slow") == ["1"]
    row = read_ledger(ledger_path(tmp_path / "fast"))[1]
    assert row.outcome == "failed"
    assert "No such file or directory. It is kept in" in row.reason
    (said,) = pipeline.status().aside
    assert said == f"2.keras was not made durable: {row.reason}"
    assert f"tfdarshan: {said}" in capsys.readouterr().err
    assert not pipeline.close()


def test_closing_does_not_wait_for_a_slow_tier_that_keeps_failing(make, switch):
    switch.error = errno.EIO
    switch.go.set()
    pipeline = make(wait_limit_s=0.3)
    save(pipeline, 1)

    assert not pipeline.close()


def copied(tmp_path):
    return [
        path for path in (tmp_path / "slow" / BURST_CONTROL / "incoming").glob("*/*") if path.stat().st_size
    ]


def test_a_checkpoint_is_copied_while_it_is_sealed_and_visible_only_after(make, switch, tmp_path):
    # GIVEN a slow tier that takes what comes
    switch.go.set()
    pipeline = make()
    seen = []

    def sealing(path):
        # WHEN the fast tier's sync takes until the copy is there
        until(lambda: copied(tmp_path))
        time.sleep(0.2)
        seen.append(durable(tmp_path / "slow"))

    switch.before_sync = sealing
    save(pipeline, 1)

    # THEN
    assert pipeline.close()
    assert seen == [[]]
    assert durable(tmp_path / "slow") == ["1"]
    assert (tmp_path / "slow" / "1.keras").read_bytes() == b"1" * 5000


def test_what_cannot_be_sealed_is_taken_back_from_the_slow_tier(make, switch, tmp_path):
    # GIVEN
    switch.go.set()
    pipeline = make()

    def failing(path):
        until(lambda: copied(tmp_path))
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    # WHEN the fast tier fails when the copy is there
    switch.before_sync = failing
    with pytest.raises(OSError, match="Input/output error"):
        save(pipeline, 1)

    # THEN nothing of it stays, and the next one gets through
    until(lambda: not copied(tmp_path))
    switch.before_sync = lambda path: None
    save(pipeline, 2)
    assert pipeline.close()
    assert durable(tmp_path / "slow") == ["2"]


@pytest.mark.parametrize("saves", [1, 2])
def test_a_save_that_fails_while_it_is_copied_lets_go_of_its_files_at_once(make, switch, tmp_path, saves):
    # GIVEN a slow tier that would take minutes
    switch.go.set()
    pipeline = make(bandwidth_mb_s=0.05, buffer_mb=1)
    growing = tmp_path / "fast" / "growing"
    incoming = tmp_path / "slow" / BURST_CONTROL / "incoming"
    began_s = time.monotonic()

    # WHEN saves fail while their files are read
    for _ in range(saves):
        growing.write_bytes(b"1" * 10_000_000)
        with suppress(OSError), pipeline.written_meanwhile(new_id(), lambda: growing):
            until(lambda: any(path.stat().st_size for path in incoming.glob("*/ahead")))
            raise OSError

        # THEN nobody holds them open any more, and nothing of them stays on the slow tier
        opened = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        assert str(growing) not in opened
        assert not list(incoming.iterdir())
    assert time.monotonic() - began_s < SOON_S


def test_a_copy_made_ahead_is_not_used_once_the_slow_tier_was_another(make, switch, tmp_path):
    # GIVEN
    switch.go.set()
    pipeline = make(retry_s=0.05)
    slow, away = tmp_path / "slow", tmp_path / "away"

    def unmounting(path):
        until(lambda: copied(tmp_path))
        time.sleep(0.2)
        # WHEN the slow tier goes away between the copy and the sealing, and comes back
        slow.rename(away)
        slow.mkdir()

    switch.before_sync = unmounting
    save(pipeline, 1)
    until(lambda: "mounted" in pipeline.status().problem)
    slow.rmdir()
    away.rename(slow)

    # THEN
    assert pipeline.close()
    assert durable(slow) == ["1"]
    assert (slow / "1.keras").read_bytes() == b"1" * 5000


def test_the_drain_gives_way_to_training(make, switch):
    # GIVEN a drain that has begun
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    pipeline = make(nice=17)
    save(pipeline, 1)
    assert switch.hangs.wait(SOON_S)

    # THEN its thread is nicer than this one
    niceness = [os.getpriority(os.PRIO_PROCESS, int(task)) for task in os.listdir("/proc/self/task")]
    assert 17 in niceness
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == own < 17


def test_a_child_is_told_to_make_its_own(make):
    pipeline = make()
    child = os.fork()
    if child == 0:
        try:
            save(pipeline, 1)
        except OSError as error:
            os._exit(7 if "belongs to the parent process" in str(error) else 8)
        os._exit(9)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 7


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("when_full", "drop", "when_full must be one of wait, skip, newest, not 'drop'"),
        ("max_pending", 0, "max_pending must be 1 or more"),
        ("nice", 20, "nice must be from 0 to 19"),
        ("bandwidth_mb_s", 0, "bandwidth_mb_s must be positive or None"),
        ("buffer_mb", 0, "buffer_mb must be 1 or more"),
        ("max_to_keep", 0, "max_to_keep must be positive or None"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(tmp_path, option, value, said):
    with pytest.raises(ConfigurationError, match=said):
        Pipeline(tmp_path / "fast", tmp_path / "slow", BurstOptions(**{option: value}))
    assert not (tmp_path / "slow" / BURST_CONTROL / "lock").exists()


@pytest.mark.parametrize(("fast", "slow"), [("a", "a"), ("gs://bucket/a", "b"), ("a", "")])
def test_wrong_folders_are_refused(tmp_path, monkeypatch, fast, slow):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigurationError, match="must be"):
        Pipeline(fast, slow, BurstOptions())
