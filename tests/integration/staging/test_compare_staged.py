"""A run, and the same job's `run --staged`, are the same work."""

import json
import subprocess
import sys

from tests.integration.staging.tree import make_files, plan_of
from tfdarshan.commands import main
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.plan_file import write_plan

COUNT = 24
# It asks for each file before it opens it, as many data loaders do.
JOB = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        path = os.path.join(folder, name)
        os.stat(path)
        with open(path, "rb") as file:
            file.read()
"""


def test_a_staged_run_of_a_job_that_asks_for_its_files_first_is_the_same_work(tmp_path, capsys):
    # GIVEN a job, and all its files staged
    make_files(tmp_path / "slow", COUNT, largest=2_000)
    (tmp_path / "fast").mkdir()
    (tmp_path / "job.py").write_text(JOB)
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")
    apply_plan(plan, ApplyOptions())
    write_plan(plan, tmp_path / "plan.json")

    # WHEN it runs as it was, and with the copies
    for name, more in (("before", []), ("after", ["--staged", "plan.json"])):
        run = [sys.executable, "-m", "tfdarshan", "run", "--logdir", name, *more, "job.py", "slow"]
        subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    assert main(["compare", str(tmp_path / "before"), str(tmp_path / "after"), "--json"]) == 0

    # THEN the same files and bytes were read: neither the plan nor the stager's journal is the job's
    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    checks = {check["name"]: check for check in found["checks"]}
    assert (
        checks["files read"]["sentence"] == f"both read the same files ({COUNT} files, below another folder)"
    )
    assert checks["bytes read"]["state"] == "same"
    # What the machine had cached, or did meanwhile, is not the job's.
    assert found["comparable"] != "no", found["checks"]
