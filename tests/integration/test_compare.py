"""`tfdarshan compare`: exit codes, output, and the sessions it takes."""

import errno
import json
import os
import re
import time

import pytest

import tfdarshan
from tfdarshan.analysis import summary_data
from tfdarshan.commands import main
from tfdarshan.terminal.paint import WIDTH


@pytest.fixture(autouse=True)
def idle_machine(monkeypatch):
    """What other programs took while a test recorded is not what it is about."""
    monkeypatch.setattr(summary_data, "others_share", lambda _meta: None)


def record(folder, run, *, chunk=500_000, sleep_s=0.0, **options):
    """Read 30 files of 1,000,000 bytes in parts of `chunk`: a page fault fetches little beside them."""
    for number in range(30):
        if not (folder / f"{number:02}").exists():
            (folder / f"{number:02}").write_bytes(bytes(1_000_000))
    with tfdarshan.profile(
        folder / "logs" / run, spool_dir=folder, include=[f"{folder}/"], **options
    ) as session:
        for number in range(30):
            handle = os.open(folder / f"{number:02}", os.O_RDONLY)
            while os.read(handle, chunk):
                time.sleep(sleep_s)
            os.close(handle)
    return session.path


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Two runs of the same work: `slow` sleeps between reads, and makes five times as many."""
    folder = tmp_path_factory.mktemp("compare")
    record(folder, "fast")
    record(folder, "slow", chunk=100_000, sleep_s=0.001)
    return folder / "logs"


def run(capsys, *arguments):
    code = main(["compare", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_what_changed_is_said(capsys, logs):
    code, text, errors = run(capsys, logs / "fast", logs / "slow")

    assert (code, errors) == (0, "")
    assert max(map(len, text.splitlines())) <= WIDTH
    words = " ".join(text.split())
    assert "fast -> slow. Comparable: yes." in words
    # THEN the sentence comes first, below the names of the runs
    assert re.search(
        r"^[\d.]+x slower: the session took [\d.,]+ m?s \(before: [\d.,]+ m?s\)\.$", text, re.MULTILINE
    )
    assert "both read the same files (30 files)" in words
    # 1,000,000 bytes in parts of 500,000 and of 100,000, and an empty read for each file.
    assert "reads 90 330 +266.7 % worse" in words
    assert "zero-length reads 30 30 same" in words
    assert "bytes read 30.0 MB 30.0 MB same" in words


def test_json_has_the_same(capsys, logs):
    code, text, _ = run(capsys, logs / "fast", logs / "slow", "--json", "--fail-if", "reads>+200%")

    data = json.loads(text)
    assert code == 1
    assert [side["label"] for side in data["runs"]] == ["fast", "slow"]
    (comparison,) = data["comparisons"]
    assert comparison["comparable"] == "yes"
    reads = next(change for change in comparison["changes"] if change["metric"] == "reads")
    assert (reads["before"], reads["after"], reads["outcome"]) == (90, 330, "worse")
    assert reads["change"] == pytest.approx(330 / 90 - 1)
    (failure,) = data["failures"]
    assert (failure["condition"], failure["run"], failure["holds"]) == ("reads>+200%", "slow", True)


@pytest.mark.parametrize(
    ("conditions", "code"),
    [
        (["reads>+266%"], 1),
        (["reads>+267%"], 0),
        (["reads>+240"], 0),
        (["reads>+239"], 1),
        (["reads>=330"], 1),
        (["bytes_read>+0%", "duration>+1%"], 1),
        (["bytes_read>+0%"], 0),
        (["write_bandwidth<-10%"], 2),  # nothing was written: that cannot be judged
        (["no_such>1"], 2),
        (["reads!1"], 2),
    ],
)
def test_exit_code_says_whether_a_condition_holds(capsys, logs, conditions, code):
    options = [part for text in conditions for part in ("--fail-if", text)]
    assert run(capsys, logs / "fast", logs / "slow", *options)[0] == code


def test_every_later_run_is_held_against_the_first(capsys, logs):
    code, text, _ = run(
        capsys, logs / "fast", logs / "fast", logs / "slow", "--fail-if", "reads>+10%", "--json"
    )
    assert code == 1
    assert [failure["run"] for failure in json.loads(text)["failures"]] == ["run 3"]


def test_runs_and_sessions_are_named_below_a_logdir(capsys, logs):
    session = next((logs / "slow").rglob("*.meta.json")).parent.name
    for named in (
        f"{logs}:slow",
        f"{logs}:{session}" if session not in str(logs / "fast") else logs / "slow",
    ):
        code, text, errors = run(capsys, f"{logs}:fast", named, "--json")
        assert (code, errors) == (0, "")
    assert json.loads(text)["runs"][0]["sessions"][0].startswith(f"{logs}/fast/")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{logs}/fast"], "compare needs two to 26 logdirs or sessions, not 1"),
        (["{logs}/fast", "{logs}/none"], "there is no logdir {logs}/none"),
        (["{logs}/fast", "{logs}:none"], "has no run or session 'none': it has fast, slow, 20"),
        (["{logs}/fast", "{logs}/slow", "--runs", "0"], "--runs must be at least 1"),
        (["{logs}/fast", "{logs}/slow", "--runs", "3"], "has 1 finished session, not 3"),
        (["{logs}/fast", "{logs}/slow", "--fail-if", "duraton>1s"], "did you mean duration"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, logs, arguments, said):
    code, text, errors = run(capsys, *(argument.format(logs=logs) for argument in arguments))

    assert (code, text) == (2, "")
    assert errors.startswith("tfdarshan: ")
    assert errors.count("\n") == 1
    assert said.format(logs=logs) in errors


def test_a_folder_that_may_not_be_looked_at_is_code_2(capsys, monkeypatch):
    # GIVEN a logdir of another user
    def refused(path, runs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr("tfdarshan.session.open_newest", refused)

    # THEN it is not taken for a condition that holds
    assert run(capsys, "/theirs/logs", "logs") == (
        2,
        "",
        "tfdarshan: /theirs/logs cannot be used: Permission denied.\n",
    )


def test_damaged_session_is_code_2(capsys, tmp_path, logs):
    path = record(tmp_path, "other")
    next(path.glob("*.files.parquet")).write_bytes(b"PAR1")
    code, text, errors = run(capsys, logs / "fast", tmp_path / "logs")

    assert (code, text) == (2, "")
    assert "is damaged" in errors


def test_strict_refuses_runs_of_other_work(capsys, tmp_path, logs):
    record(tmp_path, "other", chunk=1_000_000)
    (tmp_path / "00").write_bytes(bytes(5_000_000))
    record(tmp_path, "other", chunk=1_000_000)
    code, text, _ = run(capsys, logs / "fast", tmp_path / "logs")
    assert (code, "Comparable: no, the work differs" in text) == (0, True)
    code, _, errors = run(capsys, logs / "fast", tmp_path / "logs", "--strict")
    assert code == 2
    assert errors == "tfdarshan: the runs are not comparable, and --strict was given.\n"


def test_a_session_without_a_trace_is_whole(capsys, tmp_path, logs):
    record(tmp_path, "untraced", trace=False)
    _, text, _ = run(capsys, logs / "fast", tmp_path / "logs", "--json")

    checks = json.loads(text)["comparisons"][0]["checks"]
    complete = next(check for check in checks if check["name"] == "complete")
    assert (complete["state"], complete["sentence"]) == ("same", "both hold all they recorded")


def test_medians_of_the_newest_sessions_are_taken(capsys, tmp_path):
    for chunk in (100_000, 500_000, 500_000, 1_000_000):
        record(tmp_path, "many", chunk=chunk)
    logdir = tmp_path / "logs" / "many"
    _, text, _ = run(capsys, logdir, logdir, "--runs", "3", "--json")

    data = json.loads(text)
    assert len(data["runs"][0]["sessions"]) == 3
    reads = next(c for c in data["comparisons"][0]["changes"] if c["metric"] == "reads")
    assert reads["before"] == 90  # of 90, 90 and 60
