"""Threads wait in page faults on mapped files: each reads one window, and waits for it."""

from __future__ import annotations

from tfdarshan.analysis.steps.mapped_waits import MappedWaits
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Unknown
from tfdarshan.findings.fix_choice import best_fix
from tfdarshan.findings.mapped_fix_lines import name_of
from tfdarshan.findings.mapped_fixes import came_in, fixes_of
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.unseen_faults import FINDING, unseen_faults
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = FINDING
ABOUT = About(
    title="Page faults on mapped files are serial",
    cause="A thread that touches a page of a mapped file waits until the kernel has read a window "
    "around that page. One thread has one such wait at a time, so page faults wait for the "
    "storage's latency one after the other.",
    says="threads wait in page faults on an LMDB database",
    seen=("the time that threads waited in page faults", "`tfdarshan summary`"),
    fixes={
        "LMDB": "`tfdarshan.lmdb.dataset(path, batch=32)`",
        "NumPy": "`map_ahead(lambda rows: np.array(array[rows]), order, threads=16)`",
        "PyTorch": "`torch.load(path, mmap=False)`",
        "Parquet": "`pq.read_table(path, memory_map=False, pre_buffer=True)`",
        "any file, read out of order": "`mapped.madvise(mmap.MADV_RANDOM)`",
    },
    estimate="A page fault that waited counts as a read of the bytes that came in. tfdarshan replays "
    "reading ahead with 16 threads, a larger read-ahead and reads of single pages, and names the "
    "best of these fixes.",
    ignore="the page cache keeps the files after the first epoch, or a run takes only seconds",
    fix="fewer waits in page faults",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it if threads wait longer in page faults than in calls on input."""
    reads, found = measures.summary.mapped, measures.mapped
    if measures.imported:
        return None
    if not reads.asked or (reads.files and not found.kept):
        return unseen_faults(measures)
    if not measures.waits_in_faults:
        return None
    chosen = best_fix(measures, fixes_of(measures))
    return Finding(
        name=NAME,
        title=f"threads wait in page faults on {_files(found)}",
        what=_what(found),
        evidence=(*_evidence(measures), *_bytes(found), *_sampled(measures)),
        files=tuple(one.path for one in found.files[:5] if one.wait_s > 0),
        fix=chosen.fix,
        edits=chosen.edits,
        work=chosen.work,
    )


def _files(found: MappedWaits) -> str:
    waited = [one for one in found.files if one.wait_s > 0]
    name = name_of(waited[0])
    if len(waited) > 1:
        return f"{len(waited)} mapped files"
    return f"{'an' if name[0] in 'ALH' else 'a'} {name}"


def _what(found: MappedWaits) -> str:
    mean_s = found.wait_s / max(found.waits, 1.0)
    return (
        f"{found.waits:,.0f} times a thread touched a page that was not in memory and waited "
        f"{human_seconds(mean_s)} for the page, {human_seconds(found.wait_s)} in all. The waits come one "
        "after "
        "another."
    )


def _evidence(measures: Measures) -> tuple[Evidence, ...]:
    found = measures.mapped
    jumps, each_s = sum(one.jumps for one in found.files), found.wait_s / measures.model.units
    return (
        Evidence("faults that waited", f"{found.waits:,.0f}", found.waits),
        Evidence("faults out of order", f"{jumps:,.0f}", jumps),
        Evidence(f"of a {measures.model.unit}, over all threads", human_seconds(each_s), each_s),
        Evidence("threads that wait", f"{found.readers:.1f}", found.readers),
    )


def _bytes(found: MappedWaits) -> tuple[Evidence, ...]:
    size, touched = came_in(found.files), sum(one.touched_bytes for one in found.files)
    if size is None:
        return ()
    return (
        Evidence("bytes that came in", human_bytes(size), size),
        Evidence("bytes touched, at most", human_bytes(touched), touched),
    )


def _sampled(measures: Measures) -> tuple[Evidence, ...]:
    share = measures.summary.mapped.sampled_share
    if share is None or share >= 1:
        return ()
    return (Evidence("of the page faults, seen", percent(share, 1), share),)
