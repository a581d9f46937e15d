"""The replay model of a session that was measured; its facts are kept beside it for the next reader."""

from __future__ import annotations

import dataclasses
from typing import Any

from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.measured_session import MeasuredSession
from tfdarshan.replay.calibrate import ModelledJob, calibrated
from tfdarshan.replay.job_facts import (
    BatchFacts,
    JobFacts,
    PipelineFacts,
    ProcessorFacts,
    StorageFacts,
)
from tfdarshan.replay.read_tasks import ReadTasks
from tfdarshan.replay.session_facts import recorded_facts
from tfdarshan.replay.thinned_facts import thinned
from tfdarshan.storage_model import StorageModel

PARTS = {
    "batches": BatchFacts,
    "tasks": ReadTasks,
    "pipeline": PipelineFacts,
    "storage": StorageFacts,
    "processors": ProcessorFacts,
}


def session_model(measured: MeasuredSession) -> ModelledJob:
    """Return the model, calibrated; by the job's counters if the session has no calls.

    Args:
        measured: The session; of a job of several ranks that of one of them.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    kept = measured.kept.get("replay", lambda: as_kept(thinned(recorded_facts(measured))))
    return calibrated(of_kept(kept, measured.files))


def as_kept(facts: JobFacts) -> dict[str, Any]:
    """Return the facts but for the file table, which is the session's."""
    parts = {name: dict(vars(getattr(facts, name))) for name in PARTS}
    device = facts.storage.device
    parts["storage"]["device"] = None if device is None else dict(vars(device))
    others = {
        one.name: getattr(facts, one.name)
        for one in dataclasses.fields(facts)
        if one.name not in (*PARTS, "files")
    }
    return {**parts, **others}


def of_kept(kept: dict[str, Any], files: FileTable) -> JobFacts:
    """Return the facts that were kept.

    Args:
        kept: What `as_kept` gave.
        files: The session's file table.
    """
    parts = {name: kind(**kept[name]) for name, kind in PARTS.items()}
    if (device := kept["storage"]["device"]) is not None:
        parts["storage"] = dataclasses.replace(parts["storage"], device=StorageModel(**device))
    return JobFacts(**{**kept, **parts, "files": files})
