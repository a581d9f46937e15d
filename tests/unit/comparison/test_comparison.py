"""What is said of two sessions of made-up calls."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.made_up_session import image_job, job_of, write_session
from tests.unit.findings.made_up_training import training
from tfdarshan.comparison.change import (
    BETTER,
    CHANGED,
    NOISE,
    SAME,
    UNKNOWN,
    WORSE,
    Change,
    Failure,
    changes_between,
    compare,
)
from tfdarshan.comparison.file_set import FilePair
from tfdarshan.comparison.likeness import NO, WITH_CARE, YES
from tfdarshan.comparison.measured_run import Side
from tfdarshan.comparison.metric import find_metric
from tfdarshan.comparison.noise import LEAST, Noise
from tfdarshan.reports.text.comparison_text import headline, render_failures
from tfdarshan.reports.views.view_source import Source

KERNEL = {"rchar": 0, "wchar": 0, "syscr": 0, "syscw": 0, "read_bytes": 0, "write_bytes": 0}


def side(folder, job, label="A"):
    return Side(label, [Source(write_session(folder, job))])


def reads(paths, sizes, *, read_ns=100, kernel_bytes=None):
    """Read each file whole, one after the other, each taking `read_ns`."""
    calls = [
        (1000 * place, 1000 * place + read_ns, 1, "pread", place, size) for place, size in enumerate(sizes)
    ]
    total = sum(sizes)
    kernel = KERNEL | {"rchar": total, "read_bytes": total if kernel_bytes is None else kernel_bytes}
    return job_of(calls, paths, sizes, kernel=kernel, duration_ns=1_000_000)


PATHS = [f"/data/{number:03}" for number in range(200)]
SIZES = [1_000 + number for number in range(200)]


def compared(tmp_path, first, second):
    return compare(side(tmp_path / "a", first), side(tmp_path / "b", second, "B"))


def state(comparison, name):
    return next(check for check in comparison.checks if check.name == name)


def test_the_same_work_is_comparable(tmp_path):
    comparison = compared(tmp_path, reads(PATHS, SIZES), reads(PATHS, SIZES, read_ns=150))

    assert comparison.comparable == YES
    assert state(comparison, "files read").sentence == "both read the same files (200 files)"
    change = comparison.change(find_metric("read_time"))
    assert (change.before, change.after) == (20e-6, 30e-6)
    assert change.ratio == pytest.approx(0.5)
    assert change.outcome == WORSE
    assert comparison.change(find_metric("read_bandwidth")).outcome == WORSE


def test_other_files_are_other_work(tmp_path):
    others = [path.replace("/data/", "/data/x") for path in PATHS]
    comparison = compared(tmp_path, reads(PATHS, SIZES), reads(PATHS[:100] + others[100:], SIZES))

    assert comparison.comparable == NO
    assert (
        state(comparison, "files read").sentence == "100 files the same in both, 100 in A only, 100 in B only"
    )


@pytest.mark.parametrize("first", [True, False])
def test_files_whose_size_one_run_does_not_say_are_of_no_other_size(tmp_path, first):
    # GIVEN a run that says no sizes, such as a Darshan log, or of files that it removed
    known = reads(PATHS, SIZES)
    unknown = dataclasses.replace(known, size_bytes=np.full(len(PATHS), -1))
    runs = (unknown, known) if first else (known, unknown)

    comparison = compared(tmp_path, *runs)

    assert comparison.comparable == YES
    assert state(comparison, "files read").sentence == "both read the same files (200 files)"
    passes = comparison.change(find_metric("passes"))
    assert (passes.before, passes.after) == ((None, 1.0) if first else (1.0, None))


def test_failures_are_unknown_of_a_darshan_log(tmp_path):
    failures = {"failures": [{"error": 2, "name": "ENOENT", "operation": "open", "calls": 5}]}
    job = reads(PATHS, SIZES)
    log = {"darshan": {"not_known": ["failed calls"], "processes": 1, "rank": 0, "ranks": [0], "pids": [100]}}
    one, two = (dataclasses.replace(job, meta=meta) for meta in (failures, log))

    change = compared(tmp_path, one, two).change(find_metric("failures"))

    assert (change.before, change.after, change.outcome) == (5, None, UNKNOWN)


def test_a_copy_of_the_data_is_the_same_work(tmp_path):
    copies = [path.replace("/data/", "/data/fast/") for path in PATHS]
    comparison = compared(tmp_path, reads(PATHS, SIZES), reads(copies, SIZES, read_ns=50))

    assert comparison.comparable == YES
    said = state(comparison, "files read").sentence
    assert said == "both read the same files (200 files, below another folder)"
    # Files are matched by their names in it: each took 50 ns less.
    assert [(file.path, round(file.difference_s * 1e9)) for file in comparison.files[:2]] == [
        ("000", -50),
        ("001", -50),
    ]


def test_a_copy_is_the_same_work_beside_files_that_stayed_and_files_of_one_run(tmp_path):
    # The script is at its place in both; each run reads a file of its own, outside of the data.
    copies = [path.replace("/data/", "/tmp/fast/data/") for path in PATHS]
    comparison = compared(
        tmp_path,
        reads(["/home/train.py", *PATHS, "/home/a.json"], [77, *SIZES, 5]),
        reads(["/home/train.py", *copies, "/tmp/b.json"], [77, *SIZES, 6], read_ns=50),
    )

    said = state(comparison, "files read").sentence
    assert said == "201 files the same in both, 200 of them below another folder, 1 in A only, 1 in B only"
    assert comparison.comparable == YES
    assert [(file.path, round(file.difference_s * 1e9)) for file in comparison.files[:4]] == [
        ("/home/a.json", -100),
        ("/home/train.py", -50),
        ("/tmp/b.json", 50),
        ("data/000", -50),
    ]


def test_a_folder_with_the_same_names_and_other_sizes_is_no_copy(tmp_path):
    others = [path.replace("/data/", "/data/other/") for path in PATHS]
    comparison = compared(
        tmp_path,
        reads(["/home/train.py", *PATHS], [77, *SIZES]),
        reads(["/home/train.py", *others], [77, *SIZES[::-1]]),
    )

    assert state(comparison, "files read").sentence == "1 file the same in both, 200 in A only, 200 in B only"
    assert comparison.comparable == NO


def test_files_of_another_size_are_told(tmp_path):
    sizes = [*SIZES[:-1], 9]
    sets = FilePair(
        side(tmp_path / "a", reads(PATHS, SIZES)).newest.files,
        side(tmp_path / "b", reads(PATHS, sizes)).newest.files,
    ).sets()
    assert (sets.shared, sets.resized, sets.same) == (199, 1, False)


def test_bytes_that_differ_by_more_than_a_fiftieth_are_other_work(tmp_path):
    # Half of every file is read: the same files, but not the same work.
    less = reads(PATHS, [size // 2 for size in SIZES])
    less = dataclasses.replace(less, size_bytes=reads(PATHS, SIZES).size_bytes)
    comparison = compared(tmp_path, reads(PATHS, SIZES), less)

    assert state(comparison, "files read").state == "same"
    assert state(comparison, "bytes read").sentence == "219.9 kB in A, 109.9 kB in B"
    assert comparison.comparable == NO
    # THEN fewer bytes are another figure, and no better one
    assert comparison.change(find_metric("bytes_read")).ratio == pytest.approx(-0.5, abs=0.01)
    assert {change.outcome for change in comparison.changes} <= {SAME, NOISE, CHANGED, UNKNOWN}


def test_a_warm_cache_is_named(tmp_path):
    comparison = compared(tmp_path, reads(PATHS, SIZES), reads(PATHS, SIZES, kernel_bytes=0))

    assert comparison.comparable == WITH_CARE
    said = state(comparison, "cache state").sentence
    assert said == (
        "A: at most 100.0 % of the bytes that it read came from storage; "
        "B: at most 0.0 % of the bytes that it read came from storage: "
        "B found the rest cached"
    )


def test_low_coverage_is_named(tmp_path):
    blind = reads(PATHS, SIZES)
    blind = dataclasses.replace(blind, kernel=dict(blind.kernel) | {"rchar": 2 * sum(SIZES)})
    comparison = compared(tmp_path, reads(PATHS, SIZES), blind)

    assert comparison.comparable == WITH_CARE
    assert state(comparison, "coverage").sentence == "A: 100.0 % of reads; B: 50.0 % of reads"


def test_changed_files_come_by_the_size_of_the_change(tmp_path):
    one, two = reads(PATHS[:3], [10, 10, 10]), reads(PATHS[:3], [10, 10, 10])
    two.columns["end_ns"][:] = two.columns["start_ns"] + [100, 400, 90]
    files = FilePair(
        side(tmp_path / "a", one).newest.files, side(tmp_path / "b", two).newest.files
    ).most_changed(top=5)
    assert [(file.path, round(file.difference_s * 1e9)) for file in files] == [
        ("/data/001", 300),
        ("/data/002", -10),
    ]


def test_an_even_run_has_the_least_noise_and_an_uneven_one_more(tmp_path):
    metric = find_metric("read_bandwidth")
    even = reads(PATHS, SIZES)
    # Every second stretch of 25 reads takes five times as long.
    uneven = reads(PATHS, SIZES)
    slow = (range(200)[place] // 25 % 2 for place in range(200))
    uneven.columns["end_ns"][:] = uneven.columns["start_ns"] + [500 if s else 100 for s in slow]

    assert Noise(side(tmp_path / "a", even).runs).of(metric) == LEAST
    found = Noise(side(tmp_path / "b", uneven).runs).of(metric)
    # 16 parts, half at 100 and half at 500 ns: twice the standard error of the mean of 300 is 0.34.
    assert found == pytest.approx(0.34, abs=0.05)


def test_few_calls_do_not_tell_their_noise_and_counts_have_none(tmp_path):
    few = side(tmp_path, reads(PATHS[:5], SIZES[:5]))

    assert Noise(few.runs).of(find_metric("read_time")) is None
    assert Noise(few.runs).of(find_metric("reads")) == 0


def test_several_runs_tell_their_noise_and_give_medians(tmp_path):
    metric = find_metric("read_time")
    runs = [
        Source(write_session(tmp_path / str(ns), reads(PATHS, SIZES, read_ns=ns))) for ns in (100, 140, 110)
    ]
    # Half of 140 - 100, over the median of 110.
    assert Noise(runs).of(metric) == pytest.approx(20 / 110)
    comparison = compare(Side("A", runs), side(tmp_path / "b", reads(PATHS, SIZES, read_ns=115), "B"))
    change = comparison.change(metric)
    assert change.before == pytest.approx(200 * 110e-9)
    assert change.outcome == NOISE


@pytest.mark.parametrize(
    ("name", "before", "after", "noise", "outcome"),
    [
        ("duration", 10.0, 10.4, 0.05, NOISE),
        ("duration", 10.0, 10.6, 0.05, WORSE),
        # THEN the same change the other way round is as much
        ("duration", 10.0, 9.6, 0.05, NOISE),
        ("duration", 10.0, 3.1, 2.3, NOISE),
        ("duration", 3.1, 10.0, 2.3, NOISE),
        ("duration", 10.0, 3.1, 1.0, BETTER),
        ("duration", 3.1, 10.0, 1.0, WORSE),
        # THEN nothing is called better or worse of which nobody knows whether it is noise
        ("duration", 10.0, 9.0, None, CHANGED),
        # THEN nor is what is too little to be written
        ("bytes_read", 100_000, 99_999, 0.0, CHANGED),
        # THEN nor is what a few calls more or less make
        ("opens", 100_000, 99_999, 0.0, NOISE),
        ("opens", 10, 11, 0.0, NOISE),
        ("opens", 0, 5, 0.0, WORSE),
        ("read_bandwidth", 10.0, 11.0, 0.05, BETTER),
        ("opens", 10, 14, 0.0, WORSE),
        ("opens", None, 11, 0.0, UNKNOWN),
    ],
)
def test_a_change_within_noise_is_neither_better_nor_worse(name, before, after, noise, outcome):
    assert Change(find_metric(name), before, after, noise).outcome == outcome


def test_many_threads_and_epochs_are_the_same_work(tmp_path):
    comparison = compared(tmp_path, image_job(100, 2, 2), image_job(100, 2, 4))
    assert comparison.comparable == YES
    assert comparison.change(find_metric("passes")).before == 2.0


def steps_of(lasted_ms):
    """A job of steps of so many ms, each with a read."""
    starts = [sum(lasted_ms[:n]) for n in range(len(lasted_ms))]
    calls = [(start, start + 1, 101, "pread", 0, 1000, 0) for start in starts]
    steps = [(start, start + ms, 0.5 * ms) for start, ms in zip(starts, lasted_ms, strict=True)]
    return calls, steps


def steps_side(folder, lasted_ms, label="A"):
    calls, steps = steps_of(lasted_ms)
    return Side(label, [Source(training(folder, calls, steps))])


def test_a_slow_first_step_is_no_noise(tmp_path):
    # GIVEN forty steps of 36 ms, give or take one, the first of each epoch 100 times as long
    lasted = [3_600 if n % 20 == 0 else 36 + n % 3 - 1 for n in range(40)]
    metric = find_metric("step_time")

    assert Noise(steps_side(tmp_path / "a", lasted).runs).of(metric) == LEAST
    # THEN steps that differ do make noise
    uneven = [20 if n % 2 else 52 for n in range(40)]
    assert Noise(steps_side(tmp_path / "b", uneven).runs).of(metric) > 2 * LEAST


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (118.9, 36.5, "3.26x faster: a step takes 36.5 ms (before: 118.9 ms)."),
        (36.5, 118.9, "3.26x slower: a step takes 118.9 ms (before: 36.5 ms)."),
        (
            100,
            101,
            (
                "Neither faster nor slower by more than noise (±4.2 %): "
                "a step takes 101.0 ms (before: 100.0 ms)."
            ),
        ),
        (100, 100, "As fast as before: a step takes 100.0 ms (before: 100.0 ms)."),
    ],
)
def test_the_sentence_that_comes_first_says_what_became_of_a_step(tmp_path, before, after, said):
    sides = steps_side(tmp_path / "a", [before] * 40), steps_side(tmp_path / "b", [after] * 40)

    assert headline(YES, changes_between(*sides, same_work=True)) == said
    figures = f"a step takes {after:.1f} ms (before: {before:.1f} ms)"
    said_of_other_work = headline(NO, changes_between(*sides, same_work=False))
    assert said_of_other_work == f"The runs did different work, so their times say little: {figures}."


def test_a_run_that_keeps_its_input_did_the_same_work(tmp_path):
    # GIVEN as many steps on the same files, of which one run read each in every epoch
    steps = [(n * 100, (n + 1) * 100, 10) for n in range(40)]

    def read_by(label, epochs):
        calls = [(n * 100, n * 100 + 5, 101, "pread", n % 10, 1000, 0) for n in range(10 * epochs)]
        paths, sizes = [f"/data/{n}" for n in range(10)], [1000] * 10
        return Side(label, [Source(training(tmp_path / label, calls, steps, paths=paths, sizes=sizes))])

    comparison = compare(read_by("often", 4), read_by("once", 1))

    assert comparison.comparable == YES
    said = state(comparison, "bytes read").sentence
    assert said == "40.0 kB in often, 10.0 kB in once, of the same files for as many steps"


def test_emulation_that_met_no_call_is_another_condition(tmp_path):
    def emulated(label, calls_delayed):
        meta = {
            "options": {"as_if": "lustre", "as_if_paths": ["/data/*"]},
            "emulation": {"model": {"name": "lustre"}, "paths": ["/data/*"], "delayed_calls": calls_delayed},
        }
        return Side(label, [Source(training(tmp_path / label, *steps_of([100] * 10), meta=meta))])

    comparison = compare(emulated("slow", 10), emulated("missed", 0))

    assert comparison.comparable == WITH_CARE
    assert state(comparison, "storage emulation").sentence == "slow: lustre; missed: lustre that no call met"
    assert state(comparison, "cache state").sentence == "slow had emulated storage, which has no page cache"


@pytest.mark.parametrize(
    ("shares", "found", "answer"),
    [
        ((0.0, 0.05), "same", YES),
        ((0.3, 0.35), "noted", YES),
        ((0.0, 0.3), "care", WITH_CARE),
        ((None, 0.3), "care", WITH_CARE),
        ((None, None), "same", YES),
    ],
)
def test_what_other_programs_took_of_the_processors_is_a_condition(tmp_path, shares, found, answer):
    # GIVEN runs beside other programs, which took such shares of two processors
    def beside(share):
        machine = {} if share is None else {"machine": {"cpus": 2, "cpu_s": 0.0, "others_cpus": 2 * share}}
        return dataclasses.replace(reads(PATHS, SIZES), meta=machine)

    # WHEN they are compared
    comparison = compared(tmp_path, *map(beside, shares))

    # THEN their times are compared with care if the shares differ
    words = ["unknown" if share is None else f"{100 * share:.1f} %" for share in shares]
    said = state(comparison, "other programs")
    assert (said.state, comparison.comparable) == (found, answer)
    known = f"took {words[0]} in A, {words[1]} in B of the processors"
    nothing = "their processor time is not known"
    assert said.sentence == (nothing if shares == (None, None) else known)


def test_copies_outside_of_the_emulated_paths_are_what_was_changed(tmp_path):
    # GIVEN one emulation in both runs, of which the second reads copies at another place
    def emulated(folder, calls):
        meta = {
            "options": {"as_if": "lustre", "as_if_paths": ["/data/*"]},
            "emulation": {"model": {"name": "lustre"}, "paths": ["/data/*"], "delayed_calls": calls},
        }
        paths = [path.replace("/data/", folder) for path in PATHS]
        return dataclasses.replace(reads(paths, SIZES), meta=meta)

    both = emulated("/data/", 200), emulated("/fast/", 0)

    # WHEN they are compared
    comparison = compared(tmp_path, *both)

    # THEN the emulation is the same condition
    assert state(comparison, "storage emulation").state == "noted"
    assert comparison.comparable == YES


def test_files_that_all_have_another_size_are_other_work(tmp_path):
    # The same names and as many bytes read, but of files that are longer.
    longer = dataclasses.replace(reads(PATHS, SIZES), size_bytes=reads(PATHS, SIZES).size_bytes * 2)
    comparison = compared(tmp_path, reads(PATHS, SIZES), longer)

    assert state(comparison, "files read").sentence == "no file the same in both, 200 with another size"
    assert state(comparison, "bytes read").state == "same"
    assert comparison.comparable == NO


@pytest.mark.parametrize(("metric", "share", "said"), [
    ("step_time", 0.3, True), ("read_bandwidth", 0.3, True), ("opens", 0.3, False),
    ("step_time", 0.02, False), ("step_time", None, False),
])  # fmt: skip
def test_a_condition_on_a_time_is_said_with_what_other_programs_took(metric, share, said):
    # GIVEN a condition that holds, of runs one of which had other programs beside it
    change: Any = SimpleNamespace(
        metric=find_metric(metric), before=1.0, after=2.0, outcome="worse", ratio=1.0, times=2.0, noise=0.0
    )
    runs = [SimpleNamespace(summary=SimpleNamespace(others_share=one)) for one in (None, share)]
    sides: Any = [SimpleNamespace(runs=[run]) for run in runs]

    # WHEN
    text = render_failures([Failure("x>1", "B", True, change)], sides)

    # THEN
    assert text.startswith("x>1 holds: ")
    beside = "Other programs took 30.0 % of the processors: time the job on an idle machine.\n"
    assert (beside in text) is said
