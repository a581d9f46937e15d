"""Jobs of known causes: the right finding comes first, and nothing is found in healthy ones.

The quick forms run in a process of their own, as TensorFlow takes long to start, every second one in the
long tests. One that is not as it must be runs again, up to three times, as a stall of the machine makes a
short job another one. The measured suite, in which the gains of the fixes are held against what was promised,
is `make findings`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.later_tensorflow import needs
from tests.one_measurement import asked, different
from tfdarshan.session import find_sessions, open_session
from tfdarshan.workloads.scenarios.before_after import CROWDED, DISTURBED
from tfdarshan.workloads.scenarios.names import NAMES

needs("tensorflow")
pytest.importorskip("PIL")

ROOT = Path(__file__).parents[2]
LEAST_SCENARIOS = 16
HALVES = NAMES[::2], NAMES[1::2]


def run_suite(folder: Path, *options: str, timeout_s: int) -> dict[str, dict[str, Any]]:
    """Run the suite and return each scenario's outcome."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tfdarshan.workloads.scenarios",
            *options,
            "--json",
            str(folder / "outcomes.json"),
        ],
        cwd=ROOT,
        env={**os.environ, "TFDARSHAN_SPOOL_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    outcomes = json.loads((folder / "outcomes.json").read_text())
    return {outcome["name"]: outcome for outcome in outcomes}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """Return what gives a scenario's outcome: its half of them runs at once."""

    @cache
    def of_half(names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        outcomes = run_suite(tmp_path_factory.mktemp("scenarios"), *names, "--quick", timeout_s=560)
        assert tuple(outcomes) == names
        return outcomes

    return lambda name: of_half(next(half for half in HALVES if name in half))[name]


def test_there_are_enough_scenarios_and_healthy_ones_among_them() -> None:
    assert len(NAMES) >= LEAST_SCENARIOS
    assert sum(name.startswith("healthy") for name in HALVES[0]) == 2


@pytest.mark.timeout(600)  # as it runs half of them
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in HALVES[1] else name for name in NAMES]
)
def test_the_right_finding_comes_first(quick: Callable[[str], dict[str, Any]], name: str) -> None:
    outcome = quick(name)

    assert bool(outcome["expected"]) != name.startswith("healthy")
    if outcome["problems"] and outcome["disturbed"] >= DISTURBED:
        pytest.skip(f"other virtual machines had a processor for up to {outcome['disturbed']:.0%} of a run")
    if outcome["problems"] and outcome["crowded"] >= CROWDED:
        pytest.skip(f"other processes had a processor for up to {outcome['crowded']:.0%} of a run")
    assert outcome["problems"] == [], outcome["verdict"]


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_every_interface_gives_the_same_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # GIVEN a recorded session of each scenario, fixed or not
    run_suite(tmp_path, "--quick", "--work-dir", str(tmp_path / "work"), timeout_s=1000)

    # WHEN every interface is asked for the same figures
    found = {}
    for folder in sorted((tmp_path / "work").iterdir()):
        for path in find_sessions(folder / "logs"):
            found[folder.name, path.name] = different(
                asked(open_session(path), tmp_path, monkeypatch, capsys)
            )
            (tmp_path / "report.html").unlink()

    # THEN none differs from another
    assert len(found) >= len(NAMES)
    assert {name: questions for name, questions in found.items() if questions} == {}


@pytest.mark.long
def test_fixes_give_what_was_promised(tmp_path: Path) -> None:
    wrong = {name: outcome["problems"] for name, outcome in run_suite(tmp_path, timeout_s=3000).items()}

    assert {name: problems for name, problems in wrong.items() if problems} == {}
