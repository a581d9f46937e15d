"""What findings say that fixes give: one replay of the job, alone and beside the fixes before."""

import dataclasses

import pytest

from tests.unit.replay.made_up_jobs import file_job
from tfdarshan.findings.finding import Finding, Fix
from tfdarshan.findings.fix_choice import PRICE
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.overlapping_fixes import one_of_words
from tfdarshan.findings.replayed import exclude_each_other, gain_of, replayed, worth
from tfdarshan.findings.verdict import make_verdict
from tfdarshan.replay.edits import CacheInMemory, DecodeCalls, Prefetch, Readers
from tfdarshan.replay.promise import promise
from tfdarshan.replay.storage_edits import KeptOpen, Shards, Staged
from tfdarshan.thresholds import THRESHOLD


@pytest.fixture(scope="module")
def measures(tmp_path_factory):
    """A loop that reads four files of 10 ms a batch, in two epochs, and computes for 20 ms."""
    return measure(file_job(tmp_path_factory.mktemp("job")))


def a_finding(name, *edits, work="lines"):
    return Finding(name, name, name, fix=Fix(name), edits=edits, work=work)


def test_a_gain_is_what_the_model_promises(measures):
    # WHEN
    gain = gain_of(measures.job, (Prefetch(),), measures)

    # THEN
    found = promise(measures.job, Prefetch())
    assert gain.speedup == pytest.approx(found.expected)
    assert gain.speedup_range == pytest.approx((found.low, found.high))
    assert gain.before_s == pytest.approx(0.060, rel=0.03)


def test_a_wait_that_is_hidden_is_a_wait_that_is_saved(measures):
    # WHEN 40 ms of reads go beside 20 ms of compute
    gain = gain_of(measures.job, (Prefetch(2),), measures)

    # THEN all that is saved was input wait
    assert gain.wait_s == pytest.approx(gain.saved_s, rel=0.05)
    assert gain.saved_s == pytest.approx(0.020, rel=0.2)


def test_costs_add_up_to_what_all_fixes_together_give(measures):
    # WHEN
    made = [
        a_finding("cache", CacheInMemory()),
        a_finding("ahead", Prefetch()),
        a_finding("more", Readers(4)),
    ]
    found = replayed(made, measures)

    # THEN
    charged = [one for one in found if one.cost_s > 0]
    together = promise(measures.job, *(edit for one in charged for edit in one.edits))
    saved_s = measures.model.unit_s * (1 - 1 / together.expected)
    assert sum(one.cost_s for one in charged) == pytest.approx(saved_s)
    assert len(charged) >= 2


def test_the_first_problem_is_the_fix_that_is_worth_most(measures):
    # WHEN
    made = [a_finding("ahead", Prefetch()), a_finding("cache", CacheInMemory())]
    found = replayed(made, measures)

    # THEN
    assert worth(found[0]) == max(worth(one) for one in found)
    assert found[0].cost_s == pytest.approx(found[0].gain.saved_s)


def test_of_two_fixes_for_the_same_seconds_one_will_do(measures):
    # WHEN
    found = replayed([a_finding("cache", CacheInMemory()), a_finding("again", CacheInMemory())], measures)

    # THEN
    first, second = found
    assert (first.kind, second.kind) == ("problem", "note")
    assert second.one_of == (first.name,)
    assert second.cost_s == 0
    assert second.gain == first.gain


def test_of_fixes_that_set_different_numbers_of_readers_only_one_is_offered(tmp_path):
    # GIVEN a loop that reads for 80 ms a batch, in four epochs, and computes for 20 ms: one reader, ahead of
    # it, whose files stay in memory, and two readers, with which the first epoch would be shorter as well
    measures = measure(file_job(tmp_path, files=8, epochs=4))
    ahead = a_finding("random_access", Readers(1), Prefetch(), CacheInMemory())
    more = a_finding("read_parallelism", Readers(2))
    assert {one.kind for made in (ahead, more) for one in replayed([made], measures)} == {"problem"}

    # WHEN
    first, second = found = replayed([ahead, more], measures)

    # THEN the first has all the cost, and the verdict does not put both together
    assert (first.name, second.name) == ("random_access", "read_parallelism")
    assert first.gain.speedup == pytest.approx(4 * 100 / (80 + 3 * 20), rel=0.05)
    assert first.cost_s == pytest.approx(first.gain.saved_s)
    assert (second.kind, second.cost_s) == ("note", 0)
    assert second.one_of == second.excludes == (first.name,)
    assert one_of_words(second, found) == (
        "Try first: reads in order. Then leave this fix out, as that one also sets the number of readers."
    )
    assert make_verdict(measures, found, []).second == ""


@pytest.mark.parametrize(
    ("other", "told"),
    [(Readers(8), False), (Readers(4), True), (Prefetch(), False), (Shards(), False), (DecodeCalls(), True)],
)
def test_fixes_exclude_each_other_if_the_last_one_made_decides(measures, other, told):
    assert exclude_each_other(measures.job, [Readers(8)], [other]) is told
    assert exclude_each_other(measures.job, [other], [Readers(8)]) is told


def test_the_cost_of_a_fix_is_its_gain_however_much_samples_differ(measures):
    # GIVEN four readers, which give nothing in samples whose storage serves calls one at a time
    found = replayed([a_finding("more", Readers(4))], measures)

    # THEN both are the median of samples
    assert found[0].gain.speedup_range[1] > 1.2 * found[0].gain.speedup_range[0]
    assert found[0].cost_s == pytest.approx(found[0].gain.saved_s)


def test_a_fix_too_small_for_a_problem_takes_no_cost_from_a_note(measures):
    # GIVEN a note that gives much, and what gives too little for the work that it is
    note = dataclasses.replace(a_finding("cache", CacheInMemory()), kind="note")
    made = [a_finding("opens", KeptOpen(), work="convert"), note]

    # THEN the note has its whole gain
    found = {one.name: one for one in replayed(made, measures)}
    assert found["cache"].cost_s == pytest.approx(found["cache"].gain.saved_s)


def test_a_range_hangs_on_nothing_that_explains_little_of_it(measures):
    # GIVEN a fix whose gain is nearly the same in all samples, in a range as wide as fixes differ by
    gain = gain_of(measures.job, (Staged(),), measures)

    # THEN
    assert gain.speedup_range[1] > THRESHOLD["wide"] * gain.speedup_range[0]
    assert gain.hangs_on == ()


def test_a_fix_that_gives_nothing_is_not_named(measures):
    assert replayed([a_finding("readers", Readers(1))], measures) == []


@pytest.mark.parametrize("work", ["copy some", "copy all", "convert"])
def test_more_work_has_to_give_more(measures, work):
    # WHEN
    found = replayed(
        [a_finding("hard", CacheInMemory(), work=work), a_finding("easy", CacheInMemory())], measures
    )

    # THEN
    assert [one.name for one in found] == ["easy", "hard"]
    assert worth(found[0]) - worth(found[1]) == pytest.approx(PRICE[work])


def test_a_rule_may_make_a_note_of_what_would_be_a_problem(measures):
    # WHEN
    note = dataclasses.replace(a_finding("cache", CacheInMemory()), kind="note")

    # THEN
    assert [one.kind for one in replayed([note], measures)] == ["note"]


def test_the_verdict_names_the_first_problem_and_what_a_second_one_adds(measures):
    # WHEN
    made = [a_finding("fits_in_memory", CacheInMemory()), a_finding("prefetch", Prefetch())]
    first, second = replayed(made, measures)
    verdict = make_verdict(measures, [first, second], [])

    # THEN
    assert (verdict.state, verdict.finding, verdict.second) == ("slow", first.name, second.name)
    assert verdict.gain == first.gain
    both = promise(measures.job, *first.edits, *second.edits)
    assert verdict.together.speedup == pytest.approx(both.expected)
    assert both.expected > first.gain.speedup


def test_a_second_finding_with_the_same_lines_adds_nothing(measures):
    # GIVEN two problems that are fixed by the same lines
    fix = Fix("Keep it.", "dataset = dataset.cache()", "dataset = dataset")
    made = [a_finding("fits_in_memory", CacheInMemory()), a_finding("prefetch", Prefetch())]
    problems = [dataclasses.replace(one, fix=fix) for one in replayed(made, measures)]

    # THEN the verdict offers them once
    verdict = make_verdict(measures, problems, [])
    assert (verdict.second, verdict.together) == ("", None)
    assert not [note for note in verdict.notes if "as well" in note]


def test_a_model_that_does_not_reproduce_the_run_promises_at_most(measures):
    # GIVEN
    job = dataclasses.replace(measures.job, step_error=measures.job.step_error + 0.5)
    other = dataclasses.replace(measures)
    other.__dict__["job"] = job

    # THEN
    assert not gain_of(job, (Prefetch(),), other).supported
    assert measures.job.reproduces
