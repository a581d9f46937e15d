"""What is left when staging ends in the middle: killed, out of room, or with errors."""

import dataclasses
import json
import os
import resource
import subprocess
import sys

import pytest

from tests.integration.staging.tree import differing, make_files, plan_of, snapshot
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.plan_file import write_plan
from tfdarshan.staging.undo import undo_plan
from tfdarshan.staging.verify import verify_plan


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.long)])
def test_kills_at_random_moments_leave_nothing_partial(tmp_path, kills):
    # WHEN so many applies and so many undos were killed
    program = [sys.executable, "-m", "tests.integration.staging.crash_rounds", str(tmp_path), str(kills), "7"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)

    # THEN originals and others' files were never touched, no name showed a part, re-runs finished the work
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert min(found["killed"].values()) >= kills
    assert sum(found["midway"].values()) >= kills // 2


@pytest.fixture
def small_tier(tmp_path):
    """A tmpfs of 1 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("guess", [True, False])
def test_full_tier_stops_with_a_sentence_and_the_next_run_goes_on(tmp_path, small_tier, monkeypatch, guess):
    # GIVEN 3 MB for a tier of 1 MiB, which is found out before a batch, or only when a write fails
    make_files(tmp_path / "slow", 60)
    originals = snapshot(tmp_path / "slow")
    plan = plan_of(tmp_path / "slow", small_tier)
    monkeypatch.setattr("tfdarshan.staging.apply.BATCH_FILES", 4)
    if not guess:
        monkeypatch.setattr("tfdarshan.staging.apply._Run._has_room", lambda self, batch: True)

    # WHEN
    result = apply_plan(plan, ApplyOptions())

    # THEN
    assert ("must stay free" if guess else "is full") in result.stopped
    assert 0 < result.copied < 60
    assert differing(tmp_path / "slow", small_tier) == []
    assert verify_plan(plan).good == result.copied

    # WHEN what fits is asked for
    copied = {file for file in plan.files if (small_tier / file.name).exists()}
    fitting = dataclasses.replace(plan, files=tuple(file for file in plan.files if file in copied))
    assert apply_plan(fitting, ApplyOptions()).there == len(copied)

    # THEN undo leaves an empty tier, if there is room for the journal of the copies that both plans use
    (small_tier / fitting.files[0].name).unlink()
    undo_plan(plan)
    undo_plan(fitting)
    assert snapshot(small_tier) == {}
    assert snapshot(tmp_path / "slow") == originals


def test_write_that_fails_in_the_middle_of_a_file_leaves_no_part(tmp_path):
    # GIVEN a process that may write files of 50 KB only: larger ones fail half way, without root too
    make_files(tmp_path / "slow", 20)
    (tmp_path / "fast").mkdir()
    write_plan(plan_of(tmp_path / "slow", tmp_path / "fast"), tmp_path / "plan.json")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    # WHEN
    done = subprocess.run(
        [sys.executable, "-m", "tfdarshan", "stage", "apply", str(tmp_path / "plan.json")],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )

    # THEN
    assert done.returncode == 1
    assert "is full" in done.stdout
    assert "Traceback" not in done.stderr
    assert differing(tmp_path / "slow", tmp_path / "fast") == []


@pytest.mark.parametrize("call", ["fsync", "linkat", "mkdir", "openat", "utimensat", "write"])
def test_calls_that_fail_on_the_fast_tier_leave_no_part(tmp_path, call):
    """strace makes every third such call fail from some point on, whatever it is for."""
    # GIVEN
    make_files(tmp_path / "slow", 20)
    (tmp_path / "fast").mkdir()
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")
    write_plan(plan, tmp_path / "plan.json")
    program = (
        "import sys\n"
        "from tfdarshan.commands import main\n"
        "import tfdarshan.staging.apply, concurrent.futures.thread, hashlib\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    inject = f"inject={call}:error=EIO:when=3+3"
    paths = [str(tmp_path / "fast"), *(str(tmp_path / "fast" / name) for name in ("x", "x/y", "z"))]
    state = tmp_path / ".tfdarshan-stage-fast"
    paths += [str(state), str(state / "tmp"), str(state / "journal")]
    paths += [str(state / "tmp" / f"0-{number}") for number in range(20)]
    only = [word for path in paths for word in ("-P", path)]

    strace = ["strace", "-f", "-qq", "-o", str(tmp_path / "calls"), *only, "-e", inject]

    # WHEN
    done = subprocess.run(
        [*strace, sys.executable, "-c", program, "stage", "apply", str(tmp_path / "plan.json")],
        capture_output=True,
        text=True,
        check=False,
    )

    # THEN
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 1, done.stdout
    assert "(INJECTED)" in (tmp_path / "calls").read_text()
    assert differing(tmp_path / "slow", tmp_path / "fast") == []
    result = apply_plan(plan, ApplyOptions())
    assert (result.problems, result.stopped) == ({}, "")
    assert verify_plan(plan).good == 20
    undo_plan(plan)
    assert os.listdir(tmp_path / "fast") == []
