"""The commands that copy some of a session's files to a faster tier, and run the job with the copies."""

from __future__ import annotations

import pyarrow as pa

from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.measures import Measures
from tfdarshan.sessions.session_directory import is_of_a_log
from tfdarshan.staging.planning import common_folder
from tfdarshan.staging.staged_command import StagedJob


def copied(measures: Measures, rows: Array, *, everything: bool, place: str = "") -> StagedJob:
    """Gives what the commands are made of; redacted, they name no path of this machine.

    Args:
        measures: The session.
        rows: Its files that may be copied.
        everything: Copy all that fit, also where a few of them give nearly all.
        place: The folder or file that is copied alone, "" for all that was read.
    """
    session, redacted = measures.run.session, measures.shown_path is not None
    root = place or ("DATA" if redacted else common_folder(measures.files.paths.take(pa.array(rows))))
    log = session.meta[0].get("engine", {}).get("source", "") if is_of_a_log(session.path) else ""
    return StagedJob(
        command=measures.summary.command,
        session="LOGDIR" if redacted else str(session.path),
        root=root,
        everything=everything,
        log="LOG" if log and redacted else log,
        place=place,
    )
