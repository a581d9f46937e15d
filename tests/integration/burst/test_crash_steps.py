"""A SIGKILL before every single step of saving three checkpoints and retiring one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.burst.checkpoint_pool import write_like_tensorflow
from tests.integration.burst.oracle import check_all_named, reported_numbers, restorable_number
from tfdarshan.checkpoint.bundle import find_bundle
from tfdarshan.checkpoint.burst_options import BurstOptions
from tfdarshan.checkpoint.fast_tier import pending_entries
from tfdarshan.checkpoint.pipeline import Pipeline
from tfdarshan.sessions.session_directory import BURST_CONTROL

ROOT = Path(__file__).parents[3]
# Far fewer would mean that the steps are not seen any more. Not all are met: two threads work side by side,
# and a step of one run need not come in the next.
FEWEST_KILLS = 150


def leftovers(folder: Path) -> list[str]:
    """List what an unfinished save or copy would leave behind."""
    slow, fast = folder / "slow" / BURST_CONTROL, folder / "fast" / BURST_CONTROL
    left = [*(slow / "incoming").iterdir(), *(slow / "retiring").iterdir(), *(fast / "queue").iterdir()]
    return [os.fspath(path) for path in left]


@pytest.mark.long
@pytest.mark.timeout(900)
def test_nothing_is_lost_or_torn_whatever_step_is_the_last(pool, tmp_path):
    # GIVEN children of which each was killed before another step
    ran = subprocess.run(
        [sys.executable, "-m", "tests.integration.burst.crash_child", "steps", pool, tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    steps, missed = map(int, ran.stdout.split())
    assert steps - missed > FEWEST_KILLS

    for step in range(1, steps + 1):
        folder = tmp_path / str(step)
        reported = reported_numbers(folder / "reported")
        # THEN what TensorFlow takes for the latest is whole, and not older than was last reported durable
        if (folder / "slow").exists():
            at_crash = restorable_number(folder / "slow")
            check_all_named(folder / "slow")
        else:
            at_crash = 0
        assert at_crash >= max(reported, default=0), f"step {step}"

        # WHEN the next owner comes
        sealed = [entry.name for entry in pending_entries(folder / "fast")]
        pipeline = Pipeline(folder / "fast", folder / "slow", BurstOptions(max_to_keep=2))
        assert pipeline.close(), f"step {step}"

        # THEN it finishes what was sealed, removes the leftovers, and never goes back
        after = restorable_number(folder / "slow")
        check_all_named(folder / "slow")
        assert after >= at_crash, f"step {step}"
        assert after == max([at_crash, *(int(name[5:]) for name in sealed)]), f"step {step}"
        assert leftovers(folder) == [], f"step {step}"
        data = [path.name for path in (folder / "slow").iterdir() if path.name.startswith("ckpt")]
        assert len(data) == 4 * min(after, 2), f"step {step}: {data}"


def test_a_torn_checkpoint_is_seen_by_the_oracle(pool, tmp_path):
    # GIVEN a slow tier with one checkpoint
    folder = tmp_path
    pipeline = Pipeline(folder / "fast", folder / "slow", BurstOptions())
    write_like_tensorflow(pool, folder / "fast" / "ckpt-1", 1)
    pipeline.capture(find_bundle(folder / "fast" / "ckpt-1"), unique="one", saved_at=1.0)
    assert pipeline.close()
    assert restorable_number(folder / "slow") == 1

    # WHEN a shard is cut short
    shard = next((folder / "slow").glob("ckpt-1.data-00001*"))
    os.truncate(shard, shard.stat().st_size // 2)

    # THEN
    try:
        restorable_number(folder / "slow")
    except Exception:
        return
    raise AssertionError("the oracle read a torn checkpoint")
