"""What PyDarshan reads of a log, and what the session that it was made of has in the same form."""

from __future__ import annotations

import subprocess
import sys

from tfdarshan.sessions import schema

READS = ("read", "pread", "readv", "preadv")
WRITES = ("write", "pwrite", "writev", "pwritev")


def counted(session):
    """Our counters by module, process and path."""
    pids = [meta["pid"] for meta in session.meta]
    columns = [column.name for column in (*schema.counter_columns(), *schema.f_counter_columns())]
    return {
        (row["module"], pids.index(row["pid"]), row["path"]): {
            name: row[name] for name in columns if name.startswith(row["module"])
        }
        for row in session.files.to_dict("records")
    }


def read_back(report):
    """PyDarshan's counters in the same form."""
    found = {}
    for module in report.records.keys() & {"POSIX", "STDIO"}:
        names = report.counters[module]
        for record in report.records[module]:
            key = (module, record["rank"], report.name_records[record["id"]])
            assert key not in found
            found[key] = dict(zip(names["counters"], record["counters"], strict=True)) | dict(
                zip(names["fcounters"], record["fcounters"], strict=True)
            )
    return found


def assert_equal_counters(session, report):
    ours, theirs = counted(session), read_back(report)
    assert set(ours) == set(theirs)
    for key in ours:
        assert ours[key] == theirs[key], key


def our_segments(session):
    events = session.events
    events = events[events["operation"].isin(READS + WRITES) & (events["error"] == 0)]
    pids = [meta["pid"] for meta in session.meta]
    return sorted(
        (
            row["path"],
            pids.index(row["pid"]),
            "read" if row["operation"] in READS else "write",
            row["offset"],
            row["length"],
            row["start_ns"],
            row["end_ns"],
        )
        for row in events.to_dict("records")
    )


def summary_report(log, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "darshan", "summary", str(log), "--output", str(tmp_path / "job.html")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return (tmp_path / "job.html").read_text()
