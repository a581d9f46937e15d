"""What a session's end brings into the job: no library that writing does without."""

import json

from tfdarshan.native.package_versions import VIEW_PACKAGES

# A job that imports nothing but tfdarshan. Prints the modules that a session imported.
JOB = """
import json, os, sys
before = set(sys.modules)
import tfdarshan
session = tfdarshan.profile("logs").start()
open(__file__).read()
if os.fork() == 0:
    open(__file__).read()
    os._exit(0)
os.wait()
session.stop()
print(json.dumps(sorted(set(sys.modules) - before)))
assert len(session.meta) == 2
"""
# What Arrow brings by itself: nothing less can write with it.
ARROW = "import json, sys, pyarrow; print(json.dumps(sorted(sys.modules)))"
NOT_NEEDED = {*VIEW_PACKAGES, "pyarrow.parquet", "pyarrow.fs", "pyarrow.compute"}
# A quarter of them are the adapters of frameworks, which are loaded before anything is recorded.
MOST_MODULES_BESIDE_ARROW = 150


def test_a_session_imports_little_beside_arrow(run_python, tmp_path):
    # GIVEN
    script = tmp_path / "job.py"
    script.write_text(JOB)
    arrow = set(json.loads(run_python("-c", ARROW).stdout))

    # WHEN a job and its child are recorded and written
    job = run_python(str(script))

    # THEN
    assert job.returncode == 0, job.stderr
    imported = set(json.loads(job.stdout))
    assert "pyarrow._parquet" in imported
    assert not imported & NOT_NEEDED
    beside_arrow = imported - arrow
    assert len(beside_arrow) <= MOST_MODULES_BESIDE_ARROW, sorted(beside_arrow)


def test_a_job_under_run_ends_without_pandas(run_python, tmp_path):
    # GIVEN
    script = tmp_path / "job.py"
    script.write_text("open(__file__).read()\n")

    # WHEN Python lists whatever is imported until the process ends
    run = run_python("-X", "importtime", "-m", "tfdarshan", "run", "--logdir", "logs", str(script))

    # THEN the session was written without pandas
    assert run.returncode == 0, run.stderr
    imported = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if "import time:" in line}
    assert "pyarrow._parquet" in imported
    assert not imported & {*VIEW_PACKAGES, "pyarrow.parquet", "pyarrow.fs"}
