"""Cures that a later session of the job shows to be without effect: these are not offered again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tfdarshan.analysis.tf_data_pipeline import Pipeline
from tfdarshan.findings import (
    decode_bound,
    eof_probes,
    fits_in_memory,
    fsync,
    prefetch,
    random_access,
    read_parallelism,
    reopening,
    shuffle_buffer,
    small_files,
    small_reads,
    small_writes,
    staging,
    stat_storm,
    straggler,
    too_many_threads,
    validation,
)
from tfdarshan.findings.all_findings import FIX_NAMES
from tfdarshan.findings.finding import Finding
from tfdarshan.findings.measures import LEAST_STEPS, Measures
from tfdarshan.findings.pipeline_api import decoding_stage, input_pipeline, prepares_ahead
from tfdarshan.storage_probe.session_probes import main_mount
from tfdarshan.units import human_seconds, human_times

# A cure was without effect if it saved less than this part of what was expected.
KEPT = 0.25
# What a cure changes is that many times as much, or as little.
OTHER = 1.5
# A pipeline that works so much more beside steps than before prepares ahead now.
MORE_BESIDE = 0.3


@dataclass(frozen=True)
class TriedCure:
    """One that gave next to nothing, or that would undo one that helped.

    Attributes:
        name: The finding's.
        why: What showed it, a sentence.
    """

    name: str
    why: str


# What would undo a cure.
OPPOSITE = {too_many_threads.NAME: read_parallelism.NAME}


def without_tried(findings: Sequence[Finding], tried: Sequence[TriedCure]) -> list[Finding]:
    """Gives the findings; those whose cure was tried in vain as notes, without it, with why."""
    by_name = {one.name: one for one in tried}
    return [
        dataclasses.replace(
            finding,
            kind="note",
            what=f"{finding.what} {by_name[finding.name].why} It is not offered again.",
            cure=None,
            gain=None,
            edits=(),
        )
        if finding.name in by_name
        else finding
        for finding in findings
    ]


def tried_cures(
    sessions: Sequence[Measures], problems: Callable[[Measures], Sequence[Finding]]
) -> list[TriedCure]:
    """Finds the cures that were applied from one session to the next and gave next to nothing.

    Args:
        sessions: The job's, the oldest first; the last is the one that is judged.
        problems: Gives what was advised in a session.
    """
    found = []
    for before, after in pairwise(sessions):
        if not _comparable(before, after):
            continue
        for finding in problems(before):
            applied = _applied(finding)
            # What was applied then may have been taken out again.
            is_in = applied is not None and applied(before, after) and applied(before, sessions[-1])
            if is_in:
                found += _shown(finding, before, after)
    return found


def _applied(finding: Finding) -> Callable[[Measures, Measures], bool] | None:
    """Gives what says whether a finding's cure is in; None where nothing does."""
    if finding.name == decode_bound.NAME and finding.cure is not None and "cache()" in finding.cure.line:
        # It is more calls, or to keep what is decoded.
        return _caches
    return APPLIED.get(finding.name)


def _shown(finding: Finding, before: Measures, after: Measures) -> list[TriedCure]:
    """Gives what shows by itself once a cure is in: that it was in vain, or else what would undo it."""
    gain, session = finding.gain, before.run.session.path.name
    if gain is None:
        return []
    took, takes = before.model.unit_s, after.model.unit_s
    words = f"a {before.model.unit} takes {human_seconds(takes)} after {human_seconds(took)}"
    if took - takes < KEPT * gain.saved_s:
        told = f"Session {session} was told to cure this, with {human_times(gain.speedup)} expected"
        return [TriedCure(finding.name, f"{told}; the cure is in, and {words}.")]
    if finding.name not in OPPOSITE:
        return []
    why = f"Session {session} shows that this would undo what {FIX_NAMES[finding.name]} gave: {words}."
    return [TriedCure(OPPOSITE[finding.name], why)]


def _comparable(before: Measures, after: Measures) -> bool:
    """Says whether a unit of both is as much work: as many steps an epoch, or as many files."""
    if before.model.unit != after.model.unit or after.too_short or before.too_short:
        return False
    if before.model.unit == "step":
        return min(before.model.units, after.model.units) >= LEAST_STEPS and _alike(
            before.unique_bytes / before.model.units, after.unique_bytes / after.model.units
        )
    return _alike(before.unique_bytes, after.unique_bytes)


def _alike(one: float, other: float) -> bool:
    return max(one, other) <= OTHER * max(min(one, other), 1.0)


def _calls_at_a_time(measures: Measures) -> float:
    """Gives how many reads may run at a time, by the pipeline's arguments, else by the threads that read."""
    pipeline = input_pipeline(measures)
    cpus = float(measures.machine.cpus or 1)
    if pipeline is None or pipeline.reader is None or pipeline.reader.calls is None:
        return max(measures.model.readers, measures.pipeline.readers.threads)
    return cpus if pipeline.reader.calls < 0 else float(pipeline.reader.calls)


def _decoding(measures: Measures) -> float:
    stage = decoding_stage(measures)
    calls = None if stage is None else stage.calls
    return 1.0 if calls is None else float(measures.machine.cpus or 1) if calls < 0 else float(calls)


def _read_bytes(measures: Measures) -> float:
    reads = measures.group("read")
    return reads.moved_bytes / max(reads.calls, 1.0)


def _each(*kinds: str) -> Callable[[Measures], float]:
    """Gives what counts such calls of a unit."""
    return lambda measures: measures.group(*kinds).calls / measures.model.units


def _writes(*, sync: bool) -> Callable[[Measures], float]:
    return lambda measures: float(np.count_nonzero(measures.output.sync == sync)) / measures.model.units


def _files_opened(measures: Measures) -> float:
    return float(np.count_nonzero(measures.costs.opens))


def _shuffled(measures: Measures) -> float:
    pipeline = input_pipeline(measures)
    shuffle = None if pipeline is None else pipeline.has("shuffle")
    return 0.0 if shuffle is None else float(shuffle.size or 0)


def _more(knob: Callable[[Measures], float]) -> Callable[[Measures, Measures], bool]:
    return lambda before, after: knob(after) >= OTHER * max(knob(before), 1e-9)


def _less(knob: Callable[[Measures], float]) -> Callable[[Measures, Measures], bool]:
    return lambda before, after: OTHER * knob(after) <= knob(before)


def _prepares(before: Measures, after: Measures) -> bool:
    if prepares_ahead(after) and not prepares_ahead(before):
        return True
    return after.overlap - before.overlap >= MORE_BESIDE


def _caches(before: Measures, after: Measures) -> bool:
    had, has = (_cached(input_pipeline(one)) for one in (before, after))
    return (has is not None and has != had) or OTHER * after.passes <= before.passes


def _cached(pipeline: Pipeline | None) -> tuple[object, ...] | None:
    """Gives what a cache() is filled with, and what may keep it from filling; None without one."""
    cache = None if pipeline is None else pipeline.has("cache")
    if pipeline is None or cache is None:
        return None
    filled = [(one.name, one.size if one.name == "take" else None) for one in pipeline.before(cache)]
    cuts = [one.size for one in pipeline.after(cache) if one.name == "take"]
    return filled, cuts, pipeline.made_anew


def _elsewhere(before: Measures, after: Measures) -> bool:
    was, now = (main_mount(one.files, one.costs.call_s) for one in (before, after))
    return was != now


def _validates(before: Measures, after: Measures) -> bool:
    """Says whether a validation set is read by more calls at a time now, or less often in as many steps."""
    was, now = before.pauses, after.pauses
    if was is None or now is None:
        return was is not None
    often, often_now = (
        validation.times_read(one, pauses) / one.model.units for one, pauses in ((before, was), (after, now))
    )
    return OTHER * often_now <= often or now.at_a_time >= OTHER * was.at_a_time


APPLIED: dict[str, Callable[[Measures, Measures], bool]] = {
    read_parallelism.NAME: _more(_calls_at_a_time),
    too_many_threads.NAME: _less(_calls_at_a_time),
    prefetch.NAME: _prepares,
    fits_in_memory.NAME: _caches,
    decode_bound.NAME: _more(_decoding),
    small_files.NAME: _less(_files_opened),
    small_reads.NAME: _more(_read_bytes),
    random_access.NAME: _more(_read_bytes),
    stat_storm.NAME: _less(_each("stat")),
    reopening.NAME: _less(_each("open")),
    eof_probes.NAME: _less(_each("empty_read")),
    shuffle_buffer.NAME: _less(_shuffled),
    fsync.NAME: _less(_writes(sync=True)),
    small_writes.NAME: _less(_writes(sync=False)),
    staging.NAME: _elsewhere,
    straggler.NAME: _elsewhere,
    validation.NAME: _validates,
}
