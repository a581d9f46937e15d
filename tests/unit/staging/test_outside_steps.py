"""Files that no step reads: staged with the others where there is room, and part of no promise."""

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.staging.synthetic import FAST
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.staging import NAME
from tfdarshan.reports.text.advice_text import render
from tfdarshan.reports.views.panel import Text
from tfdarshan.reports.views.staging_view import staging_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import decide
from tfdarshan.staging.check import compare
from tfdarshan.staging.plan_file import Plan, PlannedFile
from tfdarshan.staging.question import Question
from tfdarshan.staging.run_facts import read_run

MB, FILES, MORE, READ_MS = 1_000_000, 40, 8, 50.0
SAID = "read only before the first step or after the last"


def job(logdir, *, files=FILES, more=MORE, steps=True, read_ms=READ_MS, root="/data"):
    """One epoch of 40 files, whose steps wait for each, and a validation set that is read after the last."""
    calls: list[tuple] = []
    at = 0.0
    for number in range(files + more):
        calls.append((at, at + read_ms / 100, 1, "open", number, 0))
        calls.append((at + read_ms / 100, at + read_ms, 1, "pread", number, MB, 0))
        at += read_ms
        if number == files - 1:
            # The last step ends, and the next read begins behind it.
            at += 1.0
    paths = [
        f"{root}/{'train' if number < files else 'validation'}/{number:03}" for number in range(files + more)
    ]
    marked = epochs_of_steps(files, read_ms, 0.9 * read_ms) if steps else ()
    return training(logdir, calls, marked, paths=paths, sizes=[MB] * (files + more))


def advise(session, **question):
    question = {"fast": "/fast", "room_bytes": 1 << 40, "block_bytes": 1, **question}
    return decide([session], Question(**question), FAST)


def test_a_validation_set_after_the_only_epoch_is_staged_and_not_promised(tmp_path):
    # GIVEN a job, and the same without its validation set
    decision, alone = advise(job(tmp_path / "with")), advise(job(tmp_path / "without", more=0))
    text = " ".join(render(decision.advice).split())

    # THEN all files are staged, and the promise of steps is the same
    assert (len(decision.rows), len(alone.rows)) == (FILES + MORE, FILES)
    assert (decision.advice.outside_steps, alone.advice.outside_steps) == (MORE, 0)
    assert "8 of them are read only before the first step or after the last: a copy shortens no step" in text
    assert SAID not in render(alone.advice)
    for name in ("epoch_s", "saved_s", "low_s", "high_s", "staged_passes", "staged_slow_s", "rest_slow_s"):
        assert getattr(decision.promise, name) == pytest.approx(getattr(alone.promise, name), rel=0.05)
    # ... but the copy takes longer
    assert decision.advice.copy.seconds == pytest.approx(alone.advice.copy.seconds * (FILES + MORE) / FILES)


def test_finding_and_tab_say_it(tmp_path):
    session = job(tmp_path)

    (finding,) = (one for one in diagnose(session).findings if one.name == NAME)
    said = [
        line for panel in staging_view(Source(session)) if isinstance(panel, Text) for line in panel.lines
    ]

    assert finding.fix.what.startswith("Copy 48.0 MB of input to a local disk")
    assert finding.fix.what.endswith(". 8.0 MB of that is read outside of steps, and makes no step faster.")
    assert f"8 of them are {SAID}: a copy shortens no step." in said


def test_they_take_only_the_room_that_is_left(tmp_path):
    session = job(tmp_path)

    chosen = [advise(session, room_bytes=room * MB) for room in (20, FILES, FILES + 3)]

    assert [(len(one.rows), one.advice.outside_steps) for one in chosen] == [(20, 0), (FILES, 0), (43, 3)]


def test_where_nothing_helps_they_are_not_staged(tmp_path):
    # GIVEN files that memory serves
    advice = advise(job(tmp_path, read_ms=0.05)).advice

    assert not advice.helps
    assert (advice.chosen.files, advice.outside_steps) == (0, 0)


def test_without_steps_all_files_count(tmp_path):
    # GIVEN a session that no step was recorded of
    decision = advise(job(tmp_path, steps=False))

    assert (len(decision.rows), decision.advice.outside_steps) == (FILES + MORE, 0)
    assert np.all(decision.saved_s > 0)


def test_of_a_session_without_all_calls_nobody_knows(tmp_path):
    # GIVEN calls of which not all are in the trace
    staged = advise(job(tmp_path)).staged
    assert staged.outside_steps.sum() == MORE
    cut_short = dataclasses.replace(staged.use, traced_share=0.9)
    assert not dataclasses.replace(staged, use=cut_short).outside_steps.any()


def test_the_check_counts_their_copies_and_leaves_them_out_of_its_times(tmp_path):
    # GIVEN the plan of all files, and a run that reads the copies
    decision = advise(job(tmp_path / "before"))
    names = [f"{'train' if row < FILES else 'validation'}/{row:03}" for row in range(FILES + MORE)]
    plan = Plan("/data", "/fast", tuple(PlannedFile(name, MB, 1) for name in names))
    use, facts = read_run([job(tmp_path / "after", read_ms=2.0, root="/fast")])

    found = compare(plan, decision.promise, use, facts, 1)

    assert (found.copies_read, found.originals_read, found.planned) == (FILES + MORE, 0, FILES + MORE)
    assert found.obtained_s == pytest.approx(FILES * 2.0 / 1e3)
    passes = next(one for one in found.assumptions if one.name == "reads of staged files")
    assert (passes.promised, passes.obtained) == (FILES, FILES)


def test_a_single_file_outside_of_steps_is_said(tmp_path):
    # GIVEN one file behind the last step
    session = job(tmp_path, more=1)

    decision = advise(session)
    text = " ".join(render(decision.advice).split())
    (finding,) = (one for one in diagnose(session).findings if one.name == NAME)

    # THEN it is staged; the fix leaves out what is next to nothing
    assert decision.advice.outside_steps == 1
    assert f"1 of them is {SAID}" in text
    assert "outside of steps" not in finding.fix.what
