"""Mapped files touched out of order: each fault reads a whole window, of which little is wanted."""

from __future__ import annotations

from typing import TypeGuard

from tfdarshan.analysis.mapped_waits import FileWaits
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding
from tfdarshan.findings.mapped_cures import read_single_pages
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.findings.more_readers import FULL, probe_command
from tfdarshan.storage_probe.depth_scaling import Scaling
from tfdarshan.storage_probe.probe_result import StorageProbe
from tfdarshan.units import human_bytes, human_seconds, plural

NAME = "mapped_random"
# A device whose windows are of megabytes has few.
FEWEST, JUMPS = 16, 0.3
# So many times as much came in as was touched.
AMPLIFIED = 4.0
# A probe reads at idle priority, beside others: by itself a read may take this part of it.
UNDISTURBED = 0.5
# A probe's small reads are of a page.
PAGE_BYTES = 4096


def find(measures: Measures) -> Finding | None:
    """Finds it where far more came in than was touched, and waits would be shorter without."""
    found, model = measures.mapped, measures.model
    page_s, most_page_s = _page_s(measures.mapped_probe)
    files = [one for one in found.files if _jumps_about(one) and (page_s is not None or one.bytes_in)]
    jump_s = sum(one.jump_s for one in files)
    if not files or jump_s / model.units < LEAST_SHARE * model.unit_s:
        return None
    if page_s is None or most_page_s is None:
        return _finding(measures, files, page_s, _unprobed(measures))
    reads = sum(one.jumps for one in files), sum(one.quick for one in files)
    # With one page read at a time, what is touched beside it is another read.
    pages = max(sum(one.touched_bytes for one in files) / PAGE_BYTES, *reads), sum(reads), reads[0]
    each_s = most_page_s, page_s, page_s * UNDISTURBED
    left_s = [seconds * count for seconds, count in zip(each_s, pages, strict=True)]
    share = [max(0.0, jump_s - seconds) / max(found.wait_s, 1e-12) for seconds in left_s]
    if share[1] <= 0:
        return None
    pipeline_s, stall_s = found.beside_s / found.readers / model.units, found.within_s / model.units
    probe = measures.mapped_probe
    gain = measures.gain(
        *(part * pipeline_s for part in share),
        assumed=[
            Assumption(
                f"a read of one page takes {human_seconds(page_s)}",
                f"measured by {probe.words}" if probe is not None else "",
                "faults take as long with MADV_RANDOM",
            )
        ],
        stall_s=(share[0] * stall_s, share[1] * stall_s, share[2] * stall_s),
    )
    made = _finding(measures, files, page_s, read_single_pages(files[0]))
    return Finding(
        **{**vars(made), "kind": "problem", "gain": gain, "cost_s": gain.saved_s,
           "stall_s": min(share[1] * stall_s, gain.saved_s)}
    )  # fmt: skip


def _jumps_about(one: FileWaits) -> bool:
    """Says whether many waits of a file are out of order; not if most of what came in was touched."""
    if one.waits < FEWEST or one.jumps < JUMPS * one.waits:
        return False
    return one.bytes_in is None or one.bytes_in >= AMPLIFIED * one.touched_bytes > 0


def _page_s(probe: StorageProbe | None) -> tuple[float, float] | tuple[None, None]:
    """Gives what a read of one page is expected to take one reader, by a probe, and the most; None without.

    Where bytes are the limit, as on a device that is held to a rate, a page of the probe may have waited for
    those that were read before it, or have been lent: its part of the bytes is what it takes.
    """
    alone_s = _alone_s(probe)
    if alone_s is None:
        return None, None
    if probe is None or probe.small is None or not _is_full(probe.large):
        return alone_s, alone_s
    most_calls_per_s = max(level.calls_per_s for level in probe.small.levels)
    part_s = max(PAGE_BYTES / probe.large.levels[-1].bytes_per_s, 1 / most_calls_per_s)
    return part_s, max(part_s, alone_s)


def _alone_s(probe: StorageProbe | None) -> float | None:
    """Gives what a read of one page took in the probe."""
    if probe is None or probe.small is None or probe.small.size > 2 * PAGE_BYTES:
        return None
    return probe.small.alone_s


def _is_full(large: Scaling | None) -> TypeGuard[Scaling]:
    return large is not None and large.share is not None and large.low >= FULL


def _unprobed(measures: Measures) -> Cure | None:
    command = probe_command(measures)
    if not command:
        return None
    return Cure("Probe the storage: whether reads of single pages are quicker there is not known.", command)


def _finding(measures: Measures, files: list[FileWaits], page_s: float | None, cure: Cure | None) -> Finding:
    """Words it, as a note."""
    touched = sum(one.touched_bytes for one in files)
    jumps, jump_s = sum(one.jumps for one in files), sum(one.jump_s for one in files)
    known = [one.bytes_in for one in files if one.bytes_in is not None]
    came_in = sum(known) if len(known) == len(files) else None
    times = "more" if came_in is None else f"{came_in / touched:.0f} times"
    shown: tuple[Evidence, ...] = ()
    if page_s is not None:
        shown += (Evidence("a read of one page", human_seconds(page_s), page_s),)
    if came_in is not None:
        shown += (Evidence("bytes that came in", human_bytes(came_in), came_in),)
    return Finding(
        name=NAME,
        kind="note",
        title=f"page faults out of order read {times} {'than' if came_in is None else 'what'} is touched",
        what=f"{jumps:,.0f} page faults jump about in {plural(len(files), 'mapped file')}, and wait "
        f"{human_seconds(jump_s / jumps)} each. The kernel reads a window around each; "
        f"{human_bytes(touched)} at most were touched.",
        evidence=(
            Evidence("faults out of order", f"{jumps:,.0f}", jumps),
            Evidence("time of one", human_seconds(jump_s / jumps), jump_s / jumps),
            Evidence("bytes touched, at most", human_bytes(touched), touched),
            *shown,
        ),
        files=tuple(one.path for one in files[:5]),
        unit=measures.model.unit,
        cost_s=0.0,
        cure=cure,
        not_worth="where later epochs find in memory what was read around, or where a read takes as long "
        "whatever its size",
    )
