"""Jobs of the laboratory from end to end, one that is emulated and one by FUSE; and its command line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.unit.laboratory.made_up_outcomes import outcomes
from tfdarshan.workloads.laboratory.draw import draw
from tfdarshan.workloads.laboratory.outcome_file import write_outcomes
from tfdarshan.workloads.laboratory.storage_room import media_here

ROOM_FOR_IMPORTS_S = 900


def laboratory(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tfdarshan.workloads.laboratory", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=ROOM_FOR_IMPORTS_S)


@pytest.mark.long
@pytest.mark.timeout(2 * ROOM_FOR_IMPORTS_S)
@pytest.mark.parametrize("medium", ["emulated", "fuse"])
def test_a_job_runs_with_all_of_its_fixes_and_is_judged(tmp_path, medium):
    if medium not in media_here()[0]:
        pytest.skip(f"this machine has no storage by {medium}")
    # GIVEN a seed whose program imports no TensorFlow
    seed = next(seed for seed in range(100) if not draw(seed, (medium,)).program(tmp_path).uses_tensorflow)

    # WHEN
    ran = laboratory(
        "--seeds", str(seed), "--kinds", medium, "--repeats", "1",
        "--json", str(tmp_path / "out.json"), "--keep", str(tmp_path / "kept"),
    )  # fmt: skip

    # THEN the truth and the judgement are there, whatever they are
    assert ran.returncode == (0 if "bounds missed: none" in ran.stdout else 1), ran.stderr
    (outcome,) = json.loads((tmp_path / "out.json").read_text())
    assert outcome["seed"] == seed
    # (one that was over at once was made longer, with the same storage)
    assert outcome["words"].split("; ")[0] == draw(seed, (medium,)).words.split("; ")[0]
    assert outcome["best_gain"] >= 1
    assert outcome["first"] in ("right", "partly", "wrong", "missed", "alarm", "quiet", "marginal", "unclear")
    assert f"seed {seed}: " in ran.stdout
    assert "right first finding: " in ran.stdout
    # Each fix ran on its own, and left a session.
    runs = sorted((tmp_path / "kept" / f"seed-{seed}" / "runs").iterdir())
    assert len(runs) >= 3
    assert all((run / "logs").is_dir() for run in runs)

    # AND the same code judges what was kept as it did then, without running anything
    again = laboratory("--judge-again", str(tmp_path / "kept"), "--json", str(tmp_path / "again.json"))
    assert again.returncode == ran.returncode, again.stderr
    assert json.loads((tmp_path / "again.json").read_text()) == [outcome]
    assert sorted((tmp_path / "kept" / f"seed-{seed}" / "runs").iterdir()) == runs


@pytest.mark.parametrize("framework", ["tensorflow", "torch", "grain"])
def test_what_would_be_drawn_is_said_without_running_it(framework):
    ran = laboratory("--seeds", "8-10", "--kinds", "emulated", "--framework", framework, "--dry-run")
    words = [f"seed {seed}: {draw(seed, ('emulated',), framework).words}" for seed in (8, 9, 10)]
    assert ran.stdout.splitlines() == words


def test_no_job_is_begun_after_the_time_that_is_given(tmp_path):
    ran = laboratory("--seeds", "0-1", "--kinds", "emulated", "--minutes", "0", "--cold")
    assert ran.returncode == 0
    assert "0 minutes are over before seed 0" in ran.stderr
    assert "right first finding: none to count" in ran.stdout


def test_where_nothing_was_kept_nothing_is_judged(tmp_path):
    ran = laboratory("--judge-again", str(tmp_path))
    assert ran.returncode == 2
    assert ran.stderr.splitlines() == [f"laboratory: {tmp_path} holds no jobs that were kept."]


def test_fresh_seeds_are_not_those_of_development():
    drawn = [laboratory("--fresh", "2", "--kinds", "emulated", "--dry-run").stdout for _ in range(2)]
    seeds = [int(line.split(":")[0].removeprefix("seed ")) for text in drawn for line in text.splitlines()]
    assert min(seeds) >= 10_000
    assert len(set(seeds)) == 4


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--seeds", "9-3"), "'9-3' is no range of seeds such as 0-19"),
        (("--seeds", "some"), "'some' is no range of seeds such as 0-19"),
        (("--seeds", "3", "--page", "x.md"), "--page and --go-on are for fresh draws: leave --seeds out"),
        (("--kinds", "floppy"), "no such kind: floppy; there are fuse, emulated, ext4"),
    ],
)
def test_what_it_does_not_understand_is_said_in_a_line(options, why):
    ran = laboratory(*options)
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].endswith(why)


def test_a_draw_that_was_stopped_goes_on_with_its_next_seed(tmp_path):
    # GIVEN the outcomes of four jobs, of which the last is of seed 4
    write_outcomes(outcomes(), tmp_path / "before.json")

    # WHEN it goes on up to six, or has no time to
    more = laboratory("--go-on", str(tmp_path / "before.json"), "--fresh", "6", "--dry-run")
    none = laboratory("--go-on", str(tmp_path / "before.json"), "--fresh", "6", "--minutes", "0", "--cold")

    # THEN
    assert [line.split(":")[0] for line in more.stdout.splitlines()] == ["seed 5", "seed 6"]
    assert "right first finding: 1 of 2" in none.stdout


def test_outcomes_that_cannot_be_read_are_said_in_a_sentence(tmp_path):
    (tmp_path / "before.json").write_text("[]")
    ran = laboratory("--go-on", str(tmp_path / "before.json"))
    assert ran.returncode == 2
    assert ran.stderr.splitlines() == [
        f"laboratory: {tmp_path / 'before.json'} holds no outcomes to go on from."
    ]
