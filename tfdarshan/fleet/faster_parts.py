"""Faster parts of a machine: as edits of jobs' replay models, and what jobs without a model save at most."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfdarshan.errors import ConfigurationError
from tfdarshan.fleet.folder_edit import StagedFolder
from tfdarshan.fleet.job_table import JobTable
from tfdarshan.fleet.job_times import JobTimes, job_times
from tfdarshan.native.spool_reader import Array
from tfdarshan.replay.edits import Edit
from tfdarshan.replay.storage_edits import OtherLink, OtherStorage
from tfdarshan.units import human_bytes

LINK = re.compile(r"(\d+(?:\.\d+)?)\s*([GMT])(?:b(?:it)?(?:/s|ps)?)?")
BITS = {"M": 1e6, "G": 1e9, "T": 1e12}
# What is on the other side of the nodes' link.
REMOTE = frozenset(
    ("nfs", "nfs4", "lustre", "gpfs", "beegfs", "ceph", "cifs", "smb3", "9p", "pvfs2", "wekafs", "panfs",
     "dvs", "daos", "juicefs", "glusterfs")
)  # fmt: skip
TOPICS = STORAGE, FAST_TIER, NETWORK = ("storage", "a fast tier", "the nodes' link")


@dataclass(frozen=True)
class FasterPart:
    """A part of the machine that is faster, or slower.

    Attributes:
        topic: One of TOPICS.
        question: What is asked, in words.
        assumptions: What the figures rest on.
        edit: Makes the change of a job whose input is in a folder.
        most_s: Gives the seconds of its own time that each job without a model saves at most.
        room_bytes: What folders may be staged in; None: the part is not for folders.
        talk_part: What is saved of the time in communication, which no model has.
    """

    topic: str
    question: str
    assumptions: tuple[str, ...]
    edit: Callable[[str], Edit]
    most_s: Callable[[JobTable], Array]
    room_bytes: int | None = None
    talk_part: float = 0.0

    def talk_s(self, jobs: JobTable) -> Array:
        """Return what each job saves of its communication at most."""
        found: Array = np.nan_to_num(jobs.rows["communication_s"].to_numpy(float)) * self.talk_part
        return found

    def step_speedup(self, jobs: JobTable) -> tuple[float | None, int]:
        """Return how many times as fast steps are with less communication, the mean, and of how many jobs."""
        steps, talk = (jobs.rows[name].to_numpy(float) for name in ("steps_s", "communication_s"))
        known = np.isfinite(talk) & (steps > 0)
        if not self.talk_part or not known.any():
            return None, 0
        left = steps[known] - np.minimum(talk[known], steps[known]) * self.talk_part
        return float(np.mean(steps[known] / np.maximum(left, 1e-12))), int(known.sum())


def storage_bandwidth(factor: float) -> FasterPart:
    """Return storage of another bandwidth: a factor of 2 is twice as fast."""
    edit = OtherStorage(bandwidth=factor)

    def most_s(jobs: JobTable) -> Array:
        times = job_times(jobs)
        return _waited(times, times.data_s * (1 - 1 / factor))

    assumed = "without a model, all of the time in reads and writes is transfer at most"
    return FasterPart(STORAGE, f"storage bandwidth times {factor:g}", (assumed,), lambda _: edit, most_s)


def hot_tier(room_bytes: int, fast_bytes_per_s: float) -> FasterPart:
    """Return a fast tier on each node, for the folders that save most for each byte."""

    def most_s(jobs: JobTable) -> Array:
        times, rows = job_times(jobs), jobs.rows
        read, below = (rows[name].to_numpy(float) for name in ("read_s", "input_read_s"))
        now_s = times.read_s * np.nan_to_num(np.divide(below, read, out=np.zeros(len(rows)), where=read > 0))
        moved = np.nan_to_num(rows["input_bytes_read"].to_numpy(float))
        return _waited(times, np.maximum(now_s - moved / (fast_bytes_per_s * times.nodes), 0.0))

    assumed = (
        f"a fast tier of {fast_bytes_per_s / 1e9:g} GB/s a node holds the copies before a job begins",
        "a folder is as large as the most that one job read of it",
        "at least, nothing is saved by the first job that reads a folder: it may have to make the copy",
    )
    question = f"staging the hottest {human_bytes(room_bytes)}"

    def edit(folder: str) -> Edit:
        return StagedFolder(folder, fast_bytes_per_s)

    return FasterPart(FAST_TIER, question, assumed, edit, most_s, room_bytes)


def node_link(then: float, now: float, link_share: float = 1.0) -> FasterPart:
    """Return another link of the nodes.

    Args:
        then: Its bits a second.
        now: Today's.
        link_share: What of the time in communication the link takes; the rest is that of PCIe, or NVLink.
    """
    edit, part = OtherLink(now / 8, then / 8), 1 - now / then

    def most_s(jobs: JobTable) -> Array:
        times, mounts = job_times(jobs), jobs.mounts
        remote = mounts["fs_type"].isin(REMOTE).to_numpy()
        moved = (mounts["bytes_read"] + mounts["bytes_written"]).to_numpy(float) * remote
        bits = 8 * np.bincount(mounts["job"].to_numpy(), moved, minlength=len(jobs)) / times.nodes
        return _waited(times, np.minimum(bits / now, times.data_s) * part)

    assumed = (
        f"nodes have one link of {now / 1e9:g} Gb/s today (--link-now)",
        "transfers of remote file systems get shorter by what their bytes take on the link",
        f"at most, {'all' if link_share == 1 else f'{100 * link_share:g} %'} of known communication is on it",
    )
    question = f"a link of {then / 1e9:g} Gb/s"
    return FasterPart(NETWORK, question, assumed, lambda _: edit, most_s, talk_part=part * link_share)


def parse_link(text: str, option: str) -> float:
    """Return the bits a second of "100Gb", "25 Gb/s" or "400G".

    Raises:
        ConfigurationError: It is no speed.
    """
    match = LINK.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise ConfigurationError(f"{option} takes bits a second, such as 100Gb, not {text!r}.")
    return float(match[1]) * BITS[match[2]]


def _waited(times: JobTimes, seconds: Array) -> Array:
    """Return no more than a job waited, if it says so."""
    found: Array = np.fmin(seconds, times.waited_s)
    return found
