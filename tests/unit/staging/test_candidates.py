"""Which files can be staged, and what of their time."""

import pytest

from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.candidate import find_candidates
from tfdarshan.staging.staged_input import staged_input

KB, FILES = 1_000, 40


def candidates(session):
    return find_candidates(measure(session).use_and_facts[0])


def staged(session):
    measures = measure(session)
    use, facts = measures.use_and_facts
    return staged_input(use, facts, measures.job, LOCAL_SSD, find_candidates(use))


def job(logdir, *, open_ms, cached_ms=0.03, epochs=3, files=FILES, more=(), copies=""):
    """Return a session that reads files in epochs, of which memory serves all but the first."""
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
    sizes = [100 * KB] * files + [-1] * len(more)
    return training(logdir, calls, steps, paths=paths, sizes=sizes, meta={"copies": copies})


def test_slow_opens_are_to_be_gained_though_memory_has_the_bytes(tmp_path):
    # GIVEN opens of 10 ms in each of three epochs, and reads of 5 ms in the first
    slow, quick = (staged(job(tmp_path / str(ms), open_ms=ms)) for ms in (10.0, 0.05))

    # THEN the opens' time and the reads' are gained if opens are slow, else the reads' of the first epoch
    assert float(slow.saved_s.sum()) * 3 == pytest.approx(FILES * (3 * 10 + 5) / 1e3, rel=0.1)
    assert float(quick.saved_s.sum()) * 3 == pytest.approx(FILES * 5 / 1e3, rel=0.1)


def test_copies_that_a_staged_run_read_are_not_to_be_copied_again(tmp_path):
    # GIVEN a session whose job was led to copies in a folder
    files = 10
    found = [
        candidates(job(tmp_path / str(place), open_ms=10.0, files=files, copies=copies))
        for place, copies in enumerate(["/other", "/data"])
    ]

    # THEN
    assert [len(one.rows) for one in found] == [files, 0]
    assert [one.files for one in found[1].left_out if one.reason == "copies of staged files already"] == [
        files
    ]


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

    problems = [one.name for one in diagnose(session).findings if one.kind == "problem"]
    assert ("staging" in problems) is worth


@pytest.mark.parametrize(("tid", "opened"), [(LOOP, ""), (1, ", check_same_thread=False")])
def test_a_database_alone_is_to_be_copied_and_opened_there(tmp_path, tid, opened):
    # GIVEN a database that the loop's own thread reads, or a thread that may not be the one that opened it
    calls = [(20.0 * n, 20.0 * n + 19, tid, "pread", 0, 4096, 4096 * n) for n in range(600)]
    session = training(
        tmp_path,
        [*calls, (12_000, 12_001, tid, "stat", 1, 0)],
        epochs_of_steps(600, 20, 19),
        paths=["/data/samples.sqlite", "/data/samples.sqlite-journal"],
        sizes=[600 * 4096, -1],
    )

    fix = next(one.fix for one in diagnose(session).findings if one.name == "staging")

    first = "to a local disk. If the page cache keeps the input, only the first epoch gets faster."
    assert first in fix.what
    assert fix.what.endswith(
        ". Open the copy with the arguments of the original. `cp -u` copies only what has changed since."
    )
    assert fix.line.splitlines() == [
        "cp -u /data/samples.sqlite DIR/", f'database = sqlite3.connect("DIR/samples.sqlite"{opened})'
    ]  # fmt: skip
