"""Power cuts at random moments: what was not yet written to the disk is gone, on both tiers."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

import pytest

from tests import later_tensorflow as tf
from tests.integration.burst.checkpoint_pool import write_like_tensorflow
from tests.integration.burst.crash_run import saving
from tests.integration.burst.disk_image import (
    after_power_cut,
    can_mount,
    make_image,
    mounted,
    state_at_an_instant,
)
from tests.integration.burst.oracle import check_all_named, reported_numbers, restorable_number
from tfdarshan.checkpoint.burst_options import BurstOptions
from tfdarshan.checkpoint.pipeline import Pipeline

pytestmark = pytest.mark.skipif(not can_mount(), reason="mounting a loop device needs root and e2fsprogs")

LONGEST_S = 0.7
# Slow enough to read the disk between two writes.
WRITING_MB_S = 10


@pytest.fixture
def memory_folder():
    """A folder in memory: the image is copied in a moment, and its disk is not this machine's."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def cut_again_and_again(pool: Path, folder: Path, *, cuts: int, failures: float, seed: int) -> dict[str, int]:
    """Check what each cut leaves; return how many fell into a copy, and what was durable at the last."""
    chosen, latest, in_copy = random.Random(seed), 0, 0
    image = folder / "disk.img"
    make_image(image)
    with mounted(image, folder / "disk") as disk:
        options = ("--failures", failures, "--seed", seed, "--bandwidth-mb-s", WRITING_MB_S)
        with saving(pool, disk, *options, "--report", folder / "reported") as child:
            for number in range(cuts):
                time.sleep(chosen.uniform(0, LONGEST_S))
                reported = reported_numbers(folder / "reported")
                state = state_at_an_instant(image, child)
                with after_power_cut(state, folder) as found:
                    in_copy += any((found / "slow").glob(".tfdarshan-burst/incoming/*"))
                    at_cut = check_after_cut(found, max(reported, default=0), f"cut {number}")
                assert at_cut >= latest, f"cut {number}: went back from {latest} to {at_cut}"
                latest = at_cut
    return {"in copy": in_copy, "durable": latest}


def check_after_cut(found: Path, reported: int, what: str) -> int:
    """Check what is there, and what the next owner makes of it; return what was restorable at once."""
    at_cut = restorable_number(found / "slow")
    assert at_cut >= reported, f"{what}: {at_cut} is older than {reported}, which was reported durable"
    check_all_named(found / "slow")
    pipeline = Pipeline(found / "fast", found / "slow", BurstOptions(max_to_keep=2))
    assert pipeline.close(), what
    assert restorable_number(found / "slow") >= at_cut, what
    check_all_named(found / "slow")
    return at_cut


@pytest.mark.long
@pytest.mark.parametrize("failures", [0.0, 0.02], ids=["no failures", "with failures"])
def test_power_cuts_lose_and_tear_nothing(pool, memory_folder, failures):
    outcome = cut_again_and_again(pool, memory_folder, cuts=5, failures=failures, seed=1)

    assert outcome["durable"] > 0


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("failures", [0.0, 0.01], ids=["no failures", "with failures"])
def test_a_hundred_power_cuts_lose_and_tear_nothing(pool, memory_folder, failures):
    outcome = cut_again_and_again(pool, memory_folder, cuts=60, failures=failures, seed=1000)

    print(
        f"\n60 power cuts, {outcome['in copy']} of them in a copy; {outcome['durable']} checkpoints durable"
    )
    assert outcome["durable"] > 20
    assert outcome["in copy"] > 10


def test_a_power_cut_tears_what_tensorflow_writes_itself(pool, memory_folder):
    """What the tests above would see without the protocol."""
    # GIVEN a checkpoint that TensorFlow's way of writing has just finished, and its state file
    image = memory_folder / "disk.img"
    make_image(image)
    with mounted(image, memory_folder / "disk") as disk:
        write_like_tensorflow(pool, disk / "ckpt-1", 1)
        (disk / "checkpoint").write_text('model_checkpoint_path: "ckpt-1"\n')
        assert restorable_number(disk) == 1

        # WHEN
        state = state_at_an_instant(image)

    # THEN
    with after_power_cut(state, memory_folder) as found:
        assert tf.train.latest_checkpoint(str(found)) is None
