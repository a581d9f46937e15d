"""Which files can be staged, and what of their time."""

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.candidate import LOOKED_AT, find_candidates
from tfdarshan.staging.whole_input import stage_all

KB = 1_000


def candidates(session):
    return find_candidates(measure(session).use_and_facts[0])


def job(logdir, *, open_ms, cached_ms=0.03, epochs=3, files=40, more=(), step_ms=20, every_ms=0):
    """Gives a session that reads files in epochs, of which memory serves all but the first.

    Files follow each other, or one begins each `every_ms`.
    """
    at, calls = 0.0, []
    for epoch in range(epochs):
        for file in range(files):
            end = at + open_ms + (5.0 if epoch == 0 else cached_ms)
            calls += [
                (at, at + open_ms, 1, "open", file, 0),
                (at + open_ms, end, 1, "read", file, 100 * KB),
            ]
            at = max(end, at + every_ms)
    paths = [f"/data/{file:03}.sqlite" for file in range(files)] + list(more)
    calls += [(at, at + 0.01, 1, "stat", files + place, 0) for place in range(len(more))]
    steps = epochs_of_steps(int(at // max(20, every_ms)) + 1, step_ms, 19)
    return training(logdir, calls, steps, paths=paths, sizes=[100 * KB] * files + [-1] * len(more))


def test_slow_opens_are_to_be_gained_though_memory_has_the_bytes(tmp_path):
    # GIVEN opens of 10 ms in each of three epochs, and reads of 5 ms in the first
    slow, quick = (candidates(job(tmp_path / str(ms), open_ms=ms)) for ms in (10.0, 0.05))

    # THEN the opens' time and the reads' are gained where opens are slow, as the looks at the originals are
    # made ahead, and next to nothing else
    assert float((slow.pass_s * slow.recurring).sum()) == pytest.approx(40 * (3 * 10 + 5) / 1e3, rel=0.05)
    assert float((quick.pass_s * quick.recurring).sum()) < 0.005


LOOK_S = 5e-3  # of opens that take 10 ms
FILES = 40


@pytest.mark.parametrize(
    ("run_s", "runs", "later"),
    [(59.0, 1, 0), (61.0, 1, 1), (150.0, 1, 2), (1e6, 1, 2), (59.0, 2, 0), (61.0, 2, 1)],
    ids=["within a minute", "longer", "an open a minute", "an open an hour", "two ranks", "and longer"],
)
def test_a_look_holds_for_a_minute_of_each_run(tmp_path, run_s, runs, later):
    # GIVEN three epochs of opens of 10 ms
    use = measure(job(tmp_path, open_ms=10.0)).use_and_facts[0]

    # WHEN a run of them takes so long, or several do
    found = find_candidates(dataclasses.replace(use, run_s=run_s, runs=runs))

    # THEN so many of the opens of a copy look at the original after the first ones, for half the time of an
    # open, and the first ones too unless these looks were made ahead
    looks = found.looks
    assert looks.look_s == pytest.approx(LOOK_S, rel=0.01)
    assert looks.expected_s == pytest.approx(later * LOOK_S, rel=0.01)
    assert looks.least_s == pytest.approx(later * LOOK_S, rel=0.01)
    assert looks.most_s == pytest.approx((runs + later) * LOOK_S, rel=0.06)
    saved_s = float((found.pass_s * found.passes).sum())
    assert saved_s == pytest.approx(FILES * (3 * 10 + 5 - later * 5) / 1e3, rel=0.05)


def made_ahead(tmp_path, *, run_s, start_s, files=FILES, fs_type="nfs4"):
    """Gives the looks of a run of one epoch that reads its first file after `start_s`."""
    use = measure(job(tmp_path, open_ms=10.0, epochs=1, files=files)).use_and_facts[0]
    (reading,) = use.reading
    later = dataclasses.replace(
        reading, first_ns=reading.first_ns - reading.first_ns.min() + int(start_s * 1e9)
    )
    mounts = tuple(dataclasses.replace(mount, fs_type=fs_type) for mount in use.mounts)
    use = dataclasses.replace(use, run_s=run_s, reading=(later,), mounts=mounts)
    return find_candidates(use).looks


@pytest.mark.parametrize(("run_s", "left"), [(10.0, 0), (0.05, 0), (0.025, 0.5), (0.0, 1)])
def test_four_looks_at_a_time_are_expected_to_be_made_ahead(tmp_path, run_s, left):
    looks = made_ahead(tmp_path, run_s=run_s, start_s=0)
    assert looks.expected_s == pytest.approx(left * LOOK_S, rel=0.01)
    assert looks.least_s == pytest.approx(0)


@pytest.mark.parametrize(("start_s", "left"), [(0.0, 1), (0.05, 0.75), (0.1, 0.5), (0.2, 0), (9.0, 0)])
def test_one_look_at_a_time_before_the_first_read_is_sure(tmp_path, start_s, left):
    looks = made_ahead(tmp_path, run_s=10.0, start_s=start_s)
    assert looks.most_s == pytest.approx(left * LOOK_S, rel=0.01)


def test_no_more_is_made_ahead_than_in_five_seconds(tmp_path):
    # GIVEN 1,200 files: 6 s of looks, of which 5 are over before the program reads
    looks = made_ahead(tmp_path, run_s=20.0, start_s=15.0, files=1200)
    assert looks.most_s == pytest.approx(LOOK_S / 6, rel=0.01)


def test_a_look_by_fuse_may_take_as_long_as_an_open(tmp_path):
    looks = made_ahead(tmp_path, run_s=10.0, start_s=0, fs_type="fuse.sshfs")
    assert (looks.look_s[0], looks.most_s[0]) == pytest.approx((LOOK_S, 2 * LOOK_S), rel=0.01)


def test_what_a_look_may_take_is_in_the_bounds_of_what_is_promised(tmp_path):
    # GIVEN one epoch of opens and reads that a thread makes, and training waits for, and computes for longer
    use, facts = measure(job(tmp_path, open_ms=10.0, epochs=1, step_ms=80, every_ms=80)).use_and_facts

    # WHEN looks have to be made by the opens, or none has
    slow, fuse = (
        dataclasses.replace(use, mounts=tuple(dataclasses.replace(one, fs_type=name) for one in use.mounts))
        for name in ("nfs4", "fuse")
    )
    kept, asked = (stage_all(one, facts, LOCAL_SSD).expected for one in (slow, fuse))

    # THEN the lower bound has a look at each file, of half an open or all of it
    assert kept.saved_s == pytest.approx(asked.saved_s)
    assert kept.low_s - asked.low_s == pytest.approx(FILES * LOOK_S, rel=0.1)
    assert kept.low_s < kept.saved_s - 0.8 * FILES * LOOK_S


@pytest.mark.parametrize(("step_ms", "mirrored"), [(20, LOOKED_AT), (60, "")])
def test_looks_that_may_take_much_of_what_is_left_are_spared_by_a_mirror(tmp_path, step_ms, mirrored):
    # GIVEN opens of 10 ms, and steps that compute for 1 ms or 41
    use, facts = measure(job(tmp_path, open_ms=10.0, epochs=1, step_ms=step_ms)).use_and_facts

    # WHEN all is staged
    found = stage_all(use, facts, LOCAL_SSD)

    # THEN looks of half an open each are compared with what is left of the run, and a mirror makes none
    assert found.found.mirrored == mirrored
    assert found.found.looks.most_s.sum() == pytest.approx(0 if mirrored else FILES * LOOK_S, rel=0.06)
    # ... so that they are no part of what is left in the lower bound
    assert (facts.training_s - found.expected.low_s < 0.15) == bool(mirrored)


def test_a_mirror_for_looks_answers_stats_too(tmp_path):
    # GIVEN the same with stats of 3 ms of each file
    use, facts = measure(job(tmp_path, open_ms=10.0, epochs=1)).use_and_facts
    asking = dataclasses.replace(use, stat_s=np.where(use.is_input, 3e-3, 0).astype(np.float32))

    # THEN a mirror's gain counts them
    plain, more = (stage_all(one, facts, LOCAL_SSD).valuation.slow_s.sum() for one in (use, asking))
    assert more - plain == pytest.approx(FILES * 3e-3, rel=0.05)


def test_a_run_that_copies_make_short_looks_less_often(tmp_path):
    # GIVEN a run in which each of three epochs takes over a minute, and training waits for nearly all of it
    use, facts = measure(job(tmp_path, open_ms=10.0)).use_and_facts
    long = dataclasses.replace(use, run_s=130.0)

    # WHEN all is staged, and little is left of the run
    found = stage_all(long, facts, LOCAL_SSD)

    # THEN it is over within a minute, and no original is looked at again
    assert find_candidates(long).looks.expected_s == pytest.approx(2 * LOOK_S, rel=0.01)
    assert found.found.looks.expected_s == pytest.approx(0)


def test_copies_that_a_staged_run_read_are_not_to_be_copied_again(tmp_path):
    # GIVEN a session that has read the stager's journal, as `run --staged` does before the program begins
    files, journal = 10, "/data/.tfdarshan-stage/journal"
    found = [candidates(job(tmp_path / name, open_ms=10.0, files=files, more=more))
             for name, more in (("plain", ["/other"]), ("staged", [journal]))]  # fmt: skip

    # THEN
    assert [len(one.rows) for one in found] == [files, 0]
    assert [one.files for one in found[1].left_out if one.reason == "copies of staged files already"] == [
        files
    ]


@pytest.mark.parametrize(("others_ms", "planned"), [(0.12, 80), (0.02, 20)])
def test_a_file_that_was_opened_at_a_lucky_moment_is_no_nearer(tmp_path, others_ms, planned):
    # GIVEN opens of 4 ms of every fourth file, and reads that memory or a full bucket served: the others'
    # opens take several times as long as a local one, as a server's do, or as long as that
    at, calls = 0.0, []
    for file in range(80):
        opened = at + (others_ms if file % 4 else 4.0)
        calls += [(at, opened, 1, "open", file, 0), (opened, opened + 0.03, 1, "read", file, 50 * KB)]
        at = opened + 10
    paths = [f"/data/{file:03}.jpg" for file in range(80)]
    steps = epochs_of_steps(int(at // 20) + 1, 20, 19)
    session = training(tmp_path, calls, steps, paths=paths, sizes=[50 * KB] * 80)

    # WHEN all files that storage will serve are asked for
    found = candidates(session)

    # THEN a server is asked for each of them, or for those alone that took long
    assert int((found.recurring > 0).sum()) == planned


def test_databases_are_left_out_by_name(tmp_path):
    # GIVEN a file whose journal the job asks for
    found = candidates(job(tmp_path, open_ms=10.0, more=["/data/007.sqlite-journal"]))

    # THEN it, and no other, is left out of plans
    (reason,) = [one for one in found.left_out if "SQLite" in one.reason]
    assert reason.files == 1
    assert len(found.rows) == 39


@pytest.mark.parametrize(("read_ms", "worth"), [(19.0, True), (0.5, False)])
def test_few_bytes_are_worth_a_copy_if_they_take_much_of_the_time(tmp_path, read_ms, worth):
    # GIVEN 200 kB in all, of which a read takes 19 of 20 ms, or next to nothing of them
    calls = [(20.0 * n, 20.0 * n + read_ms, 1, "pread", n % 50, 4 * KB, 0) for n in range(50)]
    session = training(
        tmp_path,
        calls,
        epochs_of_steps(50, 20, 19),
        paths=[f"/data/{n}" for n in range(50)],
        sizes=[4 * KB] * 50,
    )

    assert ("staging" in [finding.name for finding in diagnose(session).findings]) is worth


def test_a_database_alone_is_to_be_copied_and_opened_there(tmp_path):
    calls = [(20.0 * n, 20.0 * n + 19, 1, "pread", 0, 4096, 4096 * n) for n in range(600)]
    session = training(
        tmp_path,
        [*calls, (12_000, 12_001, 1, "stat", 1, 0)],
        epochs_of_steps(600, 20, 19),
        paths=["/data/samples.sqlite", "/data/samples.sqlite-journal"],
        sizes=[600 * 4096, -1],
    )

    cure = next(one.cure for one in diagnose(session).findings if one.name == "staging")

    assert "to a local disk, " in cure.what
    assert cure.what.endswith(", and open the copy: `cp -u` copies only what has changed since.")
    assert cure.line.splitlines() == [
        "cp -u /data/samples.sqlite DIR/", 'database = sqlite3.connect("DIR/samples.sqlite")'
    ]  # fmt: skip


def test_files_that_gain_nothing_make_nothing_surer(tmp_path):
    # GIVEN four files whose opens and reads take long, for different times, and 36 that gain nothing
    calls, at = [], 0.0
    for file in range(FILES):
        open_ms, read_ms = (5.0 + file, 20.0 + 10 * file) if file < 4 else (0.02, 0.03)
        calls += [(at, at + open_ms, 1, "open", file, 0)]
        calls += [(at + open_ms, at + open_ms + read_ms, 1, "read", file, 100 * KB)]
        at += open_ms + read_ms
    paths = [f"/data/{file:03}.jpg" for file in range(FILES)]
    steps = epochs_of_steps(int(at // 20) + 1, 20, 19)
    session = training(tmp_path, calls, steps, paths=paths, sizes=[100 * KB] * FILES)

    # WHEN
    valuation = stage_all(*measure(session).use_and_facts, LOCAL_SSD).valuation

    # THEN what is uncertain of these four is as uncertain of all
    gaining = np.flatnonzero(valuation.saved_s > 0)
    assert 0 < len(gaining) < FILES
    of_all, of_these = valuation.thread_time(), valuation.thread_time(gaining)
    assert of_all.doubt == of_these.doubt > 0
