"""Bursts of writes that are checkpoints: what they held up, and how they are written."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import WRITE
from tfdarshan.analysis.input_figures import BLOCK_FILE_SYSTEMS
from tfdarshan.analysis.steps.checkpoint_bursts import NUMBER, SAVER_SUFFIX, SHARD, checkpoint_bursts
from tfdarshan.analysis.steps.output_calls import excess_is_theirs, excess_s, goes_on_beside, stalled_s
from tfdarshan.analysis.summary_data import slowed_calls
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.all_frameworks import all_saves
from tfdarshan.frameworks.words import Saves
from tfdarshan.sessions.session_directory import BURST_CONTROL
from tfdarshan.thresholds import THRESHOLD


@dataclass(frozen=True)
class CheckpointSaves:
    """Bursts of large writes that the job does not read back as input.

    Attributes:
        bursts: `checkpoint_bursts`.
        stall_s: What each held up the loop, seconds.
        held_s: What all together held up, with what steps that save took longer.
        beside: Whether training goes on while they are written.
    """

    bursts: pd.DataFrame
    stall_s: Array
    held_s: float
    beside: bool

    @property
    def moved_bytes(self) -> float:
        """Bytes of all of them."""
        return float(self.bursts["bytes"].sum())

    @property
    def longest(self) -> str:
        """The path of the one that held up longest."""
        row = self.bursts.iloc[int(np.argmax(self.stall_s))]
        return f"{row['directory']}/{row['name']}"

    @property
    def alike(self) -> bool:
        """Whether several have names of one form and about one size: a state that is saved again."""
        forms = {NUMBER.sub("#", f"{row.directory}/{row.name}") for row in self.bursts.itertuples()}
        size = (self.bursts["bytes"] / self.bursts["files"].clip(lower=1)).to_numpy(np.float64)
        return len(size) > 1 and len(forms) == 1 and bool(size.max() <= THRESHOLD["alike"] * size.min())


def checkpoint_saves(measures: Measures) -> CheckpointSaves | None:
    """Return those within the steps; None without any."""
    segments, windows = measures.writes, measures.windows
    bursts = checkpoint_bursts(segments, measures.files, windows)
    bursts = bursts[bursts["bytes"] >= THRESHOLD["small"] * np.maximum(bursts["writes"], 1)]
    bursts = bursts[~_is_input(measures, bursts)]
    if windows is not None:
        first, last = windows.span_ns
        bursts = bursts[(bursts["end_ns"] > first) & (bursts["start_ns"] < last)]
    if not len(bursts):
        return None
    stall_s = stalled_s(segments, measures.output, windows, bursts)
    held_s = float(stall_s.sum())
    if excess_is_theirs(windows, bursts):
        held_s = max(held_s, excess_s(windows, bursts))
    return CheckpointSaves(bursts, stall_s, held_s, goes_on_beside(windows, bursts))


def kind_of_saves(measures: Measures) -> Saves:
    """Return what kind of checkpoints some of what is written are, by its names and the job's packages."""
    *known, other = all_saves()
    mine = (one for one in known if not one.package or measures.may_use(one.package))
    return next((one for one in mine if _writes(measures, one.names)), other)


def uses_a_burst_buffer(measures: Measures) -> bool:
    """Say whether one of tfdarshan's kept its own files meanwhile: then saves go on beside training."""
    return _writes(measures, rf"/{re.escape(BURST_CONTROL)}/")


def stay_in_memory(measures: Measures, saves: CheckpointSaves) -> bool:
    """Say whether the page cache takes what a fast tier would be for: then nothing waits for the device.

    Such saves sync nothing, and a local file system writes later. A burst buffer does wait until the device
    has a save, and reads it again: of nine jobs on limited disks it made eight 0.3 to 0.9 times as fast.
    """
    kind = kind_of_saves(measures)
    if not kind.fast_tier or slowed_calls(measures.summary.emulation):
        return False
    rows = measures.files.rows
    saved = (rows["bytes_written"] > 0).to_numpy(bool) & rows["path"].str.contains(kind.names).to_numpy(bool)
    pace = saves.moved_bytes / max(float(saves.bursts["write_ns"].sum()) / 1e9, 1e-9)
    return pace >= THRESHOLD["memory"] and set(rows["fs_type"][saved].astype(str)) <= BLOCK_FILE_SYSTEMS


def _writes(measures: Measures, names: str) -> bool:
    rows = measures.files.rows
    written = rows["path"][(rows["bytes_written"] > 0).to_numpy(bool)]
    return bool(written.str.contains(names).any())


def _is_input(measures: Measures, bursts: pd.DataFrame) -> Array:
    """Say of which bursts most bytes are in files that the job reads back as input, bool: no checkpoints."""
    chosen = _read_back(measures)
    if not chosen.any() or not len(bursts):
        return np.zeros(len(bursts), bool)
    writes = measures.writes
    writes = writes.where(writes.io_class == WRITE)
    ends = np.searchsorted(writes.start_ns, bursts["end_ns"].to_numpy(np.int64), side="right")
    starts = np.searchsorted(writes.start_ns, bursts["start_ns"].to_numpy(np.int64))
    reached = np.concatenate([[0], np.cumsum(np.where(chosen[writes.file], writes.length, 0))])
    return reached[ends] - reached[starts] > bursts["bytes"].to_numpy() / 2


def _read_back(measures: Measures) -> Array:
    """Say of which files half of what was written is read again, bool by row of the file table.

    With steps, that is what the loop or a reader of the input reads while these run, and no saver wrote: a
    burst buffer's threads read what they copy, and a job reads a checkpoint at its start or end.
    """
    windows, rows = measures.windows, measures.files.rows
    written = rows["bytes_written"].to_numpy()
    chosen: Array = (written > 0) & (2 * rows["bytes_read"].to_numpy() >= written)
    if windows is None or not chosen.any():
        return chosen
    chosen &= 2 * measures.read_by_readers(chosen, windows.span_ns) >= written
    for row in np.flatnonzero(chosen).tolist():
        name = posixpath.basename(str(rows["path"].iloc[row]))
        chosen[row] = not (SAVER_SUFFIX.sub("", name) != name or SHARD.match(name))
    return chosen
