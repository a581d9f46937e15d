"""`tfdarshan burst` beside a job of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests import later_tensorflow as tf
from tfdarshan.checkpoint.bundle import single_file
from tfdarshan.checkpoint.burst_options import BurstOptions
from tfdarshan.checkpoint.ownership import owner_of
from tfdarshan.checkpoint.pipeline import Pipeline
from tfdarshan.checkpoint.watch import Watch
from tfdarshan.commands import main
from tfdarshan.sessions.session_directory import BURST_CONTROL

JOB = Path(__file__).with_name("job.py")
SAVES = 4


@pytest.fixture
def started():
    processes = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def wait_for_owner(folder, process):
    """Wait until the process owns the folder."""
    deadline_s = time.monotonic() + 60
    while owner_of(folder / BURST_CONTROL / "lock") is None:
        assert time.monotonic() < deadline_s
        assert process.poll() is None
        time.sleep(0.05)


def output(capsys, *arguments):
    code = main([*map(str, arguments)])
    return code, capsys.readouterr()


def test_run_takes_over_what_an_untouched_job_saves(started, tmp_path):
    # GIVEN a watch that is there before the job writes
    fast, slow = tmp_path / "fast", tmp_path / "slow"
    fast.mkdir()
    burst = started("-m", "tfdarshan", "burst", "run", "--json", fast, slow)
    wait_for_owner(slow, burst)

    # WHEN the job has saved all, and files have had time to settle
    job = started(JOB, fast, SAVES)
    assert job.stdout.readline() == "saved\n"
    time.sleep(1.5)
    burst.send_signal(signal.SIGTERM)
    said, complained = burst.communicate(timeout=120)

    # THEN the last of each is durable and whole
    assert (burst.returncode, complained) == (0, "")
    latest = tf.train.latest_checkpoint(str(slow))
    assert latest == str(slow / f"ckpt-{SAVES}")
    np.testing.assert_array_equal(
        tf.train.load_variable(latest, "value/.ATTRIBUTES/VARIABLE_VALUE"),
        np.full(50_000, SAVES, np.float32),
    )
    assert len(tf.keras.models.load_model(slow / "model.keras").get_weights()) == 2
    assert (slow / f"{SAVES}.weights.h5").read_bytes() == (fast / f"{SAVES}.weights.h5").read_bytes()
    durable = [json.loads(line)["durable"] for line in said.splitlines()]
    assert {f"ckpt-{SAVES}", "model.keras", f"{SAVES}.weights.h5"} <= set(durable)

    # and what the job wrote is as it was
    assert tf.train.latest_checkpoint(str(fast)) == str(fast / f"ckpt-{SAVES}")


def test_a_second_watch_takes_nothing_twice(started, tmp_path):
    # GIVEN a watch that has ended
    fast, slow = tmp_path / "fast", tmp_path / "slow"
    fast.mkdir()
    tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1)), fast, max_to_keep=1).save()
    for _ in range(2):
        # WHEN it is run again
        burst = started("-m", "tfdarshan", "burst", "run", "--json", fast, slow)
        wait_for_owner(slow, burst)
        deadline_s = time.monotonic() + 60
        while tf.train.latest_checkpoint(str(slow)) is None:
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        time.sleep(1.0)
        burst.send_signal(signal.SIGINT)
        burst.communicate(timeout=60)
        assert burst.returncode == 0

    # THEN
    assert sorted(path.name for path in slow.glob("[!.]*.index")) == ["ckpt-1.index"]


def leave_one_waiting(tmp_path):
    """Leave a checkpoint on the fast tier."""
    fast, slow = tmp_path / "fast", tmp_path / "slow"
    pipeline = Pipeline(fast, slow, BurstOptions(bandwidth_mb_s=0.01))
    (fast / "a.keras").write_bytes(bytes(100_000))
    pipeline.capture(single_file(fast / "a.keras"), unique="one", saved_at=1.0)
    pipeline.close(wait=False)
    return fast, slow


def save_file(path):
    """Save a file as Keras does."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weights", os.urandom(1000))


@pytest.fixture
def watched(tmp_path):
    """Make watches of one folder, one after the other, and the time that they have."""
    pipelines: list[Pipeline] = []
    now_s = [0.0]

    def begin(**options):
        for pipeline in pipelines:
            pipeline.close()
        (tmp_path / "fast").mkdir(exist_ok=True)
        pipelines.append(Pipeline(tmp_path / "fast", tmp_path / "slow", BurstOptions(**options)))
        return Watch(pipelines[-1], clock=lambda: now_s[0])

    yield begin, now_s
    for pipeline in pipelines:
        pipeline.close(wait=False)


@pytest.mark.parametrize("ahead_s", [-3600, 0, 3600])
def test_a_file_is_whole_once_it_was_seen_unchanged_for_a_second(watched, tmp_path, ahead_s):
    # GIVEN a file of a clock that may be another one
    begin, now_s = watched
    watch, path = begin(), tmp_path / "fast" / "a.keras"
    save_file(path)
    os.utime(path, (time.time() + ahead_s, time.time() + ahead_s))

    # THEN it is taken when it has not changed for a second, and that is known before
    assert (watch.take_new(), watch.unsettled) == ([], ["a.keras"])
    now_s[0] = 0.9
    assert watch.take_new() == []
    save_file(path)
    now_s[0] = 1.1
    assert (watch.take_new(), watch.unsettled) == ([], ["a.keras"])
    now_s[0] = 2.2
    assert (watch.take_new(), watch.unsettled) == (["a.keras"], [])
    assert watch.take_new() == []


def test_the_next_watch_takes_a_file_again_only_if_it_was_saved_again(watched, tmp_path):
    # GIVEN a file that is durable
    begin, now_s = watched
    path = tmp_path / "fast" / "a.keras"
    watch = begin()
    save_file(path)
    watch.take_new()
    now_s[0] = 2.0
    assert watch.take_new() == ["a.keras"]

    # WHEN / THEN
    watch = begin(bandwidth_mb_s=0.0001)
    watch.take_new()
    now_s[0] = 4.0
    assert watch.take_new() == []

    # and if what waits is of an earlier save than what the job has left
    save_file(path)
    watch.take_new()
    now_s[0] = 6.0
    assert watch.take_new() == ["a.keras"]
    watch._pipeline.close(wait=False)
    save_file(path)
    watch = begin()
    watch.take_new()
    now_s[0] = 8.0
    assert watch.take_new() == ["a.keras"]
    assert watch._pipeline.close()
    assert (tmp_path / "slow" / "a.keras").read_bytes() == path.read_bytes()


def test_what_was_saved_just_before_the_stop_is_durable(started, tmp_path):
    # GIVEN
    fast, slow = tmp_path / "fast", tmp_path / "slow"
    fast.mkdir()
    burst = started("-m", "tfdarshan", "burst", "run", fast, slow)
    wait_for_owner(slow, burst)

    # WHEN
    save_file(fast / "last.keras")
    burst.send_signal(signal.SIGTERM)
    said, complained = burst.communicate(timeout=120)

    # THEN
    assert (burst.returncode, complained) == (0, "")
    assert said.startswith(f"durable: {slow / 'last.keras'}, ")


def test_drain_says_what_it_sets_aside(capsys, tmp_path):
    # GIVEN a file that waits, and a newer one of that name from another fast tier
    fast, slow = leave_one_waiting(tmp_path)
    other = Pipeline(tmp_path / "other", slow, BurstOptions())
    save_file(tmp_path / "other" / "a.keras")
    other.capture(single_file(tmp_path / "other" / "a.keras"), unique="two", saved_at=2.0)
    assert other.close()

    # WHEN
    code, said = output(capsys, "burst", "drain", fast, slow)

    # THEN
    aside = fast / BURST_CONTROL / "queue" / "00000001-one.aside"
    why = f"a.keras is older than what another fast tier has put into {slow} since. It is kept in {aside}."
    assert (code, said.out) == (1, "")
    assert said.err == f"tfdarshan: a.keras was not made durable: {why}\n"


def test_drain_finishes_what_an_ended_job_left(capsys, tmp_path):
    # GIVEN
    fast, slow = leave_one_waiting(tmp_path)
    assert not (slow / "a.keras").exists()
    _, said = output(capsys, "burst", "status", "--json", fast)
    before = json.loads(said.out)

    # WHEN
    code, said = output(capsys, "burst", "drain", fast, slow)

    # THEN
    assert [entry["name"] for entry in before["pending"]] == ["a.keras"]
    assert (code, said.err) == (0, "")
    assert said.out.startswith(f"durable: {slow / 'a.keras'}, 100.0 kB copied in ")
    assert (slow / "a.keras").read_bytes() == bytes(100_000)
    code, said = output(capsys, "burst", "drain", fast, slow)
    assert (code, said.out) == (0, f"nothing waits in {fast}\n")


def save_checkpoint(folder, step):
    """Save a checkpoint as TensorFlow does."""
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(step)), folder, max_to_keep=1)
    manager.save(checkpoint_number=step)


def test_drain_takes_what_a_watch_that_was_killed_has_not(started, capsys, tmp_path):
    # GIVEN a watch that is killed, and the job with it
    fast, slow = tmp_path / "fast", tmp_path / "slow"
    fast.mkdir()
    burst = started("-m", "tfdarshan", "burst", "run", fast, slow)
    wait_for_owner(slow, burst)
    burst.kill()
    burst.communicate()
    save_file(fast / "last.keras")
    save_checkpoint(fast, 7)

    # WHEN
    code, said = output(capsys, "burst", "drain", fast, slow)

    # THEN
    assert (code, said.err, len(said.out.splitlines())) == (0, "", 2)
    assert (slow / "last.keras").read_bytes() == (fast / "last.keras").read_bytes()
    assert tf.train.latest_checkpoint(str(slow)) == str(slow / "ckpt-7")
    assert output(capsys, "burst", "drain", fast, slow)[1].out == f"nothing waits in {fast}\n"


def test_drain_takes_nothing_that_is_durable_or_was_set_aside(capsys, tmp_path):
    # GIVEN a checkpoint that is durable, one of another fast tier that is newer, and an older one set aside
    fast, other, slow = (tmp_path / name for name in ("fast", "other", "slow"))
    fast.mkdir()
    save_checkpoint(fast, 1)
    assert output(capsys, "burst", "drain", fast, slow)[0] == 0
    save_checkpoint(tmp_path / "late", 2)
    other.mkdir()
    save_checkpoint(other, 3)
    assert output(capsys, "burst", "drain", other, slow)[0] == 0

    # WHEN / THEN
    code, said = output(capsys, "burst", "drain", fast, slow)
    assert (code, said.out, said.err) == (0, f"nothing waits in {fast}\n", "")

    # and what is set aside is told once
    for path in (tmp_path / "late").iterdir():
        path.replace(fast / path.name)
    code, said = output(capsys, "burst", "drain", fast, slow)
    assert (code, said.out) == (1, "")
    assert said.err.startswith("tfdarshan: ckpt-2 was not made durable: ckpt-2 is older than what another")
    code, said = output(capsys, "burst", "drain", fast, slow)
    assert (code, said.out, said.err) == (0, f"nothing waits in {fast}\n", "")
    assert tf.train.latest_checkpoint(str(slow)) == str(slow / "ckpt-3")


def test_status_says_what_is_damaged_and_exits_with_it(capsys, tmp_path):
    # GIVEN a durable file that rots
    fast, slow = leave_one_waiting(tmp_path)
    output(capsys, "burst", "drain", fast, slow)
    code, said = output(capsys, "burst", "status", "--verify", slow)
    assert (code, "verified     1 checkpoint, all as written" in said.out) == (0, True)
    with open(slow / "a.keras", "r+b") as file:
        file.write(b"?")

    # WHEN
    code, said = output(capsys, "burst", "status", "--verify", slow)

    # THEN
    assert code == 1
    assert f"damaged      a.keras: {slow / 'a.keras'}: the copy holds other bytes" in said.out


def test_status_names_the_owner(capsys, tmp_path):
    pipeline = Pipeline(tmp_path / "fast", tmp_path / "slow", BurstOptions())

    _, said = output(capsys, "burst", "status", tmp_path / "slow")

    assert f"slow tier, in use by process {os.getpid()} on" in said.out
    pipeline.close()


def test_wrong_folders_are_refused_in_a_sentence(capsys, tmp_path):
    (tmp_path / "empty").mkdir()

    code, said = output(capsys, "burst", "status", tmp_path / "empty")
    assert code == 1
    assert said.err.startswith(f"tfdarshan: {tmp_path / 'empty'} has no .tfdarshan-burst: name the fast or")
    code, said = output(capsys, "burst", "run", tmp_path / "missing", tmp_path / "slow")
    assert (code, said.err) == (
        2,
        f"tfdarshan: {tmp_path / 'missing'} is not a folder: name the one that the job writes to.\n",
    )
    code, said = output(capsys, "burst", "drain", tmp_path / "empty", tmp_path / "empty")
    assert (code, "they must be two folders" in said.err) == (2, True)


@pytest.mark.parametrize("verb", ["run", "drain", "status"])
def test_each_verb_has_help_and_json(capsys, verb):
    with pytest.raises(SystemExit) as ended:
        main(["burst", verb, "--help"])

    assert ended.value.code == 0
    assert "--json" in capsys.readouterr().out
