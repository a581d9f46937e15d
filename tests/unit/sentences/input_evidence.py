"""What findings on the input show as evidence, worked out from the raw tables.

None stands for a session of which only a model knows the figure.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.unit.sentences.made import Figure, Made

# A read that takes less may be the page cache's.
SURELY_STORED_S = 2e-3
WHOLE = 0.9


def _whole_files(one: Made) -> pd.DataFrame:
    """Return files that are read whole each time they are opened."""
    files = one.input_files
    whole = (files["size_bytes"] <= 0) | (files["moved"] >= WHOLE * files["size_bytes"] * files["opens"])
    return files[whole & (files["opens"] > 0) & (files["reads"] > 0)]


def _time_of_one(one: Made) -> float:
    files = _whole_files(one)
    return float((files["read_s"] + files["other_s"]).sum() / files["opens"].sum())


def _all_stored(one: Made) -> bool:
    """Return whether no read can have been the page cache's."""
    slow = (one.found.data_reads["seconds"] > SURELY_STORED_S).all()
    return bool(slow) and not one.meta["kernel"]["valid"]


def _read_in_steps(one: Made) -> pd.DataFrame:
    """Return reads that begin before the last step ends."""
    calls, last = one.input_calls, one.found.steps["end"].max() - one.meta["origin_realtime_ns"]
    within = calls[calls["start_ns"] < last] if len(one.found.steps) else calls
    return within[within["length"] > 0]


def _times_read(one: Made) -> float:
    files = one.input_files
    return float(files["moved"].sum() / files["distinct"].sum())


def _again_s(one: Made) -> float | None:
    """Return the time in reading files again, if storage served all of it."""
    files = one.input_files
    passes = files["moved"] / files["distinct"]
    spared = (files["read_s"] + files["other_s"]) * (1 - 1 / passes)
    return float(spared.sum()) if _all_stored(one) else None


def _small(one: Made) -> pd.DataFrame | None:
    """Return reads of files that are read in pieces of less than 64 KiB each, if storage served all."""
    reads = one.found.data_reads
    by_file = reads.groupby("file")["length"]
    pieces = by_file.transform("count") >= 2
    small = reads[(by_file.transform("mean") <= 65536) & pieces]
    return small if _all_stored(one) else None


def _of_small(name: str) -> Figure:
    def figure(one: Made) -> float | None:
        small = _small(one)
        if small is None:
            return None
        seconds = float(small["seconds"].sum())
        return {
            "reads": float(len(small)),
            "mean": seconds / len(small),
            "share": seconds / float(one.found.data_reads["seconds"].sum()),
        }[name]

    return figure


def _jumps(one: Made) -> pd.DataFrame:
    """Return reads that do not begin where the one before in their file ended."""
    reads = one.found.data_reads.sort_values("start_ns")
    ends = (reads["offset"] + reads["length"]).groupby(reads["file"]).shift(1)
    return reads[ends != reads["offset"]]


def _levels(one: Made) -> pd.DataFrame:
    """Return for each moment how long it lasts, how many reads run and what they move a second together."""
    reads = one.found.data_reads
    rate = reads["length"] / reads["seconds"]
    edges = pd.concat([
        pd.DataFrame({"at": reads["start_ns"], "depth": 1, "rate": rate}),
        pd.DataFrame({"at": reads["end_ns"], "depth": -1, "rate": -rate}),
    ]).groupby("at").sum().cumsum()  # fmt: skip
    edges["lasts"] = [*np.diff(edges.index), 0]
    return edges[edges["depth"] > 0]


def _level(one: Made, *, most: bool) -> pd.DataFrame:
    """Return the moments of the depth that lasts longest, or of the one that lasts least."""
    levels = _levels(one)
    lasts = levels.groupby("depth")["lasts"].sum()
    return levels[levels["depth"] == (lasts.idxmax() if most else lasts.idxmin())]


def _shallow_phases(one: Made) -> int:
    """Return how many times the number of reads at a time falls."""
    depth = _levels(one)["depth"]
    return int((depth.diff() < 0).sum())


def _rank_seconds(one: Made) -> pd.Series:
    """Return what the reads and opens of each rank take, held against as many bytes."""
    calls = one.calls_of_ranks.groupby("rank")
    return calls["seconds"].sum() / calls["length"].sum()


def _times_as_slow(one: Made) -> float:
    """Return how many times as long the slowest rank takes as those of other nodes for a byte."""
    taken = _rank_seconds(one)
    slowest = taken.idxmax()
    return float(taken[slowest] / taken.drop(slowest).median())


def _times_as_slow_as_elsewhere(one: Made) -> float:
    taken = _rank_seconds(one)
    there = one.hosts[taken.idxmax()]
    return float(taken.max() / taken[[one.hosts[rank] != there for rank in taken.index]].median())


def _beyond_others_s(one: Made) -> float:
    taken = one.calls_of_ranks.groupby("rank")["seconds"].sum()
    return float(taken.max() * (1 - 1 / _times_as_slow(one)))


def _ranks_there(one: Made) -> int:
    there = one.hosts[_rank_seconds(one).idxmax()]
    return sum(host == there for host in one.hosts.values())


def _work_beyond(one: Made) -> float:
    moved = one.found.data_reads.groupby("rank")["length"].sum()
    return float(1 - moved.drop(moved.idxmax()).median() / moved.max())


def _filling(one: Made) -> pd.Series:
    """Return by how much each wait that is far longer than most is longer than the mean of the others."""
    waits = one.waits_s
    long = waits > 10 * waits.median()
    return waits[long] - waits[~long].mean()


def _came_in(one: Made) -> float:
    return float(one.found.files["MMAP_BYTES_IN"].sum())


def _waited(one: Made) -> pd.DataFrame:
    return one.faults[one.faults["seconds"] > 20e-6]


def _calls_running(one: Made) -> float | None:
    """Return the time of a step in which its input is read, if one thread reads, which is not the loop's."""
    calls = one.input_calls
    alone = calls["tid"].nunique() == 1 and calls["tid"].iloc[0] != one.meta["pid"]
    return one.found.union_s(calls) / len(one.found.steps) if alone else None


def _served_by_memory(one: Made) -> float | None:
    """Return the share of all bytes that no device gave, if the kernel counted."""
    kernel = one.meta["kernel"]
    return 1 - kernel["read_bytes"] / kernel["rchar"] if kernel["valid"] else None


def _pauses(one: Made) -> int:
    """Return how many times a step does not begin where the one before ended."""
    steps = one.found.steps.sort_values("start")
    return int((steps["start"].to_numpy()[1:] > steps["end"].to_numpy()[:-1]).sum())


def _between_steps_share(one: Made) -> float:
    """Return the share of time in which something is read between steps."""
    steps, origin = one.found.steps.sort_values("start"), one.meta["origin_realtime_ns"]
    reads = one.found.data_reads
    spans = zip(steps["end"].to_numpy()[:-1] - origin, steps["start"].to_numpy()[1:] - origin, strict=True)
    read_s = sum(
        one.found.union_s(reads[(reads["start_ns"] >= start) & (reads["end_ns"] <= end)])
        for start, end in spans
    )
    return read_s / (one.step_s * len(steps))


def _bursts(one: Made) -> int:
    """Return how many times writes begin after none ran."""
    writes = one.found.calls("write", "pwrite").sort_values("start_ns")
    return 1 + int((writes["start_ns"].to_numpy()[1:] > writes["end_ns"].to_numpy()[:-1]).sum())


INPUT_FIGURES: dict[tuple[str, str], Figure] = {
    ("input_bound", "file calls ran in it for"): _calls_running,
    ("checkpoint_stall", "checkpoints"): _bursts,
    ("small_files", "files"): lambda one: len(_whole_files(one)),
    ("small_files", "mean size"): lambda one: float(_whole_files(one)["size_bytes"].mean()),
    ("small_files", "time of one file"): _time_of_one,
    ("small_files", "opens, closes, stat() calls, end-of-file reads, over all threads"):
        lambda one: float(_whole_files(one)["other_s"].sum()),
    ("small_reads", "small sequential reads"): _of_small("reads"),
    ("small_reads", "of them served by storage"): _of_small("reads"),
    ("small_reads", "time of one read"): _of_small("mean"),
    ("small_reads", "share of the time of all reads"): _of_small("share"),
    ("random_access", "reads out of order"): lambda one: len(_jumps(one)),
    ("random_access", "of all reads"): lambda one: len(_jumps(one)) / len(one.found.data_reads),
    ("random_access", "time in them, over all threads"): lambda one: float(_jumps(one)["seconds"].sum()),
    ("fits_in_memory", "input"): lambda one: float(one.input_files["distinct"].sum()),
    ("fits_in_memory", "times read"): _times_read,
    ("fits_in_memory", "of them from storage"):
        lambda one: _times_read(one) if _all_stored(one) else None,
    ("fits_in_memory", "time in reading again"): _again_s,
    ("page_cache", "read of the input"): lambda one: float(one.input_files["moved"].sum()),
    ("page_cache", "of it from the page cache"):
        _served_by_memory,
    ("read_parallelism", "mean call"): lambda one: float(one.input_calls["seconds"].mean()),
    ("decode_bound", "of it in file calls"): _calls_running,
    ("decode_bound", "pipeline, for one batch"):
        lambda one: None if one.in_compute_s else float(one.waits_s.mean()),
    ("prefetch", "pipeline at work beside compute"): lambda one: None if one.in_compute_s else 0.0,
    ("staging", "from storage"):
        lambda one: float(_read_in_steps(one)["length"].sum()) if _all_stored(one) else None,
    ("too_many_threads", "queue depth"): lambda one: float(_level(one, most=True)["depth"].iloc[0]),
    ("too_many_threads", "bandwidth at it"): lambda one: float(_level(one, most=True)["rate"].median()),
    ("too_many_threads", "best depth"): lambda one: float(_level(one, most=False)["depth"].iloc[0]),
    ("too_many_threads", "bandwidth at that"): lambda one: float(_level(one, most=False)["rate"].median()),
    ("too_many_threads", "phases at that"): _shallow_phases,
    ("shuffle_buffer", "epochs begun"): lambda one: len(_filling(one)),
    ("shuffle_buffer", "waits that filled it"): lambda one: float(_filling(one).sum()),
    ("shuffle_buffer", "of all waits"): lambda one: float(_filling(one).sum() / one.waits_s.sum()),
    ("shuffle_buffer", "samples in the buffer"): lambda one: next(
        stage["size"]
        for stage in one.meta["pipelines"]["found"][0]["stages"]
        if stage["name"] == "shuffle"
    ),
    ("shard_imbalance", "of a step's reading beyond others'"): _work_beyond,
    ("slow_rank", "times as long"): _times_as_slow,
    ("slow_rank", "in calls beyond others', over all threads"): _beyond_others_s,
    ("slow_node", "times as long"): _times_as_slow_as_elsewhere,
    ("slow_node", "ranks on it"): _ranks_there,
    ("validation", "pauses"): _pauses,
    ("validation", "of all time"): _between_steps_share,
    ("mapped_wait", "bytes that came in"): _came_in,
    ("mapped_wait", "threads that wait"):
        lambda one: float(one.faults["seconds"].sum()) / one.found.union_s(one.faults),
    ("mapped_cached", "page faults"): lambda one: len(one.faults),
    ("mapped_cached", "of them waited"): lambda one: len(_waited(one)),
    ("mapped_cached", "waited in all"): lambda one: float(_waited(one)["seconds"].sum()),
}  # fmt: skip
