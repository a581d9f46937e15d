"""A session of many short processes, as it is recorded: its files do not grow in number."""

import pytest

import tfdarshan
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.reports.views.view_source import Source
from tfdarshan.sessions.gathered_processes import LIST, TABLES, UNTRACED

JOB = """
import os, sys, tfdarshan
with tfdarshan.profile("logs"):
    for worker in range(int(sys.argv[1])):
        if not os.fork():
            for _ in range(worker + 1):
                open(__file__).read()
            os._exit(0)
    for _ in range(int(sys.argv[1])):
        os.wait()
"""


@pytest.mark.parametrize("workers", [1, 40])
def test_short_processes_share_their_files(run_python, tmp_path, workers):
    # GIVEN
    script = tmp_path / "job.py"
    script.write_text(JOB)

    # WHEN
    job = run_python(str(script), str(workers))

    # THEN four files of the owner's, and three of its children: each is made durable by itself
    assert job.returncode == 0, job.stderr
    session = tfdarshan.open_session(tmp_path / "logs")
    names = {path.name for path in session.path.iterdir()}
    assert len(names) == 7
    assert names >= {LIST, *TABLES.values()}
    opened = summarize(session).posix.opens
    assert opened == session.files.loc[session.files["path"] == str(script), "POSIX_OPENS"].sum()
    assert opened == sum(range(1, workers + 1))
    assert len(session.events.query("operation == 'open'")) == opened


def test_short_processes_share_what_their_calls_did_over_time(run_python, tmp_path):
    # GIVEN processes without a trace
    script = tmp_path / "job.py"
    script.write_text(JOB.replace('"logs"', '"logs", trace=False'))

    # WHEN
    job = run_python(str(script), "3")

    # THEN one table has the sums of all
    assert job.returncode == 0, job.stderr
    session = tfdarshan.open_session(tmp_path / "logs")
    assert (session.path / UNTRACED).exists()
    gathered = [one for one in session.processes if not one.meta["owner"]]
    calls = [one.table("untraced", ["calls"])["calls"].to_numpy().sum() for one in gathered]
    assert calls == [one.meta["counts"]["events"] for one in gathered]
    read = session.files[["POSIX_BYTES_READ", "STDIO_BYTES_READ"]].to_numpy().sum()
    assert Source(session).bandwidth["bytes_read"].sum() == read == 6 * len(script.read_bytes())
