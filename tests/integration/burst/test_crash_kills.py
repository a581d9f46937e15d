"""SIGKILL at random moments of saving without pause, again and again in the same folders."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.integration.burst.crash_run import saving
from tests.integration.burst.oracle import check_all_named, reported_numbers, restorable_number
from tfdarshan.sessions.session_directory import BURST_CONTROL

LONGEST_S = 0.8


def kill_again_and_again(
    pool: Path, folder: Path, *, kills: int, failures: float, seed: int
) -> dict[str, int]:
    """Check the slow tier after each kill; return how many fell into a copy, and what was durable."""
    chosen, latest, in_copy = random.Random(seed), 0, 0
    slow, away = folder / "slow", folder / "away"
    for number in range(kills):
        with saving(pool, folder, "--failures", failures, "--seed", seed + number):
            if failures and number % 3 == 0:
                # The slow tier vanishes for a while.
                time.sleep(chosen.uniform(0, 0.1))
                slow.rename(away)
                time.sleep(chosen.uniform(0, 0.2))
                away.rename(slow)
            time.sleep(chosen.uniform(0, LONGEST_S))
        in_copy += any((slow / BURST_CONTROL / "incoming").iterdir())
        found, reported = restorable_number(slow), reported_numbers(folder / "reported")
        assert found >= max(reported, default=0), f"kill {number}: older than what was reported durable"
        assert found >= latest, f"kill {number}: went back from {latest} to {found}"
        assert reported == sorted(reported), f"kill {number}"
        check_all_named(slow)
        latest = found
    return {"in copy": in_copy, "durable": latest}


@pytest.mark.long
@pytest.mark.parametrize("failures", [0.0, 0.02], ids=["no failures", "with failures"])
def test_kills_lose_and_tear_nothing(pool, tmp_path, failures):
    outcome = kill_again_and_again(pool, tmp_path, kills=3, failures=failures, seed=1)

    assert outcome["durable"] > 0


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("failures", [0.0, 0.01], ids=["no failures", "with failures"])
def test_hundreds_of_kills_lose_and_tear_nothing(pool, tmp_path, failures):
    outcome = kill_again_and_again(pool, tmp_path, kills=160, failures=failures, seed=1000)

    print(f"\n160 kills, {outcome['in copy']} of them in a copy; {outcome['durable']} checkpoints durable")
    assert outcome["durable"] > 160
    assert outcome["in copy"] > 40
