"""`tfdarshan advise --check` on sessions without steps: what is compared, and the exit codes."""

import dataclasses
import json

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.staging.synthetic import FAST
from tfdarshan.commands import main
from tfdarshan.staging.advice import decide
from tfdarshan.staging.plan_file import Plan, PlannedFile, write_plan
from tfdarshan.staging.question import Question

FILES = 100
SIZE = 100_000


def job(logdir, *, start_up_ms, read_ms, folder="/data"):
    """The loop reads 100 files itself after some start-up, and works for 1 ms after each."""
    calls = []
    for number in range(FILES):
        at = start_up_ms + number * (1.025 * read_ms + 1)
        calls.append((at, at + 0.025 * read_ms, LOOP, "open", number, 0))
        calls.append((at + 0.025 * read_ms, at + 1.025 * read_ms, LOOP, "pread", number, SIZE))
    paths = [f"{folder}/{number:03}" for number in range(FILES)]
    return training(logdir, calls, paths=paths, sizes=[SIZE] * FILES)


@pytest.fixture
def plan(tmp_path):
    """The plan for a job of 0.2 s of start-up and 4.2 s of reading, which it waits for; for all files."""
    session = job(tmp_path / "before", start_up_ms=200, read_ms=40)
    question = Question(fast="/fast", slow="/data", room_bytes=1 << 40, block_bytes=1)
    decision = decide([session], question, FAST)
    files = tuple(PlannedFile(f"{number:03}", SIZE, 1) for number in range(FILES))
    promise = dataclasses.asdict(decision.promise)
    write_plan(
        Plan("/data", "/fast", files, sessions=(str(session.path),), promise=promise), tmp_path / "plan.json"
    )
    return tmp_path / "plan.json"


def check(capsys, plan, after, *more):
    code = main(["advise", "--check", str(plan), str(after), *more])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_start_up_is_no_part_of_an_epoch(capsys, tmp_path, plan):
    # GIVEN a staged job as fast as promised, with 5 s of start-up instead of 0.2 s
    after = job(tmp_path / "after", start_up_ms=5000, read_ms=0.1, folder="/fast")

    # WHEN
    code, text, _ = check(capsys, plan, after.path)

    # THEN
    assert code == 0
    assert text.startswith("The promise was kept.")
    assert "Times are from the first read of the data set to the last one, without start-up." in text


def test_a_promise_that_is_missed_is_exit_code_1(capsys, tmp_path, plan):
    # GIVEN copies that are as slow as the originals
    after = job(tmp_path / "after", start_up_ms=1000, read_ms=40, folder="/fast")

    # WHEN
    code, text, _ = check(capsys, plan, after.path)
    found = json.loads(check(capsys, plan, after.path, "--json")[1])

    # THEN
    assert (code, found["kept"], found["missed"]) == (1, False, True)
    assert "longer than promised. The assumption that is most wrong is a pass over a copy" in text


def test_an_epoch_shorter_than_promised_misses_nothing(capsys, tmp_path, plan):
    content = json.loads(plan.read_text())
    content["promise"] |= {"saved_s": 1.0, "low_s": 0.9, "high_s": 1.1}
    plan.write_text(json.dumps(content))
    after = job(tmp_path / "after", start_up_ms=1000, read_ms=0.1, folder="/fast")

    code, text, _ = check(capsys, plan, after.path)

    assert code == 0
    assert "shorter than promised" in text


@pytest.mark.parametrize(
    ("session", "said"),
    [("before", "the plan was made from"), ("elsewhere", "reads none of"), ("originals", "and no copy;")],
)
def test_what_cannot_be_checked_is_one_sentence_and_exit_code_2(capsys, tmp_path, plan, session, said):
    # GIVEN the session that the plan was made from, one of another job, one that read originals
    if session != "before":
        folder = {"elsewhere": "/other", "originals": "/data"}[session]
        job(tmp_path / session, start_up_ms=0, read_ms=40, folder=folder)

    # WHEN
    code, _, err = check(capsys, plan, tmp_path / session)

    # THEN
    assert code == 2
    assert err.startswith("tfdarshan: there is nothing to check: ")
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_plan_without_files_promises_nothing(capsys, tmp_path, plan):
    content = json.loads(plan.read_text()) | {"files": []}
    plan.write_text(json.dumps(content))
    after = job(tmp_path / "after", start_up_ms=0, read_ms=40, folder="/fast")

    code, _, err = check(capsys, plan, after.path)

    assert (code, len(err.splitlines())) == (2, 1)
    assert "nothing to check: the plan has no files" in err
