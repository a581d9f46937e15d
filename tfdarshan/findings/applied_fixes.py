"""Fixes that an earlier session of the job shows to be in vain: they are not offered again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tfdarshan.errors import TfdarshanError
from tfdarshan.findings import (
    decode_bound,
    fits_in_memory,
    read_parallelism,
    staging,
    straggler,
    too_many_threads,
    validation,
)
from tfdarshan.findings.finding import Finding, Gain
from tfdarshan.findings.fix_lines import decoding_stage, input_pipeline, reader_of
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import Pipeline, Stage
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.session_directory import META_SUFFIX
from tfdarshan.storage_probe.session_probes import main_mount
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_seconds, human_times


def earlier_sessions(measures: Measures) -> list[Measures]:
    """Measure those that came before this one, the oldest first; none of several ranks, or of a log."""
    session = measures.session
    if measures.imported or measures.ranks is not None or session.joint is not None:
        return []
    found: list[Measures] = []
    for folder in _older(session.path):
        if len(found) == THRESHOLD["earlier sessions"]:
            break
        with suppress(TfdarshanError, OSError):
            other = type(session).open(folder)
            if _is_of_the_job(other, measures):
                found.append(measure(other))
    return found[::-1]


def _older(path: Path) -> list[Path]:
    """Return the folders of sessions that were begun before one, the newest first: their names are times."""
    with suppress(OSError):
        names = [folder for folder in path.parent.iterdir() if folder.name < path.name]
        return sorted((one for one in names if any(one.glob(f"*{META_SUFFIX}"))), reverse=True)
    return []


def _is_of_the_job(session: SessionData, measures: Measures) -> bool:
    owner, command = session.meta[0], measures.summary.command
    calls = sum(int(meta["counts"]["segments"]) for meta in session.meta)
    # A summary is not to wait for those of other sessions.
    few = calls <= THRESHOLD["earlier calls"]
    return bool(command) and owner.get("command") == command and session.joint is None and few


@dataclass(frozen=True)
class AppliedFix:
    """One that gave next to nothing, or that would undo one that helped.

    Attributes:
        name: The finding's.
        why: What showed it, a sentence.
    """

    name: str
    why: str


def without_tried(findings: Sequence[Finding], tried: Sequence[AppliedFix]) -> list[Finding]:
    """Return the findings; those whose fix was tried in vain as notes, without it, with why."""
    why = {one.name: f" {one.why} This fix is not offered again." for one in tried}
    return [
        dataclasses.replace(one, kind="note", what=one.what + why[one.name], fix=None, edits=())
        if one.name in why
        else one
        for one in findings
    ]


def applied_fixes(
    sessions: Sequence[Measures], advised: Callable[[Measures], Sequence[Finding]]
) -> list[AppliedFix]:
    """Return the fixes that were applied from one session to the next and gave next to nothing.

    A fix that leaves nothing to find is none of them: its finding is gone.

    Args:
        sessions: The job's, the oldest first; the last is the one that is judged.
        advised: Gives what was advised in a session.
    """
    found = []
    for before, after in pairwise(sessions):
        if not _comparable(before, after):
            continue
        for one in advised(before):
            # What was applied then may have been taken out again.
            if one.gain and all(_applied(one, before, later) for later in (after, sessions[-1])):
                found += _shown(one, one.gain, before, after)
    return found


def _shown(finding: Finding, gain: Gain, before: Measures, after: Measures) -> list[AppliedFix]:
    """Return what shows by itself once a fix is in: that it was in vain, or else what would undo it."""
    session, unit = before.session.path.name, before.model.unit
    took, takes = before.model.unit_s, after.model.unit_s
    words = f"a {unit} takes {human_seconds(takes)} (before: {human_seconds(took)})."
    if took - takes < THRESHOLD["problem"] * took:
        told = f"Session {session} advised this fix, and expected {human_times(gain.speedup)}"
        return [AppliedFix(finding.name, f"{told}. The fix was made, and {words}")]
    if finding.name != too_many_threads.NAME:
        return []
    undone = f"Session {session} shows that this would undo what {too_many_threads.ABOUT.fix} gave: {words}"
    return [AppliedFix(read_parallelism.NAME, undone)]


def _applied(finding: Finding, before: Measures, after: Measures) -> bool:
    """Say whether a finding's fix is in; that is known of a few that may leave the finding there."""
    if finding.name == decode_bound.NAME and finding.fix is not None and "cache()" in finding.fix.line:
        # It is more calls, or to keep what is decoded.
        return _caches(before, after)
    applied = APPLIED.get(finding.name)
    return applied is not None and applied(before, after)


def _comparable(before: Measures, after: Measures) -> bool:
    """Say whether a unit of both is as much work: as many steps an epoch, or as many files."""
    if before.model.unit != after.model.unit or after.too_short or before.too_short:
        return False
    each = [
        one.unique_bytes / (one.model.units if one.model.unit == "step" else 1) for one in (before, after)
    ]
    return max(each) <= THRESHOLD["alike"] * max(min(each), 1.0)


def _reads_more(before: Measures, after: Measures) -> bool:
    return _more(*map(_reads_at_a_time, (before, after)))


def _decodes_more(before: Measures, after: Measures) -> bool:
    return _more(*(_calls_at_a_time(one, decoding_stage(one), 1.0) for one in (before, after)))


def _validates_more(before: Measures, after: Measures) -> bool:
    both = len(before.validation_files) and len(after.validation_files)
    return bool(both) and _more(*(one.job.facts.validation_readers for one in (before, after)))


def _more(before: float, after: float) -> bool:
    return after >= THRESHOLD["alike"] * before


def _reads_at_a_time(measures: Measures) -> float:
    most = max(measures.model.readers, measures.pipeline.readers.threads)
    return _calls_at_a_time(measures, reader_of(measures), most)


def _calls_at_a_time(measures: Measures, stage: Stage | None, otherwise: float) -> float:
    """Return how many calls of a stage may run at a time by its arguments; `otherwise` if they do not say."""
    if stage is None or stage.calls is None:
        return otherwise
    return float(measures.machine.cpus or 1) if stage.calls < 0 else float(stage.calls)


def _caches(before: Measures, after: Measures) -> bool:
    had, has = (_cached(input_pipeline(one)) for one in (before, after))
    return (has is not None and has != had) or _more(after.passes, before.passes)


def _cached(pipeline: Pipeline | None) -> tuple[object, ...] | None:
    """Return what a cache() is filled with, and what may keep it from filling; None without one."""
    cache = None if pipeline is None else pipeline.has("cache")
    if pipeline is None or cache is None:
        return None
    filled = [(one.name, one.size if one.name == "take" else None) for one in pipeline.before(cache)]
    cuts = [one.size for one in pipeline.after(cache) if one.name == "take"]
    return filled, cuts, pipeline.made_anew


def _elsewhere(before: Measures, after: Measures) -> bool:
    was, now = (main_mount(one.files, one.costs.call_s) for one in (before, after))
    return was != now


APPLIED: dict[str, Callable[[Measures, Measures], bool]] = {
    read_parallelism.NAME: _reads_more,
    too_many_threads.NAME: lambda before, after: _reads_more(after, before),
    decode_bound.NAME: _decodes_more,
    validation.NAME: _validates_more,
    fits_in_memory.NAME: _caches,
    staging.NAME: _elsewhere,
    straggler.NAME: _elsewhere,
}
