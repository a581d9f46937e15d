"""Loops as people write them: what a local disk gives is in the range that their session says.

Each runs on a tier that sleeps, and without it. Neither the session nor the model knows that tier.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.integration.staging.loop_shapes import SHAPES

FILES = 120
# Two runs of a second differ by so much.
RUNS_DIFFER = 0.1


def run(shape, data, logdir, environment):
    """Return the seconds of a run."""
    command = [sys.executable, "-m", "tests.integration.staging.loop_shapes", shape, str(data), str(logdir)]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("tier", ["lustre", "pipe"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_local_disk_gives_what_the_session_says(shape, tier, memory, tmp_path, tier_library):
    # GIVEN files of 10 to 400 kB on a tier
    dice, data = np.random.default_rng(3), memory / "data"
    data.mkdir()
    for number, size in enumerate(np.clip(60_000 * dice.lognormal(0, 0.7, FILES), 1e4, 4e5).astype(int)):
        (data / f"{number:03}").write_bytes(dice.bytes(int(size)))
    slow = {"LD_PRELOAD": str(tier_library), "TIER_FOLDERS": str(memory), "TIER_MODEL": tier}

    # WHEN
    speedup = run(shape, data, tmp_path / "logs", slow) / run(shape, data, "", {})
    words = ["whatif", "--json", "--fast", str(memory), str(tmp_path / "logs")]
    said = subprocess.run(
        [sys.executable, "-m", "tfdarshan", *words], capture_output=True, text=True, check=True
    )

    # THEN
    gain = json.loads(said.stdout)["gain"]
    low, high = gain["speedup_low"], gain["speedup_high"]
    print(f"{speedup:.2f}x, of {low:.2f}x to {high:.2f}x")
    assert low * (1 - RUNS_DIFFER) <= speedup <= high * (1 + RUNS_DIFFER)
