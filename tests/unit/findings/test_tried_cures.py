"""A cure that a later session of the job shows to be without effect is not offered again, with why."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.findings.test_assumptions import crowded
from tests.unit.findings.test_best_cure import finding
from tests.unit.findings.test_cures_of_pipelines import BATCH, DECODE, LOAD, PATHS
from tests.unit.findings.test_cures_of_pipelines import job as of_tf_data
from tests.unit.findings.test_validation import job as of_validation
from tfdarshan.findings.diagnosis import diagnose, diagnosis_of
from tfdarshan.findings.finding import Cure
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.tried_cures import tried_cures
from tfdarshan.reports.text.findings_text import findings_text
from tfdarshan.session import open_session


def one_after_the_other(logdir, *sessions, command="python train.py"):
    """Puts sessions into one logdir, a minute apart; the last has the command. Gives the last one."""
    for minute, session in enumerate(sessions):
        target = logdir / "plugins" / "tfdarshan" / f"2026_01_01_00_{minute:02}_00"
        shutil.copytree(session.path, target)
    (meta,) = target.glob("*.meta.json")
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"command": command}))
    return open_session(target)


def reading(folder, calls=None, *, step_ms=50.0):
    """Gives a job of one map with so many calls, whose steps wait for all but 5 ms for one read at a time."""
    session = of_tf_data(folder, PATHS, LOAD | {"calls": calls}, BATCH)
    if step_ms == 50.0:
        return session
    calls_made = [(step_ms * n, step_ms * n + step_ms - 5, 1, "pread", 0, 100_000, n) for n in range(200)]
    meta = json.loads(next(session.path.glob("*.meta.json")).read_text())
    kept = {"pipelines": meta["pipelines"]}
    steps = epochs_of_steps(200, step_ms, step_ms - 5)
    return training(folder / "quick", calls_made, steps, paths=["/data/0"], sizes=[10**12], meta=kept)


def offered(session, name="read_parallelism"):
    found = next((one for one in diagnose(session).findings if one.name == name), None)
    return found is not None and found.cure is not None


def test_what_was_applied_in_vain_is_not_offered_again_with_a_larger_number(tmp_path):
    # GIVEN a job that was told to read with more calls at a time, and reads with 4 since, no quicker
    first, second = reading(tmp_path / "a"), reading(tmp_path / "b", 4)
    assert offered(first)
    assert offered(second)

    # WHEN both are in one logdir
    session = one_after_the_other(tmp_path / "logs", first, second)
    found = diagnose(session)

    # THEN it is a note without a cure, and says why
    (note,) = (one for one in found.findings if one.name == "read_parallelism")
    assert (note.kind, note.cure, note.gain) == ("note", None, None)
    assert found.verdict.finding != "read_parallelism"
    text = " ".join(findings_text(found).split())
    assert "Session 2026_01_01_00_00_00 was told to cure this, with " in text
    assert "the cure is in, and a step takes 50.0 ms after 50.0 ms. It is not offered again." in text


@pytest.mark.parametrize("why", ["it helped", "it is not in", "it was taken out again", "another job"])
def test_it_is_offered_if_nothing_shows_that_it_is_in_vain(tmp_path, why):
    # GIVEN
    first = reading(tmp_path / "a")
    later = {
        "it helped": [reading(tmp_path / "b", 4, step_ms=25.0)],
        "it is not in": [reading(tmp_path / "c")],
        "it was taken out again": [reading(tmp_path / "d", 4), reading(tmp_path / "e")],
        "another job": [reading(tmp_path / "f", 4)],
    }[why]
    command = "python other.py" if why == "another job" else "python train.py"

    # THEN
    assert offered(one_after_the_other(tmp_path / "logs", first, *later, command=command))


def fewer(folder, step_ms):
    """Gives the job `crowded` with 2 readers throughout, whose steps are that long."""
    calls = [
        (at, at + 4, tid + 1, "pread", tid, 400_000, at * 1_000_000)
        for at in range(0, int(20 * step_ms), 4)
        for tid in range(2)
    ]
    steps = epochs_of_steps(20, step_ms, 0.9 * step_ms)
    return training(folder, calls, steps, paths=[f"/data/{n}" for n in range(2)], sizes=[10**11] * 2)


def test_a_job_that_was_cured_of_too_many_threads_is_not_told_to_use_16(tmp_path):
    # GIVEN storage that gives more to fewer readers, and the job with fewer, quicker by half
    first, second = crowded(tmp_path / "a"), fewer(tmp_path / "b", 50.0)
    assert "too_many_threads" in [one.name for one in diagnose(first).problems]
    assert offered(second)

    # WHEN
    session = one_after_the_other(tmp_path / "logs", first, second)

    # THEN
    assert not offered(session)
    note = next(one for one in diagnose(session).findings if one.name == "read_parallelism")
    assert "this would undo what fewer reads at a time gave: a step takes 50.0 ms after 100.0 ms" in note.what


CACHE, CUT = {"name": "cache"}, {"name": "take", "size": 9}


@pytest.mark.parametrize(
    ("later", "is_in"),
    [
        ((PATHS, LOAD, {"name": "take", "size": 144}, CACHE, BATCH), True),
        ((PATHS, LOAD, {"name": "take", "size": 144}, CACHE, BATCH, CUT), True),
        ((PATHS, LOAD, BATCH, CACHE, CUT), True),
        ((PATHS, LOAD, CACHE, BATCH, CUT, {"name": "prefetch", "size": -1}), False),
    ],
    ids=["moved behind the cut", "with another cut before it", "moved", "as it was"],
)
def test_a_cache_that_was_moved_in_vain_is_not_to_be_moved_again(tmp_path, later, is_in):
    # GIVEN a job that was told to put its cache() where it fills; a step takes as long since
    both = enumerate(((PATHS, LOAD, CACHE, BATCH, CUT), later))
    jobs = [measure(of_tf_data(tmp_path / str(n), *stages)) for n, stages in both]

    # WHEN
    tried = tried_cures(jobs, lambda _: [finding("fits_in_memory", 1.5)])

    # THEN
    assert [one.name for one in tried] == ["fits_in_memory"] * is_in


@pytest.mark.parametrize("keeps", [True, False])
def test_so_it_is_of_a_cache_that_was_to_keep_what_is_decoded(tmp_path, keeps):
    # GIVEN a job that was told to keep what it decodes, or to decode with more calls; it has a cache() since
    both = enumerate(((PATHS, LOAD, DECODE, BATCH), (PATHS, LOAD, DECODE, CACHE, BATCH)))
    jobs = [measure(of_tf_data(tmp_path / str(n), *stages)) for n, stages in both]
    decode = "dataset = dataset.map(decode, num_parallel_calls=2)"
    cure = Cure("", f"{decode}.cache()" if keeps else decode.replace("2", "tf.data.AUTOTUNE"), decode)

    # WHEN
    tried = tried_cures(jobs, lambda _: [replace(finding("decode_bound", 1.5), cure=cure)])

    # THEN
    assert [one.name for one in tried] == ["decode_bound"] * keeps


@pytest.mark.parametrize("cached", [True, False])
def test_a_validation_set_is_not_to_be_kept_again_once_that_was_in_vain(tmp_path, cached):
    # GIVEN a job that was told to keep its validation set in memory; a pause takes as long since
    first = of_validation(tmp_path / "a", read_ms=20.0)
    second = of_validation(tmp_path / "b", read_ms=20.0, cached=cached)
    assert offered(first, "validation")
    assert offered(second, "validation")

    # WHEN
    session = one_after_the_other(tmp_path / "logs", first, second)

    # THEN it is not offered again if it is in
    assert offered(session, "validation") is not cached


@pytest.mark.parametrize("readers", [1, 4])
def test_so_it_is_of_more_calls_for_a_validation_set(tmp_path, readers):
    # GIVEN one that does not fit into memory, is read by more calls, and takes as long
    jobs = [
        of_validation(tmp_path / str(n), read_ms=20.0, memory=10_000_000, readers=count)
        for n, count in enumerate((1, readers))
    ]

    # WHEN
    tried = tried_cures([measure(one) for one in jobs], lambda one: diagnosis_of(one).problems)

    # THEN
    assert [one.name for one in tried] == ["validation"] * (readers > 1)
