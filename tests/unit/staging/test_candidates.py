"""Which files can be staged, and what of their time."""

import dataclasses

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.candidate import find_candidates
from tfdarshan.staging.whole_input import stage_all

KB = 1_000


def candidates(session):
    return find_candidates(measure(session).use_and_facts[0])


def job(logdir, *, open_ms, cached_ms=0.03, epochs=3, files=40, more=()):
    """Gives a session that reads files in epochs, of which memory serves all but the first."""
    at, calls = 0.0, []
    for epoch in range(epochs):
        for file in range(files):
            end = at + open_ms + (5.0 if epoch == 0 else cached_ms)
            calls += [
                (at, at + open_ms, 1, "open", file, 0),
                (at + open_ms, end, 1, "read", file, 100 * KB),
            ]
            at = end
    paths = [f"/data/{file:03}.sqlite" for file in range(files)] + list(more)
    calls += [(at, at + 0.01, 1, "stat", files + place, 0) for place in range(len(more))]
    steps = epochs_of_steps(int(at // 20) + 1, 20, 19)
    return training(logdir, calls, steps, paths=paths, sizes=[100 * KB] * files + [-1] * len(more))


def test_slow_opens_are_to_be_gained_though_memory_has_the_bytes(tmp_path):
    # GIVEN opens of 10 ms in each of three epochs, and reads of 5 ms in the first
    slow, quick = (candidates(job(tmp_path / str(ms), open_ms=ms)) for ms in (10.0, 0.05))

    # THEN the opens' time but for a look at each original, and the reads' are gained where opens are slow,
    # and next to nothing else
    assert float((slow.pass_s * slow.recurring).sum()) == pytest.approx(40 * (3 * 10 - 5 + 5) / 1e3, rel=0.05)
    assert float((quick.pass_s * quick.recurring).sum()) < 0.005


def test_a_copys_open_still_asks_the_server_once(tmp_path):
    # GIVEN one epoch of opens of 10 ms and reads of 5 ms: the first open of a copy looks at the original
    slow, quick = (candidates(job(tmp_path / str(ms), open_ms=ms, epochs=1)) for ms in (10.0, 0.05))

    # THEN half of an open is gained, and all of one that is no question to a server
    assert float((slow.pass_s * slow.recurring).sum()) == pytest.approx(40 * (5 + 5) / 1e3, rel=0.05)
    assert float((quick.pass_s * quick.recurring).sum()) == pytest.approx(40 * 5.05 / 1e3, rel=0.01)


@pytest.mark.parametrize(
    ("run_s", "runs", "looks"),
    [(59.0, 1, 1), (61.0, 1, 2), (150.0, 1, 3), (1e6, 1, 3), (59.0, 2, 2)],
    ids=["within a minute", "longer", "an open a minute", "an open an hour", "two ranks"],
)
def test_a_look_holds_for_a_minute_of_each_run(tmp_path, run_s, runs, looks):
    # GIVEN three epochs of opens of 10 ms
    use = measure(job(tmp_path, open_ms=10.0)).use_and_facts[0]

    # WHEN a run of them takes so long, or several do
    found = find_candidates(dataclasses.replace(use, run_s=run_s, runs=runs))

    # THEN so many of the opens of a copy look at the original, for half the time of an open
    assert set(found.looks.tolist()) == {looks}
    assert found.look_s == pytest.approx(5e-3, rel=0.01)
    saved_s = float((found.pass_s * found.passes).sum())
    assert saved_s == pytest.approx(40 * (3 * 10 + 5 - looks * 5) / 1e3, rel=0.05)


def test_a_run_that_copies_make_short_looks_less_often(tmp_path):
    # GIVEN a run in which each of three epochs takes over a minute, and training waits for nearly all of it
    use, facts = measure(job(tmp_path, open_ms=10.0)).use_and_facts
    slow = dataclasses.replace(use, run_s=130.0)
    every = dataclasses.replace(use, run_s=130.0, runs=3)

    # WHEN all is staged: a third of the time is left with a look at each open, and less with fewer
    found, looking = (stage_all(one, facts, LOCAL_SSD) for one in (slow, every))

    # THEN the run is over within a minute, and each original is looked at once
    assert set(find_candidates(slow).looks.tolist()) == {3}
    assert set(found.found.looks.tolist()) == {1}
    assert found.expected.saved_s > looking.expected.saved_s
    assert set(looking.found.looks.tolist()) == {3}


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

    assert 'shutil.copy("/data/samples.sqlite", "DIR")' in cure.line
