"""What a faster part of the machine would save over a fleet, as a range: attainable performance.

As in Alibaba's analysis of its cluster (arXiv 1910.05930), the parts of a job's time follow each other. At
most, a job gets back all that its calls would be shorter by. That it waited for these calls is known only of
jobs that say so: the lower bound is that of those, and 0 of all others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from tfdarshan.errors import ConfigurationError
from tfdarshan.fleet.hot_folders import HotFolder, hot_folders
from tfdarshan.fleet.job_groups import user_names
from tfdarshan.fleet.job_table import HOUR_S, UNKNOWN, JobTable
from tfdarshan.fleet.job_times import JobTimes, job_times
from tfdarshan.native.spool_reader import Array
from tfdarshan.units import human_bytes

LINK = re.compile(r"(\d+(?:\.\d+)?)\s*([GMT])(?:b(?:it)?(?:/s|ps)?)?")
BITS = {"M": 1e6, "G": 1e9, "T": 1e12}
# What is on the other side of the nodes' link.
REMOTE = frozenset(
    ("nfs", "nfs4", "lustre", "gpfs", "beegfs", "ceph", "cifs", "smb3", "9p", "pvfs2", "wekafs", "panfs",
     "dvs", "daos", "juicefs", "glusterfs")
)  # fmt: skip
MOST_GAINERS = 8
TOPICS = STORAGE, FAST_TIER, NETWORK = ("storage", "a fast tier", "the nodes' link")


@dataclass(frozen=True)
class Gainer:
    """A user's jobs, and what they would save at most."""

    user: str
    jobs: int
    high_node_hours: float


@dataclass(frozen=True)
class Attainable:
    """What would be saved.

    Attributes:
        topic: What is to be faster: one of TOPICS.
        question: What was asked, in words.
        jobs: The jobs asked about.
        gaining_jobs: Those that may gain anything.
        known_jobs: Those of these of which it is known what they waited: the lower bound is theirs.
        nodes_unknown: Those of `gaining_jobs` whose nodes are not known.
        job_hours: What all jobs took.
        low_job_hours: What is saved of it at least.
        high_job_hours: What is saved at most.
        node_hours: What all jobs took, by their nodes.
        low_node_hours: What is saved of it at least.
        high_node_hours: What is saved at most.
        gainers: The users that may save most.
        folders: What would be staged; empty for other questions.
        assumptions: What the figures rest on.
        step_speedup: How many times as quick a step becomes if less communication is all that changes: the
            mean over `talking_jobs`, each counted once; None if there are none, or for other questions.
        talking_jobs: Those that say what their steps spend in communication.
    """

    topic: str
    question: str
    jobs: int
    gaining_jobs: int
    known_jobs: int
    nodes_unknown: int
    job_hours: float
    low_job_hours: float
    high_job_hours: float
    node_hours: float
    low_node_hours: float
    high_node_hours: float
    gainers: tuple[Gainer, ...]
    folders: tuple[HotFolder, ...]
    assumptions: tuple[str, ...]
    step_speedup: float | None = None
    talking_jobs: int = 0


def parse_link(text: str, option: str) -> float:
    """Gives the bits a second of "100Gb", "25 Gb/s" or "400G".

    Raises:
        ConfigurationError: It is no speed.
    """
    match = LINK.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise ConfigurationError(f"{option} takes bits a second, such as 100Gb, not {text!r}.")
    return float(match[1]) * BITS[match[2]]


def storage_bandwidth(jobs: JobTable, factor: float) -> Attainable:
    """Says what storage of another bandwidth saves: `factor` 2 is twice as fast."""
    times = job_times(jobs)
    part = 1 - 1 / factor
    transfer = np.where(np.isnan(times.transfer_share), 0.0, times.transfer_share) * times.read_s
    high = times.data_s * part
    high = np.where(np.isnan(times.waited_s), high, np.minimum(times.waited_s, high))
    low = np.where(np.isnan(times.waited_s), 0.0, np.minimum(times.waited_s, transfer) * part)
    assumed = (
        "at most, all of the time in reads and writes is transfer, and is waited for",
        "at least, only the waits that jobs say count, and nothing of any other job",
        "of these waits, what bytes take at the speed that their mount usually has",
    )
    return _answer(jobs, times, STORAGE, f"storage bandwidth times {factor:g}", low, high, assumed)


def stage_hot(jobs: JobTable, capacity_bytes: int, fast_bytes_per_s: float) -> Attainable:
    """Says what copies of the folders that most time is read from, on each node's own fast tier, save."""
    times = job_times(jobs)
    rows = jobs.rows
    read = rows["read_s"].to_numpy(float)
    below = rows["input_read_s"].to_numpy(float)
    share = np.divide(below, read, out=np.zeros(len(rows)), where=read > 0)
    now = times.read_s * np.nan_to_num(share)
    then = np.nan_to_num(rows["input_bytes_read"].to_numpy(float)) / (fast_bytes_per_s * times.nodes)
    high = np.maximum(now - then, 0.0)
    waited = ~np.isnan(times.waited_s)
    high = np.where(waited, np.minimum(high, times.waited_s), high)
    question = f"staging the hottest {human_bytes(capacity_bytes)}"
    folders, chosen, first = hot_folders(rows, high * times.nodes / HOUR_S, capacity_bytes)
    high = np.where(chosen, high, 0.0)
    # Somebody has to read the folder to make the copy.
    low = np.where(waited & ~first, high, 0.0)
    assumed = (
        f"a fast tier of {fast_bytes_per_s / 1e9:g} GB/s a node that holds the copies before a job begins",
        "a folder is as large as the most that one job read of it",
        "at most, all of the reads are waited for",
        "at least, only those of jobs that say so, and of none that is the first to read a folder",
    )
    return _answer(jobs, times, FAST_TIER, question, low, high, assumed, folders)


def faster_link(
    jobs: JobTable, bits_per_s: float, now_bits_per_s: float, link_share: float = 1.0
) -> Attainable:
    """Says what another link of the nodes saves: the time that bytes from and to remote mounts take on it.

    Communication counts at most, where jobs say what it took.

    Args:
        jobs: The jobs.
        bits_per_s: The other link.
        now_bits_per_s: Today's.
        link_share: What of the time in communication the link takes; the rest is that of PCIe, or NVLink.
    """
    times = job_times(jobs)
    rows, part = jobs.rows, 1 - now_bits_per_s / bits_per_s
    remote = jobs.mounts["fs_type"].isin(REMOTE).to_numpy()
    moved = (jobs.mounts["bytes_read"] + jobs.mounts["bytes_written"]).to_numpy(float) * remote
    job = jobs.mounts["job"].to_numpy()
    bits = 8 * np.bincount(job, moved, minlength=len(rows)) / times.nodes
    on_link = np.minimum(bits / now_bits_per_s, times.data_s)
    waited = ~np.isnan(times.waited_s)
    talk = np.nan_to_num(rows["communication_s"].to_numpy(float)) * link_share
    high = on_link * part
    high = np.where(waited, np.minimum(high, times.waited_s), high) + talk * part
    low = np.where(waited & times.nodes_known, np.minimum(on_link, times.waited_s) * part, 0.0)
    # A link that was not nearly full is not what held up the calls.
    low = np.where(on_link >= times.data_s / 2, low, 0.0)
    assumed = (
        f"nodes have one link of {now_bits_per_s / 1e9:g} Gb/s today (--link-now)",
        "at most, remote bytes are on it alone, calls wait for it, and so does "
        + ("all" if link_share == 1 else f"{100 * link_share:g} % of")
        + " known communication",
        "at least, only jobs count whose nodes and waits are known",
        "and only those whose calls take no more than twice what their bytes need on the link",
    )
    question = f"a link of {bits_per_s / 1e9:g} Gb/s"
    found = _answer(jobs, times, NETWORK, question, low, high, assumed)
    speedup, talking = _step_speedup(rows, part * link_share)
    return replace(found, step_speedup=speedup, talking_jobs=talking)


def _step_speedup(rows: pd.DataFrame, part: float) -> tuple[float | None, int]:
    """Gives how many times as quick steps are without a part of their communication, and of how many jobs."""
    steps, talk = (rows[name].to_numpy(float) for name in ("steps_s", "communication_s"))
    known = np.isfinite(talk) & (steps > 0)
    if not known.any():
        return None, 0
    left = steps[known] - np.minimum(talk[known], steps[known]) * part
    return float(np.mean(steps[known] / np.maximum(left, 1e-12))), int(known.sum())


def _answer(
    jobs: JobTable,
    times: JobTimes,
    topic: str,
    question: str,
    low_s: Array,
    high_s: Array,
    assumptions: tuple[str, ...],
    folders: tuple[HotFolder, ...] = (),
) -> Attainable:
    """Puts an answer together; a change for the worse has its bounds the other way round."""
    high_s = np.minimum(high_s, times.duration_s)
    low_s = np.minimum(low_s, high_s) if (high_s >= 0).all() else low_s
    if (high_s < 0).any():
        low_s, high_s = np.minimum(low_s, high_s), np.maximum(low_s, high_s)
    gaining = (low_s != 0) | (high_s != 0)
    return Attainable(
        topic=topic,
        question=question,
        jobs=len(jobs),
        gaining_jobs=int(gaining.sum()),
        known_jobs=int((gaining & ~np.isnan(times.waited_s)).sum()),
        nodes_unknown=int((gaining & ~times.nodes_known).sum()),
        job_hours=float(times.duration_s.sum()) / HOUR_S,
        low_job_hours=float(low_s.sum()) / HOUR_S,
        high_job_hours=float(high_s.sum()) / HOUR_S,
        node_hours=float((times.duration_s * times.nodes).sum()) / HOUR_S,
        low_node_hours=float((low_s * times.nodes).sum()) / HOUR_S,
        high_node_hours=float((high_s * times.nodes).sum()) / HOUR_S,
        gainers=_gainers(jobs, high_s * times.nodes / HOUR_S),
        folders=folders,
        assumptions=assumptions,
    )


def _gainers(jobs: JobTable, node_hours: Array) -> tuple[Gainer, ...]:
    rows = jobs.rows
    users = rows["user"].where(rows["user"].notna(), user_names(rows)).astype(object).fillna(UNKNOWN)
    frame = pd.DataFrame({"user": users, "hours": node_hours, "jobs": node_hours > 0})
    sums = frame[frame["jobs"]].groupby("user", sort=False).sum()
    most = sums.nlargest(MOST_GAINERS, "hours")
    return tuple(Gainer(str(user), int(row["jobs"]), float(row["hours"])) for user, row in most.iterrows())
