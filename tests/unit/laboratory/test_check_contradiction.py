"""What `advise --check` says of a staged run goes together with findings, or is seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.laboratory.test_contradiction import STAGED, answers
from tfdarshan.findings.finding import Cure
from tfdarshan.staging.check import Assumption, Check
from tfdarshan.workloads.laboratory.check_contradiction import RULES, check_contradictions_in

# An epoch of 9 s was to take 6 (5 to 8.2), as `STAGED` promises of its steps, and takes 6.3.
PARTS = (
    Assumption("a pass over a copy", "s", 0.1, 0.2, 0.5),
    Assumption("readers", "threads", 1, 1, -0.2),
)
CHECK = Check(
    epochs=1, by_steps=True, by_reading=False, first_promised=False, before_s=9.0, promised_s=6.0, low_s=5.0,
    high_s=8.2, obtained_s=6.3, copies_read=5, originals_read=0, planned=5, assumptions=PARTS,
)  # fmt: skip
BEFORE, AFTER = answers(STAGED), answers(state="healthy", staged=None)


def test_what_goes_together_is_no_contradiction():
    assert check_contradictions_in(BEFORE, AFTER, CHECK) == []


CONTRADICTIONS = {
    "another promise": (BEFORE, AFTER, replace(CHECK, promised_s=1.0, low_s=0.9, high_s=2.0, obtained_s=1.3)),
    "staged again": (BEFORE, BEFORE, CHECK),
    "parts": (BEFORE, AFTER, replace(CHECK, assumptions=PARTS[:1])),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_each_contradiction_is_seen_by_one_rule(what):
    before, after, check = CONTRADICTIONS[what]
    assert [bool(list(rule(before, after, check))) for rule in RULES].count(True) == 1
    assert len(check_contradictions_in(before, after, check)) == 1


def test_another_measure_of_an_epoch_is_not_compared():
    off = CONTRADICTIONS["another promise"][2]
    assert check_contradictions_in(BEFORE, AFTER, replace(off, by_steps=False, by_reading=True)) == []


def test_what_was_read_from_originals_may_be_staged_again():
    assert check_contradictions_in(BEFORE, BEFORE, replace(CHECK, originals_read=3)) == []


def test_a_plan_of_slow_files_is_held_against_what_moving_these_promises():
    # GIVEN slow files that are moved, as the verdict says, where a copy of everything promises far more
    slow = replace(STAGED, name="straggler")
    everything = replace(STAGED, gain=replace(STAGED.gain, low_s=0.07, saved_s=0.08, high_s=0.09))

    # THEN
    named, other = answers(slow, everything, first=slow), answers(slow, everything, first=everything)
    assert check_contradictions_in(named, answers(everything), CHECK) == []
    assert len(check_contradictions_in(other, AFTER, CHECK)) == 1


def copied_too(lines):
    return replace(STAGED, cure=Cure("-", f'sqlite3.connect(shutil.copy("a.db", "DIR")){lines}'))


@pytest.mark.parametrize(("gives", "agrees"), [(0.95, True), (0.6, True), (0.5, False)])
def test_a_plan_of_the_files_beside_a_database_promises_a_part_of_all(gives, agrees):
    # GIVEN a plan that leaves so much of an epoch of 9 s, and 1.5x (1.8x at most) with a database, too
    check = replace(CHECK, promised_s=9 * gives, low_s=8.5 * gives, high_s=9.5 * gives)

    found = check_contradictions_in(answers(copied_too("\ntfdarshan advise")), AFTER, check)

    assert (not any("is held against" in sentence for sentence in found)) == agrees


@pytest.mark.parametrize(("lines", "again"), [("", False), ("\ntfdarshan advise", True)])
def test_a_database_was_not_staged_and_may_be_copied_then(lines, again):
    found = check_contradictions_in(BEFORE, answers(copied_too(lines)), CHECK)

    assert any("findings stage what was staged" in sentence for sentence in found) == again
