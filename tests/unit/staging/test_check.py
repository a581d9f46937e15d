"""Promised against obtained, on jobs whose every number is known."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.staging.synthetic import FAST, HDD, file_use, malware_like, run_of
from tfdarshan.errors import ConfigurationError
from tfdarshan.staging.advice import decide_on
from tfdarshan.staging.check import compare
from tfdarshan.staging.check_text import render_check
from tfdarshan.staging.plan import Plan, PlannedFile
from tfdarshan.staging.question import Question
from tfdarshan.staging.render import WIDTH

COUNT = 400


def staged_run(fast=(20e-6, 1 / 2e9), slow=HDD, opens=None):
    """Gives plan and promise for a job, and the use and run of the same job on its mirror."""
    size, before = malware_like(COUNT), np.ones(COUNT)
    use = file_use(size, before)
    question = Question(fast="/fast", room_bytes=int(size.sum() // 4), slow="/data", block_bytes=1)
    decision = decide_on(use, run_of(use, other_s=0.3), question, FAST)
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


def check(plan, decision, use, readers=4, other_s=0.3):
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
        ({"fast": (5e-3, 1 / 2e9)}, "a pass on the fast tier"),
        ({"slow": (16e-3, 1 / 163e6)}, "a pass on the slow tier"),
        ({"opens": np.full(COUNT, 2)}, "reads of staged files"),
    ],
)
def test_assumption_that_was_off_is_named(change, name):
    found = check(*staged_run(**change))

    assert found.assumptions[0].name == name
    assert not found.kept
    assert f"Most off: {name}" in render_check(found)


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
    plan, decision, _ = staged_run()
    use = file_use(malware_like(COUNT), np.ones(COUNT))

    found = check(plan, decision, use)

    assert (found.copies_read, found.originals_read) == (0, len(plan.files))


def test_session_of_another_job_is_refused():
    plan, decision, use = staged_run()
    elsewhere = dataclasses.replace(plan, slow_root="/other", fast_root="/another")

    with pytest.raises(ConfigurationError, match="reads none of the plan's"):
        check(elsewhere, decision, use)


def test_text_fits_the_terminal():
    text = render_check(check(*staged_run(fast=(5e-3, 1 / 2e9))))

    assert max(map(len, text.splitlines())) <= WIDTH
