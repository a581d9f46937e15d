"""Mapped files read in order: each wait is for one small window, though storage gives more for several."""

from __future__ import annotations

from tfdarshan.analysis.mapped_waits import FileWaits
from tfdarshan.findings.finding import Assumption, Evidence, Finding
from tfdarshan.findings.mapped_cures import read_larger_windows
from tfdarshan.findings.mapped_random import JUMPS
from tfdarshan.findings.mapped_wait import SURELY
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.findings.more_readers import FULL
from tfdarshan.storage_probe.depth_scaling import Level
from tfdarshan.units import human_bytes, human_seconds, plural

NAME = "mapped_window"
FEWEST = 64
# What comes in for each wait in order is no small window from here on.
LARGE_BYTES = 1 << 20


def find(measures: Measures) -> Finding | None:
    """Finds it where a probe shows that several windows at a time come in sooner."""
    found, model, best = measures.mapped, measures.model, _best(measures)
    files = [one for one in found.files if _in_order(one)]
    order_s = sum(one.wait_s - one.jump_s for one in files)
    if best is None or order_s / model.units < LEAST_SHARE * model.unit_s:
        return None
    waits = sum(one.waits - one.jumps for one in files)
    window = sum(one.bytes_in or 0 for one in files) / sum(one.waits for one in files)
    # Of all threads that wait, as these seconds are.
    left_s = waits * window / best.bytes_per_s * found.readers
    saved = max(0.0, order_s - left_s) / found.wait_s
    if saved <= 0:
        return None
    each_s = order_s / waits
    given, rate = (f"{human_bytes(value)}/s" for value in (best.bytes_per_s, window / each_s))
    pipeline_s, stall_s = found.beside_s / found.readers / model.units, found.within_s / model.units
    probe = measures.mapped_probe
    gain = measures.gain(
        # What is read ahead comes in beside compute, at most all of it.
        *(part * pipeline_s for part in (SURELY * saved, saved, 1.0)),
        assumed=[
            Assumption(
                f"storage gives {given} for {best.readers} reads at a time",
                f"measured by {probe.words}" if probe is not None else "",
                "the file system reads no further ahead than now, whatever it is told",
            )
        ],
        stall_s=(SURELY * saved * stall_s, saved * stall_s, stall_s),
    )
    return Finding(
        name=NAME,
        kind="problem",
        title=f"page faults in order wait for {human_bytes(window)} each",
        what=f"{waits:,.0f} times a thread waited {human_seconds(each_s)} for the next {human_bytes(window)} "
        f"of {plural(len(files), 'mapped file')} read in order: {rate}. The kernel reads no further ahead.",
        evidence=(
            Evidence("waits in order", f"{waits:,.0f}", waits),
            Evidence("time of one", human_seconds(each_s), each_s),
            Evidence("bytes that come in for each", human_bytes(window), window),
            Evidence(f"storage gives, for {best.readers} reads at a time", given, best.bytes_per_s),
        ),
        files=tuple(one.path for one in files[:5]),
        unit=model.unit,
        cost_s=gain.saved_s,
        stall_s=min(saved * stall_s, gain.saved_s),
        cure=read_larger_windows(files[0]),
        gain=gain,
        not_worth="where files on the same mount are read out of order: each of their faults reads a larger "
        "window, too",
    )


def _in_order(one: FileWaits) -> bool:
    """Says whether a file is read in order, in small windows as far as its bytes are known."""
    if one.waits < FEWEST or one.jumps >= JUMPS * one.waits or not one.bytes_in:
        return False
    return one.bytes_in / one.waits <= LARGE_BYTES


def _best(measures: Measures) -> Level | None:
    """Gives how many reads of a window at a time get most by a probe; None without, or if storage is full."""
    scaling = None if measures.mapped_probe is None else measures.mapped_probe.large
    if scaling is None or scaling.share is None or scaling.low >= FULL:
        return None
    return max(scaling.levels, key=lambda level: level.bytes_per_s)
