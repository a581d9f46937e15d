"""Promised against obtained, on jobs whose every number is known."""

import dataclasses
import os

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.staging.synthetic import FAST, HDD, file_use, job_of, malware_like, run_of
from tfdarshan.errors import ConfigurationError
from tfdarshan.file_name import table_name
from tfdarshan.reports.text.staging_check_text import render_check
from tfdarshan.staging.advice import decide_on
from tfdarshan.staging.check import compare
from tfdarshan.staging.plan_file import Plan, PlannedFile
from tfdarshan.staging.question import Question
from tfdarshan.terminal.paint import WIDTH

COUNT = 400


def staged_run(fast=(20e-6, 1 / 2e9), slow=HDD, opens=None):
    """Return plan and promise for a job, and the use and run of the same job on its mirror."""
    size, before = malware_like(COUNT), np.ones(COUNT)
    use = file_use(size, before)
    room_bytes = int(size.sum() // 4)
    question = Question(fast="/fast", room_bytes=room_bytes, slow="/data", block_bytes=1, everything=True)
    decision = decide_on(use, run_of(use, other_s=0.3), question, FAST, job_of(use, other_s=0.3))
    names = [f"{row:06}" for row in decision.rows]
    plan = Plan("/data", "/fast", tuple(PlannedFile(name, 1, 1) for name in names))
    staged = np.isin(np.arange(COUNT), decision.rows)
    opens = before if opens is None else opens
    slow_use, fast_use = (file_use(size, opens, tier=tier) for tier in (slow, fast))
    mixed = dataclasses.replace(
        slow_use,
        paths=pa.chunked_array([pa.array([f"/fast/{row:06}" for row in range(COUNT)], pa.large_string())]),
        read_s=np.where(staged, fast_use.read_s, slow_use.read_s),
    )
    return plan, decision, mixed


def check(plan, decision, use, *, readers=4, other_s=0.3):
    return compare(plan, decision.promise, use, run_of(use, readers=readers, other_s=other_s), 1)


def test_promise_that_comes_true():
    plan, decision, use = staged_run()

    found = check(plan, decision, use)

    assert found.kept
    assert found.error == pytest.approx(0, abs=0.01)
    assert (found.copies_read, found.originals_read, found.planned) == (len(plan.files), 0, len(plan.files))
    assert found.obtained_gain == pytest.approx(found.promised_gain, rel=0.02)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"fast": (5e-3, 1 / 2e9)}, "a pass over a copy"),
        ({"slow": (40e-3, 1 / 163e6)}, "a pass on the slow tier"),
        ({"opens": np.full(COUNT, 2)}, "reads of staged files"),
    ],
)
def test_assumption_that_was_off_is_named(change, name):
    found = check(*staged_run(**change))

    assert found.assumptions[0].name == name
    assert not found.kept
    assert f"most wrong is {name}:" in " ".join(render_check(found).split())


def test_fewer_readers_are_named():
    found = check(*staged_run(), readers=2)

    assert found.assumptions[0].name == "readers"


def test_more_time_outside_of_reads_is_named():
    found = check(*staged_run(), other_s=2)

    assert found.assumptions[0].name == "time without reads"
    assert found.assumptions[0].effect_s == pytest.approx(1.7, abs=0.02)


def test_effects_add_up_to_what_came_differently():
    found = check(*staged_run(fast=(5e-3, 1 / 2e9), slow=(16e-3, 1 / 100e6)), readers=3, other_s=1)

    moved = sum(assumption.effect_s for assumption in found.assumptions)
    assert moved == pytest.approx(found.obtained_s - found.promised_s, rel=0.02)


def test_originals_read_all_the_same_are_counted():
    # GIVEN a staged job that reads every second planned file where it was
    plan, decision, use = staged_run()
    paths = np.array(use.paths.to_pylist(), object)
    stays = [int(file.name) for file in plan.files][::2]
    paths[stays] = [f"/data/{row:06}" for row in stays]
    use = dataclasses.replace(use, paths=pa.chunked_array([pa.array(paths, pa.large_string())]))

    found = check(plan, decision, use)

    assert (found.copies_read, found.originals_read) == (len(plan.files) - len(stays), len(stays))


@pytest.mark.parametrize("root", ["/fast\udcff", "/fast\\x41"])
def test_copies_are_found_below_a_folder_of_any_name(root):
    # GIVEN a folder with a byte that is not UTF-8, or that looks as tables write such a byte
    plan, decision, use = staged_run()
    paths = [path.replace("/fast", table_name(os.fsencode(root))) for path in use.paths.to_pylist()]
    use = dataclasses.replace(use, paths=pa.chunked_array([pa.array(paths, pa.large_string())]))

    found = check(dataclasses.replace(plan, fast_root=root), decision, use)

    assert (found.copies_read, found.originals_read) == (len(plan.files), 0)


def test_the_journal_that_a_staged_run_reads_is_no_file_of_the_data_set():
    # GIVEN a plan of all files, and a run that reads the copies and the journal beside them
    plan, decision, use = staged_run()
    paths = use.paths.to_pylist()
    stays = next(row for row in range(COUNT) if row not in {int(file.name) for file in plan.files})
    paths[stays] = "/fast/.tfdarshan-stage/journal"
    named = dataclasses.replace(use, paths=pa.chunked_array([pa.array(paths, pa.large_string())]))

    # WHEN
    before, found = (
        {one.name: one for one in check(plan, decision, each).assumptions} for each in (use, named)
    )

    # THEN
    each = before["a pass on the slow tier"], found["a pass on the slow tier"]
    passes = COUNT - len(plan.files)
    taken_s = each[0].obtained * passes - float(use.read_s[stays])
    assert each[1].obtained == pytest.approx(taken_s / (passes - 1))


def test_there_is_nothing_to_check_if_no_copy_is_read():
    plan, decision, _ = staged_run()
    use = file_use(malware_like(COUNT), np.ones(COUNT))

    with pytest.raises(ConfigurationError, match="nothing to check: the session reads the originals of 2"):
        check(plan, decision, use)


def test_session_of_another_job_is_refused():
    plan, decision, use = staged_run()
    elsewhere = dataclasses.replace(plan, slow_root="/other", fast_root="/another")

    with pytest.raises(ConfigurationError, match="reads none of the plan's"):
        check(elsewhere, decision, use)


def staged_and_stepped(steps_s, start_up_s=5.0):
    """Return plan, promise, use and run of a staged job whose steps last so long, after some start-up."""
    plan, decision, use = staged_run()
    stepped = dataclasses.replace(decision.promise, whole_epoch_s=decision.promise.epoch_s + start_up_s)
    facts = run_of(use, other_s=0.3)
    facts = dataclasses.replace(facts, steps_s=steps_s, duration_s=facts.duration_s + start_up_s)
    return plan, stepped, use, facts


def test_epochs_of_steps_are_held_against_epochs_of_steps():
    # GIVEN a staged job of which the steps last as long as was promised, and start-up 5 s
    promised_s = check(*staged_run()).promised_s
    plan, promise, use, facts = staged_and_stepped(promised_s)

    # WHEN
    found = compare(plan, promise, use, facts, 1)

    # THEN start-up is in neither side
    assert found.by_steps
    assert found.before_s == promise.epoch_s
    assert (found.obtained_s, found.error) == pytest.approx((promised_s, 0))
    assert "the first step's start to the last one's end" in render_check(found)
    moved = sum(assumption.effect_s for assumption in found.assumptions)
    assert moved == pytest.approx(found.obtained_s - found.promised_s, abs=0.01)


def test_where_one_side_has_no_steps_whole_sessions_are_compared():
    plan, promise, use, facts = staged_and_stepped(None)

    found = compare(plan, promise, use, facts, 1)

    # THEN start-up is in both sides
    assert not found.by_steps
    assert found.before_s == promise.whole_epoch_s
    assert found.error == pytest.approx(0, abs=0.01)
    assert "start-up included" in render_check(found)


def test_a_plan_without_steps_is_held_against_the_whole_session():
    plan, decision, use = staged_run()
    facts = dataclasses.replace(run_of(use, other_s=0.3), steps_s=0.1)

    found = compare(plan, decision.promise, use, facts, 1)

    assert (found.by_steps, found.obtained_s) == (False, facts.duration_s)


def test_text_fits_the_terminal():
    text = render_check(check(*staged_run(fast=(5e-3, 1 / 2e9))))

    assert max(map(len, text.splitlines())) <= WIDTH
