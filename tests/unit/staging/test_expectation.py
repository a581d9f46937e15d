"""The bounds of what staging saves: what is sure, what is left of any run, and what nobody can save."""

import dataclasses

import pytest

from tfdarshan.analysis.step_model import StepModel, most_saved_s, noise_s
from tfdarshan.staging.expectation import LEAST_LEFT, ThreadTime, expect
from tfdarshan.staging.run_facts import RunFacts


def run(*, wait_s=9.0, readers=1.0, loop_share=0.0, whole_s=10.0):
    """Gives a run of 10 s, without other work of the pipeline than its calls."""
    model = StepModel(
        unit="session", units=1, unit_s=whole_s, wait_s=wait_s, most_wait_s=wait_s or whole_s, overlap=0.0,
        storage_s=(wait_s or whole_s) * (1 - loop_share), readers=readers, busy_share=0.9,
    )  # fmt: skip
    thread_s = 9.0 * readers
    return RunFacts(
        whole_s, 9.0, thread_s, readers, None, ("session",), input_wait=None if wait_s is None else 0.9,
        loop_share=loop_share, model=model,
    )  # fmt: skip


@pytest.mark.parametrize(("readers", "sure"), [(1, 0.95), (2, 0.9), (4, 0.8), (16, 0.75)])
def test_the_fewer_readers_the_more_is_sure(readers, sure):
    facts = run(readers=float(readers))

    found = expect(facts, 1, ThreadTime(9.0 * readers, 0.0), 0.9)

    assert found.saved_s == pytest.approx(9.0)
    assert found.low_s == pytest.approx(sure * 9.0 - 0.1)


@pytest.mark.parametrize(("lasted_s", "left"), [(10.5, (4 / 0.9, 4 * 0.85)), (12.0, (1.35, 1.0))])
def test_what_processors_work_is_left_wherever_files_are(lasted_s, left):
    # GIVEN steps of 10 s, in which both processors work 4 s, and a session that is longer
    facts = run()
    facts = dataclasses.replace(
        facts, cpus=2.0, model=dataclasses.replace(facts.model, cpu_s=8.0), duration_s=lasted_s, steps_s=10.0
    )

    # WHEN the calls that steps wait 9 s for take none
    found = expect(facts, 1, ThreadTime(9.0, 0.0), 0.9)

    # THEN no more is saved than the processors leave, unless they may have worked before the steps
    assert 10 - found.low_s == pytest.approx(left[0] + 0.1, abs=0.11)
    assert 10 - found.saved_s == pytest.approx(left[1])


def test_something_is_left_of_any_run():
    # GIVEN calls that scatter, which all go to a disk that takes nothing
    found = expect(run(wait_s=9.99), 1, ThreadTime(9.5, 0.01, doubt=0.3), 0.999)

    # THEN no less than a part of what is expected to be left
    left_s = 10 - found.saved_s
    assert 10 - found.high_s == pytest.approx(LEAST_LEFT * left_s)


def test_at_most_the_copy_is_in_memory():
    # GIVEN a copy on a disk that takes 2 of the 5 s that are waited for
    found = expect(run(wait_s=5.0), 1, ThreadTime(5.0, 2.0), 0.5)

    # THEN it takes 4 of them beside other jobs, and a fifth of 2 from memory, when the rest gets quicker, too
    assert found.low_s == pytest.approx(1 - noise_s(10.0, 1.0))
    assert found.high_s == pytest.approx(most_saved_s(10.0, 4.6 + noise_s(10.0, 4.6)))


def test_no_more_is_saved_than_was_lost_and_what_the_rest_gets_quicker():
    # GIVEN a wait of 9 s and calls of 6, or of more than all of it
    some, more = (expect(run(), 1, ThreadTime(slow_s, 0.0), 0.9) for slow_s in (6.0, 9.9))

    # THEN what is waited for is expected to go, and surely no more goes
    assert (some.saved_s, more.saved_s) == pytest.approx((6.0, 9.0))
    assert (some.low_s, more.low_s) == pytest.approx((5.7 - noise_s(10.0, 5.7), 9.0 - 0.1))

    # THEN at most runs differ, and what is left gets quicker, by less where less is left
    assert some.high_s == pytest.approx(most_saved_s(10.0, 6.0 + noise_s(10.0, 6.0)))
    assert more.high_s == pytest.approx(most_saved_s(10.0, 9.0 + 0.1))
    assert some.high_s - some.saved_s > more.high_s - more.saved_s


@pytest.mark.parametrize(("loop_share", "sure"), [(1.0, True), (0.9, True), (0.3, False), (0.0, False)])
def test_without_steps_the_reads_of_the_loops_own_thread_are_sure(loop_share, sure):
    found = expect(run(wait_s=None, loop_share=loop_share), 1, ThreadTime(9.0, 0.0), None)

    assert (found.low_s > 0) is sure
    # ... and what other threads read is not
    assert found.low_s <= 0.95 * loop_share * 9.0


def test_a_loop_that_is_in_calls_nearly_all_of_the_time_waits_for_them():
    # GIVEN threads beside it that make as many calls
    facts = dataclasses.replace(run(wait_s=None, loop_share=0.5), thread_s=18.0)

    assert facts.loop_reads
    assert not dataclasses.replace(facts, thread_s=14.0).loop_reads


def test_what_is_saved_if_the_job_waits_is_known_beside_what_is_expected():
    # GIVEN a session without steps, and one whose steps say that they wait
    unknown = run(wait_s=None)
    unknown = dataclasses.replace(unknown, model=dataclasses.replace(unknown.model, busy_share=0.5))
    unknown, known = (expect(facts, 1, ThreadTime(6.0, 0.0), None) for facts in (unknown, run()))

    # THEN half is expected where nobody knows
    assert (unknown.if_so_s, unknown.saved_s) == (pytest.approx(6.0), pytest.approx(3.0))
    assert known.if_so_s == known.saved_s == pytest.approx(6.0)


def test_at_most_a_millisecond_goes_along_with_each_wait():
    # GIVEN 3,000 waits of calls that take 6 of the 9 s that are waited for
    facts = run()
    facts = dataclasses.replace(facts, model=dataclasses.replace(facts.model, storage_s=6.0))
    without, found = (expect(facts, 1, ThreadTime(6.0, 0.0, waits=waits), 0.9) for waits in (0.0, 3_000.0))

    # THEN threads that wait for other threads are done sooner, too
    assert found.low_s == pytest.approx(without.low_s, abs=0.1)
    assert found.saved_s == pytest.approx(without.saved_s + 0.06)
    assert found.high_s == pytest.approx(9.0, abs=0.2)


def in_order(*, waited_s, cpu_s=0.5, fast_s=0.0):
    """Gives what copies save 8 readers, whose calls add up to 18 s, of steps that wait 9 s of 10."""
    facts = run(readers=8.0)
    facts = dataclasses.replace(
        facts, thread_s=18.0,
        model=dataclasses.replace(facts.model, storage_s=18 / 8, busy_share=0.2, cpu_s=cpu_s),
    )  # fmt: skip
    return expect(facts, 1, ThreadTime(18.0, fast_s, waited_s=waited_s), 0.9)


def test_readers_that_rest_for_a_slow_one_are_waited_for_as_long_as_it_takes():
    # GIVEN readers that rest as their batches keep their order, so that the calls of one make steps wait
    shared, in_turn = in_order(waited_s=0.0), in_order(waited_s=8.0)

    # THEN all that steps wait with these calls under way is gone, and for certain what no processor worked
    assert shared.saved_s == pytest.approx(18 / 8)
    assert in_turn.saved_s == pytest.approx(8.0)
    assert in_turn.low_s == pytest.approx(0.75 * (8.0 - 0.5) - 0.03 * (10 - 0.75 * 7.5), rel=0.01)
    # ... of what the copies take, as much is left
    assert in_order(waited_s=8.0, fast_s=4.5).saved_s == pytest.approx(6.0)


def test_what_processors_did_while_steps_waited_they_still_have_to_do():
    # GIVEN a process that works 4 s in 10 s, one of them beside the steps, or works all of the time
    some, busy = in_order(waited_s=8.0, cpu_s=4.0), in_order(waited_s=8.0, cpu_s=11.0)

    # THEN as large a part of what steps wait is for that; no less is saved than of readers that never rest
    assert some.saved_s == pytest.approx(8.0 * 0.7)
    assert some.low_s < in_order(waited_s=8.0).low_s
    assert busy.saved_s == pytest.approx(18 / 8)


@pytest.mark.parametrize("unhidden_s", [0.0, 2.5])
def test_what_calls_have_no_part_in_is_waited_for_beside_a_copy_too(unhidden_s):
    # GIVEN steps that wait 9 s, some of it with no call under way, and calls that take as long beside them
    facts = run()
    facts = dataclasses.replace(facts, model=dataclasses.replace(facts.model, unhidden_s=unhidden_s))

    # WHEN the calls take none any more
    found = expect(facts, 1, ThreadTime(9.0, 0.0), 0.9)

    # THEN so much is waited for all the same, as is expected and for certain; it may be less at most
    assert found.saved_s == pytest.approx(9.0 - unhidden_s)
    low_s = min(0.95 * 9.0, 9.0 - unhidden_s)
    assert found.low_s == pytest.approx(low_s - noise_s(10.0, low_s))
    left_s = 10 - found.saved_s
    assert found.high_s == pytest.approx(min(most_saved_s(10.0, 9.1), 10 - LEAST_LEFT * left_s))
