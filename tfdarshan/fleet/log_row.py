"""The row of a Darshan log: from its job and its records alone, or with all that can be found in it."""

from __future__ import annotations

import posixpath
import re
import tempfile
from pathlib import Path

import numpy as np

from tfdarshan.durable.user_folders import temporary_folder
from tfdarshan.errors import ConfigurationError, SessionDataError, reason
from tfdarshan.fleet.job_columns import DAMAGED, LOG, UNREADABLE
from tfdarshan.fleet.job_files import SECONDS, files_of_log
from tfdarshan.fleet.job_row import (
    OF_THE_MACHINE,
    Row,
    application_of,
    begin_row,
    file_figures,
    finding_figures,
    hosts_of_ranks,
    left_out,
    state_of,
)
from tfdarshan.formats.darshan_format import ONLY_HOST
from tfdarshan.formats.importing.fifo_records import find_no_files, without
from tfdarshan.formats.importing.light_records import read_light
from tfdarshan.formats.importing.pydarshan import LogContent, Records, incomplete

# Darshan names a log USER_PROGRAM_idJOB...
OF_JOB = re.compile(r"_id\d+")
# Keys of a log's metadata that say which project a job is of.
PROJECT_KEYS = ("project", "account")
# What no job reaches: seconds, and calls or bytes.
TEN_YEARS_S, MOST = 10 * 366 * 86_400, 1 << 60
NO_RECORDS_SAID = "the log has no POSIX or STDIO records: nothing says what its job read or wrote"


def row_of_log(path: str, fingerprint: str, *, findings: bool = False) -> Row:
    """Read what a row needs of a log; one that cannot be read is a row that says why.

    Args:
        path: The log.
        fingerprint: What it is known by.
        findings: Whether it is imported as a whole for that, and looked at for findings: 20 times the work.
    """
    row = begin_row(path, LOG, fingerprint)
    try:
        row = _figures(row, Path(path))
    except SessionDataError as error:
        return left_out(row, state_of(str(error)), str(error))
    except ConfigurationError as error:
        return left_out(row, UNREADABLE, str(error))
    return row | _found(path, row) if findings and "duration_s" in row else row


def _figures(row: Row, path: Path) -> Row:
    log, content = read_light(path)
    records = without(content.records, find_no_files(content.records, log.names))
    if not any(len(part.record) for part in records.values()):
        return left_out(row, state_of(NO_RECORDS_SAID), NO_RECORDS_SAID)
    duration_s, clock_doubt = _duration(content, records)
    host = content.metadata.get(ONLY_HOST)
    figures = {
        "user": _user(path.name, content.command),
        "uid": content.user,
        "project": next((content.metadata[key] for key in PROJECT_KEYS if content.metadata.get(key)), None),
        "application": application_of(content.command),
        "command": content.command or None,
        "job": str(content.job),
        "hosts": host,
        "nodes": 1 if host or content.processes == 1 else None,
        "start": content.start_realtime_ns,
        "duration_s": duration_s,
        "processes": content.processes,
        "files": _count_files(records),
        **file_figures(files_of_log(records, content.mounts, log.names)),
        "doubts": [
            *incomplete((module for module in log.partial if module in content.records), content),
            *clock_doubt,
        ],
    }
    odd = _impossible(figures)
    return left_out(row, DAMAGED, f"its figures cannot be: {odd}") if odd else row | figures


def _impossible(figures: Row) -> str:
    """Name a figure that no job has, which would drown those of all others; "" if there is none."""
    most_s = TEN_YEARS_S * max(figures["processes"], 1)
    for name in ("opens", "reads", "writes", "syncs", "stats", "bytes_read", "bytes_written"):
        if not 0 <= (figures[name] or 0) < MOST:
            return f"{name} {figures[name]}"
    for name, most in (("duration_s", TEN_YEARS_S), *((name, most_s) for name in SECONDS)):
        if not 0 <= figures[name] < most:
            return f"{name} {figures[name]}"
    return ""


def _duration(content: LogContent, records: dict[str, Records]) -> tuple[float, list[str]]:
    """Return how long the job took, at least until the last timestamp, and what of the clock is odd."""
    latest = (content.end_realtime_ns - content.start_realtime_ns) / 1e9
    below_0 = False
    for module, part in records.items():
        for name, values in part.f_counters.items():
            if name.endswith("_TIMESTAMP"):
                latest = max(latest, float(values.max(initial=0)))
        for kind in ("READ", "WRITE", "META"):
            below_0 |= bool((part.f_counters[f"{module}_F_{kind}_TIME"] < 0).any())
    # To the nanosecond, as an imported log has it.
    latest = round(latest * 1e9) / 1e9 if latest < TEN_YEARS_S else latest
    return latest, ["a clock was set back: times below 0 are not counted"] if below_0 else []


def _count_files(records: dict[str, Records]) -> int:
    """Count files, each once, however many ranks used it."""
    return len(np.unique(np.concatenate([part.record for part in records.values()])))


def _user(name: str, command: str) -> str | None:
    """Return whom the name of a log says, in front of the program; None if it is no name of Darshan's."""
    found = OF_JOB.search(name)
    words = command.split()
    if found is None or not words:
        return None
    before = name[: found.start()]
    program = posixpath.basename(words[0])
    if program and before.endswith(f"_{program}"):
        return before[: -len(program) - 1] or None
    return before.split("_")[0] or None


def _found(path: str, row: Row) -> Row:
    """Return what is found in a log; where it cannot be looked at as a whole, its row says so."""
    try:
        return _found_in_all(path)
    except SessionDataError as error:
        return {"verdict": "unknown", "doubts": [*row["doubts"], f"not all of the log can be read: {error}"]}
    except OF_THE_MACHINE as error:
        return {"doubts": [*row["doubts"], f"nobody looked for findings: {reason(error)}"]}
    except Exception as error:  # a log can be odd in ways that nobody thought of, and its figures are known
        said = f"looking for findings failed ({type(error).__name__}: {reason(error)})"
        return {"verdict": "unknown", "doubts": [*row["doubts"], said]}


def _found_in_all(path: str) -> Row:
    """Import the log, and look at it as a session; hosts are there where its segments say them."""
    from tfdarshan.findings.diagnosis import summary_and_diagnosis
    from tfdarshan.formats.importing.darshan_log import import_darshan
    from tfdarshan.sessions.session_data import SessionData

    with tempfile.TemporaryDirectory(prefix="tfdarshan-log-", dir=temporary_folder()) as folder:
        session = SessionData.open(import_darshan(path, folder).path)
        data, diagnosis = summary_and_diagnosis(session, 0)
    row = finding_figures(diagnosis, data.duration_s) | hosts_of_ranks(session.meta)
    return row | ({"io_s": data.wall_clock.io_s} if data.wall_clock.io_s is not None else {})
