"""The recipe for Ray Train, as docs/reference/clusters.md prints it, on workers that Ray starts."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.packages.found_packages import need

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "clusters.md"
FILES, WORKERS = 6, 2
JOB = """\
import os, sys
import ray, ray.train
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

def training_function():
    import tfdarshan
    def train():
        for name in sorted(os.listdir(DATA))[context.get_world_rank()::context.get_world_size()]:
            with open(os.path.join(DATA, name), "rb", buffering=0) as file:
                file.readall()
RECIPE

LOGS, DATA, RESULTS = sys.argv[1:]
ray.init(num_cpus=2, include_dashboard=False)
DataParallelTrainer(
    training_function,
    scaling_config=ray.train.ScalingConfig(num_workers=2),
    run_config=ray.train.RunConfig(name="nightly", storage_path=RESULTS),
).fit()
"""


@pytest.mark.timeout(600)
def test_workers_of_ray_train_are_ranks_of_one_session(tmp_path, variables):
    # GIVEN
    need("ray", variables)
    (recipe,) = re.findall(r"^```python\n(context = ray.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "data").mkdir()
    for number in range(FILES):
        (tmp_path / "data" / str(number)).write_bytes(bytes(1_000 * (number + 1)))
    body = textwrap.indent(recipe.replace('"/shared/logs"', "LOGS"), "    ")
    (tmp_path / "job.py").write_text(JOB.replace("RECIPE", body))

    # WHEN
    words = [sys.executable, "job.py", *(str(tmp_path / name) for name in ("logs", "data", "results"))]
    done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=500)

    # THEN
    assert done.returncode == 0, done.stderr
    session = tfdarshan.open_session(tmp_path / "logs")
    assert ([rank.rank for rank in session.joint.ranks], session.joint.missing) == ([0, 1], ())
    files = session.files[session.files["path"].str.startswith(str(tmp_path / "data"))]
    assert files.groupby("path")["POSIX_OPENS"].sum().tolist() == [1] * FILES
    assert int(files["POSIX_BYTES_READ"].sum()) == 21_000
