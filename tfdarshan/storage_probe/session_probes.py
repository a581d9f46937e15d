"""Probes the storage that a session's input lies on, and keeps what was found in the session's metadata."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tfdarshan.analysis.files.file_table import NO_FILE, FileTable, load_files
from tfdarshan.analysis.files.file_totals import IN_MEMORY
from tfdarshan.analysis.files.input_files import input_files, program_files
from tfdarshan.analysis.files.mapped_reads import rows_of
from tfdarshan.analysis.summary_data import emulation_of
from tfdarshan.errors import ConfigurationError, StorageError, reason
from tfdarshan.file_name import exact_name
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.session_directory import META_SUFFIX, write_json
from tfdarshan.storage_probe.folder_probe import probe_folder
from tfdarshan.storage_probe.probe_result import StorageProbe, probe_of_dict
from tfdarshan.storage_probe.prober import LEAST_BYTES, Bounds
from tfdarshan.thresholds import THRESHOLD

# Mounts that are probed, of those that took this share of the time in calls on input.
MOST_MOUNTS, LEAST_SHARE = 2, THRESHOLD["hardly"]
# Probes that a session keeps, and files of it that one is given.
MOST_KEPT, MOST_OWN = 16, 20_000
FILES_SUFFIX = ".files.parquet"
PLACE_COLUMNS = ("mount_point", "fs_type")


def probe_session(
    session: SessionData, bounds: Bounds | None = None, seed: int | None = None
) -> tuple[list[StorageProbe], list[str]]:
    """Measure the storage under a session's input: of each mount that took much of its time.

    The bounds are for all of them together.

    Returns:
        The probes, and why folders could not be probed, a sentence each: a mount that is gone, or that hangs.

    Raises:
        ConfigurationError: The session's storage was emulated, or it has no input.
    """
    if emulation_of(session.meta[0]) is not None:
        raise ConfigurationError(
            f"the storage of {session.path} was emulated (as_if): a probe would measure another one."
        )
    folders = _folders(_read_files(load_files(session.processes))) or _folders(_mapped_files(session))
    if not folders:
        raise ConfigurationError(f"the session {session.path} read no input: name a folder to probe instead.")
    whole = bounds or Bounds()
    each = replace(
        whole,
        seconds=whole.seconds / len(folders),
        most_bytes=max(whole.most_bytes // len(folders), LEAST_BYTES),
    )
    probes, lost = [], []
    for folder, own in folders:
        try:
            probes.append(probe_folder(folder, each, seed, own))
        except StorageError as error:
            lost.append(str(error))
    return probes, lost


def keep_probes(session: SessionData, probes: Sequence[StorageProbe]) -> None:
    """Add probes to the metadata of a session's owner, which findings read, or of its leading rank.

    Raises:
        StorageError: It cannot be written.
    """
    # The ranks of a joint session are put on one clock: what one of them wrote is written again as it was.
    session = session.leading
    meta = session.meta[0]
    kept = [*meta.get("probes", []), *(probe.as_dict() for probe in probes)][-MOST_KEPT:]
    path = session.path / f"{meta['tables']['files']['file'].removesuffix(FILES_SUFFIX)}{META_SUFFIX}"
    try:
        path.stat()
        write_json(path, {**meta, "probes": kept})
    except OSError as error:
        raise StorageError(
            f"what the probe found cannot be kept in {session.path}: {reason(error)}; its findings do not "
            "know of it."
        ) from error


def probe_kept(meta: dict[str, Any], mount_point: str) -> StorageProbe | None:
    """Return the newest probe of a mount that a session's metadata has.

    Args:
        meta: The owner's metadata, checked.
        mount_point: As the tables write it.
    """
    if emulation_of(meta) is not None:
        return None
    found = [probe_of_dict(block) for block in meta.get("probes", ())]
    found = [probe for probe in found if probe.mount_point == mount_point and not probe.note]
    return max(found, key=lambda probe: probe.at_ns, default=None)


def main_mount(files: FileTable, seconds: Any) -> str:
    """Return the mount with the most of some seconds, one entry per file; "" if that is not known."""
    points = files.rows["mount_point"].astype(str)
    sums = pd.Series(np.asarray(seconds, float)).groupby(points.to_numpy()).sum()
    return "" if sums.empty or sums.max() <= 0 else str(sums.idxmax())


def _read_files(files: FileTable) -> pd.DataFrame:
    """Return the rows of the input that calls read."""
    rows = files.rows[input_files(files)].drop(index=NO_FILE, errors="ignore")
    return rows[rows["bytes_read"] > 0]


def _mapped_files(session: SessionData) -> pd.DataFrame:
    """Return the data files that were mapped, as `_folders` takes them: `time_s` in faults, 0 if unknown."""
    found = [
        {"path": one.path, **{name: row[name] for name in PLACE_COLUMNS}, "time_s": one.wait_s or 0.0}
        for process in session.processes
        for row, one in rows_of(process)
    ]
    rows = pd.DataFrame(found, columns=["path", *PLACE_COLUMNS, "time_s"])
    return rows[~program_files(pa.array(rows["path"], pa.string()))]


def _folders(rows: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """List for each mount worth it the folder of its input, and the files; the slowest mount first.

    Args:
        rows: A row per file of the input: `path`, `mount_point`, `fs_type`, `time_s`.
    """
    stored = rows[~rows["fs_type"].isin(IN_MEMORY)]
    # A session with all of its input in memory is refused when its folder is probed.
    rows = rows if stored.empty else stored
    if rows.empty:
        return []
    sums = rows.groupby(rows["mount_point"].astype(str))["time_s"].sum().sort_values(ascending=False)
    chosen = [point for point in sums.index[:MOST_MOUNTS] if sums[point] >= LEAST_SHARE * sums.sum()]
    found = []
    for point in chosen:
        own = rows[rows["mount_point"].astype(str) == point].nlargest(MOST_OWN, "time_s")
        paths = [exact_name(path) for path in own["path"]]
        found.append((_folder_of(paths, exact_name(point)), paths))
    return found


def _folder_of(paths: Sequence[str], mount_point: str) -> str:
    """Return the folder that has all files, or that of the slowest one if it would be a whole mount."""
    folders = [str(Path(path).parent) for path in paths]
    whole = os.path.commonpath(folders)
    return folders[0] if whole in ("/", mount_point) and len(set(folders)) > 1 else whole
