"""Patterns of include and exclude that no file of the job matched are said."""

import json
import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import tfdarshan
from tfdarshan.commands import main
from tfdarshan.recording.writing.unmet_patterns import UnmetPatterns


def unmet(session: tfdarshan.Session | tfdarshan.Profile) -> dict[str, list[str]]:
    found: dict[str, list[str]] = session.meta[0]["unmet_patterns"]
    return found


def record(logdir: Path, job, **options) -> tfdarshan.Profile:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with tfdarshan.profile(logdir, **options) as session:
            job()
    return session


@pytest.mark.parametrize("option", ["include", "exclude"])
def test_a_pattern_that_no_file_matched_is_said(tmp_path, option):
    # GIVEN a job that reads below one folder, and a pattern for another
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.bin").write_bytes(bytes(777))
    right, wrong = f"{tmp_path}/data/", f"{tmp_path}/dato/"
    said = f"no file that the job used matches {option}={wrong}: see whether these patterns are right"

    options: dict[str, Any] = {option: [right, wrong]}

    # WHEN
    with (
        pytest.warns(RuntimeWarning, match=f"tfdarshan: {said}."),
        tfdarshan.profile(tmp_path / "logs", **options) as session,
    ):
        (tmp_path / "data" / "a.bin").read_bytes()

    # THEN the other one is not named
    assert unmet(session) == {"include": [], "exclude": []} | {option: [wrong]}
    assert said in session.meta[0]["bounds"]
    assert f"{option}={wrong}" in session.summary()


def test_patterns_that_all_matched_are_not_said(tmp_path):
    with tfdarshan.profile(tmp_path / "logs", include=["*.bin"], exclude=["*.log"]) as session:
        (tmp_path / "a.bin").write_bytes(b"1")
        (tmp_path / "a.log").write_bytes(b"1")

    assert unmet(session) == {"include": [], "exclude": []}
    assert "see whether" not in session.summary()


def test_each_pattern_that_a_file_matches_counts(tmp_path):
    # GIVEN a file that two patterns of the user, and one of the built-in ones, leave out
    session = record(
        tmp_path / "logs",
        lambda: (tmp_path / "a.pyc").write_bytes(b"1"),
        exclude=["*.pyc", f"{tmp_path}/", "*/b.pyc"],
        include=["*/a.pyc", "*/c.pyc"],
    )

    assert unmet(session) == {"include": ["*/c.pyc"], "exclude": ["*/b.pyc"]}


def test_built_in_patterns_are_no_business_of_the_user(tmp_path):
    with tfdarshan.profile(tmp_path / "logs") as session:
        (tmp_path / "a.bin").write_bytes(b"1")

    assert unmet(session) == {"include": [], "exclude": []}


def test_what_a_forked_child_used_counts(tmp_path):
    # GIVEN
    def job() -> None:
        child = os.fork()
        if child == 0:
            (tmp_path / "child.bin").write_bytes(b"1")
            os._exit(0)
        os.waitpid(child, 0)

    # WHEN
    session = record(tmp_path / "logs", job, exclude=["*/child.bin", "*/parent.bin"])

    # THEN
    assert unmet(session) == {"include": [], "exclude": ["*/parent.bin"]}


def test_what_an_unreadable_child_used_is_not_known(tmp_path, spool_folder):
    # GIVEN a child whose spool is damaged
    def job() -> None:
        child = os.fork()
        if child == 0:
            (tmp_path / "child.bin").write_bytes(b"1")
            os._exit(0)
        os.waitpid(child, 0)
        (spool,) = spool_folder.glob(f"*/{child}.spool")
        spool.write_bytes(b"nothing")

    # WHEN
    session = record(tmp_path / "logs", job, exclude=["*/nothing"])

    # THEN
    assert len(session.meta[0]["children"]["unreadable"]) == 1
    assert unmet(session) == {"include": [], "exclude": []}


def test_a_killed_job_told_what_it_met(tmp_path, spool_folder):
    # GIVEN
    code = (
        "import os, signal, tfdarshan\n"
        "tfdarshan.profile('logs', exclude=['*.met', '*.not']).start()\n"
        "open('a.met', 'w').close()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == -signal.SIGKILL
    )

    # WHEN
    assert main(["recover", str(tmp_path / "logs")]) == 0

    # THEN
    assert unmet(tfdarshan.open_session(tmp_path / "logs")) == {"include": [], "exclude": ["*.not"]}


def test_run_says_it_in_one_line(tmp_path, run_python):
    # GIVEN a relative pattern
    (tmp_path / "job.py").write_text("open('a.bin', 'wb').write(b'1')\n")

    # WHEN
    done = run_python("-m", "tfdarshan", "run", "--exclude", "dato/", "--exclude", "*.bin", "job.py")

    # THEN
    first, second = done.stderr.splitlines()
    assert first == (
        f"tfdarshan: no file that the job used matches exclude={tmp_path}/dato/: "
        "see whether these patterns are right."
    )
    assert second.startswith("tfdarshan: the session is in ")
    (meta,) = (tmp_path / "logs").rglob("*.meta.json")
    assert json.loads(meta.read_text())["unmet_patterns"]["exclude"] == [f"{tmp_path}/dato/"]
    shutil.rmtree(tmp_path / "logs")


def test_patterns_beyond_those_that_are_followed_are_not_said(tmp_path):
    # GIVEN 70 patterns, of which none matches
    session = record(tmp_path / "logs", lambda: None, exclude=[f"/none/{number}" for number in range(70)])

    assert len(unmet(session)["exclude"]) == 64
    assert "exclude=/none/3 or 60 more: see" in session.meta[0]["bounds"][0]


def test_options_of_older_sessions_have_no_patterns():
    assert UnmetPatterns({}).sentence() == ""
