"""The commands that copy some of a session's files to a faster tier, and run the job with the copies."""

from __future__ import annotations

import pyarrow as pa

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.findings.measures import Measures
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.session_directory import is_of_a_log, is_of_a_url
from tfdarshan.staging.plan_from_decision import common_folder
from tfdarshan.staging.staged_command import StagedJob


def copied(
    measures: Measures, rows: Array, *, everything: bool, place: str = "", mirrored: bool = False
) -> StagedJob:
    """Return what the commands are made of; redacted, they name no path of this machine.

    Args:
        measures: The session.
        rows: Its files that may be copied.
        everything: Copy all that fit, also where a few of them give nearly all.
        place: The folder or file that is copied alone, "" for all that was read.
        mirrored: Whether the job is to read copies and links in one folder.
    """
    session, redacted = measures.session, measures.shown_path is not None
    root = place or ("DATA" if redacted else common_folder(measures.files.paths.take(pa.array(rows))))
    name, log = session_and_log(session, redacted=redacted)
    return StagedJob(
        command=measures.summary.command,
        session=name,
        root=root,
        everything=everything,
        log=log,
        place=place,
        mirrored=mirrored,
    )


def session_and_log(session: SessionData, *, redacted: bool) -> tuple[str, str]:
    """Return a session's path, or what stands for it, and the Darshan log that no session was kept of.

    LOGDIR stands for one that is redacted, or that is removed: the copy of what a URL names.

    Args:
        session: The session.
        redacted: Name no path.

    Returns:
        Both; the log is "" if there is a session.
    """
    unnamed = redacted or is_of_a_url(session.path)
    log = str(session.meta[0].get("engine", {}).get("source", "")) if is_of_a_log(session.path) else ""
    return "LOGDIR" if unnamed else str(session.path), "LOG" if log and redacted else log
