"""The row of a session: what `tfdarshan summary --json` says of it, and what its tables add."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.analysis.summary_data import SummaryData
from tfdarshan.errors import SessionDataError
from tfdarshan.findings import checkpoint_stall
from tfdarshan.findings.diagnosis import Diagnosis, diagnosis_of
from tfdarshan.findings.measurement import summary_and_measures
from tfdarshan.findings.measures import Measures
from tfdarshan.fleet.job_columns import INTERRUPTED, RECORDING, SESSION
from tfdarshan.fleet.job_files import files_of_session
from tfdarshan.fleet.job_row import (
    MOST_DOUBTS,
    Row,
    application_of,
    begin_row,
    file_figures,
    finding_figures,
    hosts_of_ranks,
    left_out,
    owner_of,
    state_of,
)
from tfdarshan.sessions.find import is_written
from tfdarshan.sessions.job_liveness import is_recording
from tfdarshan.sessions.rank_folder import parts_of
from tfdarshan.sessions.session_data import SessionData

if TYPE_CHECKING:
    from collections.abc import Sequence


def row_of_session(path: str, fingerprint: str) -> Row:
    """Read a session; one that is not finished or cannot be read is a row that says why."""
    row = begin_row(path, SESSION, fingerprint)
    folder = Path(path)
    parts = parts_of(folder)
    if not any(map(is_written, parts)):
        if any(map(is_recording, parts)):
            return left_out(row, RECORDING, "it is still recording")
        return left_out(row, INTERRUPTED, "it was interrupted: `tfdarshan recover` writes what it recorded")
    try:
        session = SessionData.open(folder, skip_damaged=True)
        return row | _figures(session, folder)
    except SessionDataError as error:
        return left_out(row, state_of(str(error)), str(error))


def _figures(session: SessionData, folder: Path) -> Row:
    data, measures = summary_and_measures(session)
    diagnosis = diagnosis_of(measures)
    owner = session.meta[0]
    uid, user = owner_of(folder)
    figures = file_figures(files_of_session(session.processes))
    return {
        "user": user,
        "uid": uid,
        "application": application_of(data.command),
        "command": data.command or None,
        "job": _job(owner),
        **_hosts(session, data),
        "start": min(int(meta.get("origin_realtime_ns") or 0) for meta in session.meta) or None,
        "duration_s": data.duration_s,
        "processes": data.processes,
        "files": data.files,
        **figures,
        **_cached(data, figures["bytes_read"]),
        "io_s": data.wall_clock.io_s,
        **_steps(measures),
        "checkpoint_stall_s": _stall(diagnosis, figures["bytes_written"]),
        **finding_figures(diagnosis, data.duration_s),
        "doubts": _doubts(data, session.joint.sentences() if session.joint else []),
    }


def _hosts(session: SessionData, data: SummaryData) -> Row:
    """Return the columns of hosts, null if the session was made of a log that does not name them."""
    if "darshan" in session.meta[0]:
        unknown = {"hosts": None, "nodes": 1 if data.processes == 1 else None}
        return hosts_of_ranks(session.meta) or unknown
    hosts = session.joint.hosts if session.joint else [data.host]
    return {"hosts": ",".join(hosts), "nodes": len(hosts)}


def _cached(data: SummaryData, bytes_read: int) -> Row:
    """Return what the page cache must have given: what was read and storage was not asked for, at least.

    Nobody knows where the kernel's figures are missing. Emulated storage serves every byte, as if there were
    no cache.
    """
    read = data.coverage.read
    if read.storage is None or data.emulation is not None:
        return {}
    cached = max(read.in_tables - read.uncharged - read.storage, 0)
    return {"cached_bytes": cached, "cached_share": cached / bytes_read if bytes_read else None}


def _job(owner: dict[str, Any]) -> str | None:
    if "darshan" in owner:
        return str(owner["darshan"]["job"])
    job = owner.get("job") or {}
    return str(job["job"]) if job.get("job") else None


def _steps(measures: Measures) -> Row:
    """Return where the steps' time went; of a job of several ranks in the leading one."""
    model = measures.model
    if model.wait_s is None:
        return {}
    parts = {"device_copy_s": model.data_s, "communication_s": model.weights_s}
    return {
        "steps_s": model.all_s,
        "input_wait_s": model.wait_s * model.units,
        **{name: value * model.units for name, value in parts.items() if value is not None},
    }


def _stall(diagnosis: Diagnosis, bytes_written: int) -> float | None:
    """Return what checkpoints held up: 0 if nothing was written; None if nobody can say."""
    if not bytes_written:
        return 0.0
    found = next((one for one in diagnosis.findings if one.name == checkpoint_stall.NAME), None)
    shown = () if found is None else found.evidence
    return next((entry.value for entry in shown if entry.label == "held up"), None)


def _doubts(data: SummaryData, of_ranks: Sequence[str]) -> list[str]:
    said = [*data.problems, *of_ranks, *data.bounds]
    if not data.finished:
        said.insert(0, "the job was interrupted: what it recorded until then is here")
    if data.silent_children:
        said.append(f"{data.silent_children:,} of its processes recorded nothing")
    more = len(said) - MOST_DOUBTS
    return said if more <= 0 else [*said[:MOST_DOUBTS], f"{more:,} more"]
