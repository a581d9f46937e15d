"""Files that are read between epochs, while training stands still."""

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.findings.test_cures_of_pipelines import BATCH, LOAD, PATHS
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.reports.views.panel import Headline
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.whole_input import stage_all

KB = 1_000
VALIDATE = LOAD | {"function": "load_validation"}


def job(
    logdir, *, thread=1, epochs=4, validation=60, read_ms=5.0, later_ms=None, memory=1 << 34, pipelines=True,
    validate=VALIDATE, wait_ms=1, readers=1, cached=False, rest_ms=0.0,
):  # fmt: skip
    """Gives a session whose epochs of 20 steps of 30 ms are each followed by a pass over other files.

    With several readers, or where all but the first pass are cached, it takes as long.
    """
    at, calls, steps = 0.0, [], []
    for epoch in range(epochs):
        for step in range(20):
            steps.append((at, at + 30, wait_ms))
            calls.append((at + 2, at + 6, 1, "pread", step, 100 * KB, epoch * 100 * KB))
            at += 30
        each_ms = read_ms if epoch == 0 or later_ms is None else later_ms
        for file in range(validation):
            if epoch == 0 or not cached:
                by, took_ms = thread + file % readers, each_ms * readers
                begin = at - file % readers * each_ms
                calls.append((begin, begin + took_ms, by, "pread", 20 + file, 100 * KB, 0))
            at += each_ms + rest_ms
    reading = [[PATHS, LOAD, BATCH], [PATHS, validate, BATCH]]
    found = [{"stages": one, "pool_threads": None, "datasets": 1, "iterators": epochs} for one in reading]
    return training(
        logdir,
        calls,
        steps,
        paths=[*(f"/data/{n}" for n in range(20)), *(f"/validation/{n}" for n in range(validation))],
        sizes=[10**9] * 20 + [100 * KB] * validation,
        meta={
            "machine": {"cpus": 4, "memory_bytes": memory, "cpu_s": 0.1},
            "pipelines": {"found": found if pipelines else [], "left_out": 0},
        },
    )


def found(session):
    return next((one for one in diagnose(session).findings if one.name == "validation"), None)


@pytest.mark.parametrize("thread", [1, LOOP])
def test_a_validation_set_that_fits_into_memory_is_to_be_kept_there(tmp_path, thread):
    # GIVEN 300 ms of reading after each epoch of 600 ms, by a pipeline or by the loop itself
    one = found(job(tmp_path, thread=thread, pipelines=thread != LOOP))

    # THEN three of four passes are saved
    assert one.kind == "problem"
    assert one.gain.speedup_range[0] > 1.13
    assert one.gain.speedup == pytest.approx(900 / (900 - 0.75 * 300), rel=0.1)
    assert all(path.startswith("/validation/") for path in one.files)
    assert ("load_validation).cache()" in one.cure.line) == (thread != LOOP)


@pytest.mark.parametrize(("thread", "pauses"), [(1, True), (LOOP, True), (1, False)])
def test_a_copy_gives_what_training_stands_still_for_whichever_thread_reads(tmp_path, thread, pauses):
    # GIVEN pauses of 600 ms in which storage serves 10 ms a file, and steps that hardly wait; or none
    read_ms, share = (10.0, 600.0) if pauses else (0.05, 3.0)
    session = job(tmp_path, thread=thread, pipelines=thread != LOOP, read_ms=read_ms)
    measured = measure(session)
    use, facts = measured.use_and_facts

    # WHEN all files are staged
    expected = stage_all(use, facts, LOCAL_SSD).expected

    # THEN three passes between epochs are saved as a whole, but for the disk's time
    assert 3 * share / 1000 * 0.9 <= 4 * expected.saved_s + 0.02
    assert 4 * expected.saved_s <= 3 * share / 1000 + 0.1
    assert (4 * expected.low_s > 1.3) is pauses
    assert facts.pauses_s == (pytest.approx(3 * share / 1000) if pauses else 0)


@pytest.mark.parametrize(("validate", "twice"), [(LOAD, True), (VALIDATE, False)])
def test_a_line_that_two_data_sets_have_is_told_by_what_it_reads(tmp_path, validate, twice):
    # GIVEN data sets of one function, or of two, and steps that wait 20 of 30 ms
    session = job(tmp_path, validate=validate, wait_ms=20, read_ms=20.0)
    cures = [
        one.cure for one in diagnose(session).findings if one.cure and "read_image" in one.cure.instead_of
    ]

    # THEN each cure of a line of both says which one it means, and no other needs to
    of_validation = found(session).cure.what
    assert ("this is the one that is read between epochs, from /validation." in of_validation) is twice
    assert all((" The line stands in several data sets: " in cure.what) is twice for cure in cures)
    assert any("that steps read, from /data." in cure.what for cure in cures) is twice


@pytest.mark.parametrize("read_ms", [2.0, 2.4])
def test_a_job_that_pauses_hold_up_is_not_called_healthy(tmp_path, read_ms):
    # GIVEN steps that hardly wait, and one pause of 120 ms or more in 1.3 s; memory serves the next one
    diagnosis = diagnose(job(tmp_path, epochs=2, read_ms=read_ms, later_ms=0.05))

    # THEN its cure is named; what helps on a condition alone is no problem, and the condition is said
    verdict = diagnosis.verdict
    assert (verdict.state, verdict.finding, verdict.cause) == ("unknown", "staging", "staging")
    assert diagnosis.named.gain == verdict.gain
    assert diagnosis.named.cure.what in verdict.sentence
    assert not diagnosis.problems
    assert "so it helps only if several runs use it." in verdict.sentence
    (headline,) = (panel for panel in findings_panels(diagnosis) if isinstance(panel, Headline))
    assert (headline.sentence, headline.card.name) == (verdict.why, "staging")
    assert headline.promise == "faster, on that condition"


@pytest.mark.parametrize(("later_ms", "kept"), [(None, True), (0.05, False)])
def test_a_set_that_memory_serves_after_the_last_step_is_not_to_be_kept(tmp_path, later_ms, kept):
    # GIVEN one pause of 600 ms, and a pass behind the last step that takes as long, or memory serves
    one = found(job(tmp_path, epochs=2, read_ms=10.0, later_ms=later_ms))

    # THEN of two passes half is saved only where both take long
    assert (one is not None) is kept
    assert one is None or one.gain.saved_s * 40 == pytest.approx(0.5 * 0.95 * 0.6, rel=0.1)


def test_what_memory_serves_of_later_passes_is_not_saved_again(tmp_path):
    # GIVEN a first pass of 600 ms, and later ones of 120
    one = found(job(tmp_path, read_ms=10.0, later_ms=2.0))

    # THEN three of four passes are saved as they are later on: of 2,400 + 600 + 2 x 120 ms
    assert one.gain.saved_s * 80 == pytest.approx(0.75 * 3 * 0.120, rel=0.1)


@pytest.mark.parametrize(("rest_ms", "spared"), [(1.0, True), (10.0, False)])
def test_rests_too_short_for_a_model_are_spared_with_the_calls(tmp_path, rest_ms, spared):
    # GIVEN later passes of 60 calls of 2 ms and rests between them, beside steps that compute 29 ms
    one = found(job(tmp_path, read_ms=10.0, later_ms=2.0, rest_ms=rest_ms))

    # THEN three of four passes are expected to be saved with the rests that are the pipeline's
    rests_s = 59 * rest_ms / 1000 if spared else 0.0
    assert one.stall_s * 80 == pytest.approx(0.95 * 0.75 * 3 * (0.120 + rests_s), rel=0.01)
    assert ("short rests between calls" in [entry.label for entry in one.evidence]) is spared
    # ... and none of the rests is certain
    assert one.gain is None or one.gain.low_s * 80 <= 0.7 * 0.75 * 3 * 0.120 * 1.01


def test_one_that_does_not_fit_is_to_be_read_by_more(tmp_path):
    one = found(job(tmp_path, memory=10_000 * KB))
    assert "map(load_validation, num_parallel_calls=16" in one.cure.line
    assert one.gain.low_s == 0


@pytest.mark.parametrize("changes", [{"validation": 0}, {"read_ms": 0.02}])
def test_pauses_without_reading_are_none(tmp_path, changes):
    assert found(job(tmp_path, **changes)) is None


def test_steps_that_read_the_same_files_are_no_validation(tmp_path):
    # GIVEN an epoch's first batch, which is read before its step begins
    calls, steps, at = [], [], 0.0
    for _ in range(4):
        calls += [(at + 5 * n, at + 5 * n + 5, 1, "pread", n, 100 * KB, 0) for n in range(20)]
        at += 100
        for n in range(20):
            steps.append((at, at + 30, 1))
            calls.append((at + 2, at + 6, 1, "pread", n, 100 * KB, 100 * KB))
            at += 30
    session = training(tmp_path, calls, steps, paths=[f"/data/{n}" for n in range(20)], sizes=[10**9] * 20)
    assert found(session) is None
