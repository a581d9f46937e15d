"""A session of many processes, as it is recorded: their tables are together, too."""

import tfdarshan
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.sessions.gathered_tables import LIST

WORKERS = 20
JOB = f"""
import os, sys, tfdarshan
with tfdarshan.profile("logs"):
    for worker in range({WORKERS}):
        if not os.fork():
            for _ in range(worker + 1):
                open(__file__).read()
            os._exit(0)
    for _ in range({WORKERS}):
        os.wait()
"""


def test_small_processes_are_written_together(run_python, tmp_path):
    # GIVEN
    script = tmp_path / "job.py"
    script.write_text(JOB)

    # WHEN
    job = run_python(str(script))

    # THEN
    assert job.returncode == 0, job.stderr
    session = tfdarshan.open_session(tmp_path / "logs")
    kept = session.path / LIST
    (parts,) = {
        tuple(table._parts) for table in session.processes[1].gathered.values() if table._kind == "files"
    }
    assert len(parts) == WORKERS
    together = summarize(session)
    kept.unlink()
    assert summarize(tfdarshan.open_session(tmp_path / "logs")) == together
    assert together.posix.opens >= sum(range(1, WORKERS + 1))
