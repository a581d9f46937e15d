"""Lets the replay model say what each fix gives, alone and beside the fixes before it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.file_name import shell_word
from tfdarshan.findings.finding import KINDS, Finding, Gain, OpenQuestion
from tfdarshan.findings.fix_choice import PRICE
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.read_on_demand import bursts_of
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.edits import Edit, edited
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.priors import PRIORS
from tfdarshan.replay.promise import differ_by, promise_of
from tfdarshan.sessions.session_directory import is_of_a_url
from tfdarshan.thresholds import THRESHOLD


def replayed(made: Sequence[Finding], measures: Measures) -> list[Finding]:
    """Return the findings worth a word with what their fixes give: the worst first, doubts before all.

    A fix that gives too little is left out. The cost of a finding is what its fix gives beside those of the
    findings before it; of fixes that give the same seconds back, or exclude each other, the first has the
    cost.
    """
    others = [one for one in made if not one.edits]
    fixes = [
        dataclasses.replace(one, gain=gain_of(measures.job, one.edits, measures)) for one in made if one.edits
    ]
    return sorted([*others, *_charged(fixes, measures)], key=_rank)


def gain_of(job: ModelledJob, edits: Sequence[Edit], measures: Measures) -> Gain:
    """Return what some edits together give."""
    after, model = edited(job, *edits).run, measures.model
    times = job.run.total_s / np.maximum(after.total_s, TINY_S)
    found = promise_of(job, times)
    # A session is more than what its batches take, such as imports or a last request that nothing followed.
    total_s = min(job.facts.batches.total_s / model.units, model.unit_s)
    waited_s = mean_s(job, job.run.wait_s - after.wait_s) / model.units
    low_s, saved_s, high_s = (total_s * (1 - 1 / one) for one in (found.low, found.expected, found.high))
    waited = surely_waits(measures, job)
    supported = found.firm and not job.facts.counted and waited
    wide = found.high > THRESHOLD["wide"] * found.low
    return Gain(
        unit=model.unit,
        before_s=model.unit_s,
        low_s=low_s if supported else min(low_s, 0.0),
        saved_s=saved_s,
        high_s=high_s,
        supported=supported,
        waited=waited,
        hidden=measures.hidden,
        # The loop's own calls are waits to the model, and none to the steps.
        wait_s=min(max(waited_s, 0.0), max(saved_s, 0.0), model.most_wait_s),
        hangs_on=_hangs_on(job, times, probe_command(measures)) if wide else (),
    )


def waits(measures: Measures, job: ModelledJob) -> bool:
    """Say whether the job waits for its input: steps say so, readers never rest, or it reads by itself."""
    bursts = bursts_of(measures) if measures.windows is None else None
    alone = bursts is not None and bursts.one_at_a_time
    return measures.model.likely or job.facts.pipeline.loop_reads or alone


def surely_waits(measures: Measures, job: ModelledJob) -> bool:
    """Say whether it is known what waits for the reads: steps say so, or the loop's own thread makes them.

    It is not if an accelerator may have computed meanwhile.
    """
    return (measures.model.certain or job.facts.pipeline.loop_reads) and not measures.hidden


def first_epoch_alone(measures: Measures, later_s: float) -> bool:
    """Say whether a fix saves next to nothing of later epochs, of input that is read several times."""
    return measures.passes >= THRESHOLD["again"] and later_s < THRESHOLD["note"] * measures.model.all_s


def worth(finding: Finding) -> float:
    """Return what a fix is worth, as the logarithm of a speedup.

    That is halfway between the speedup that is certain and the one that is expected, less what the work of
    the fix has to give.
    """
    gain = finding.gain
    if gain is None:
        return 0.0
    low, expected = (math.log(max(one, TINY_S)) for one in (gain.speedup_range[0], gain.speedup))
    return (low + expected) / 2 - PRICE[finding.work]


def exclude_each_other(job: ModelledJob, edits: Sequence[Edit], others: Sequence[Edit]) -> bool:
    """Say whether two fixes set numbers of readers that differ: whichever is made last undoes the other."""
    first, last = (edited(job, *made).model.readers for made in ((*edits, *others), (*others, *edits)))
    return not np.array_equal(first, last)


def mean_s(job: ModelledJob, seconds: Array) -> float:
    """Return the mean over a job's samples, by how well each reproduces the run."""
    return float(job.weight @ seconds)


def _charged(fixes: Sequence[Finding], measures: Measures) -> list[Finding]:
    """Return the findings whose fix gives enough, each with its cost beside those that are worth more."""
    found: list[Finding] = []
    taken: list[Finding] = []
    job, given_s = measures.job, 0.0
    # Without calls there is neither a job nor a fix.
    may_cost = bool(fixes) and waits(measures, job) and not measures.too_short
    for finding in sorted((_judged(one, one.gain, may_cost) for one in fixes), key=_order):
        gain = finding.gain
        if gain is None or gain.saved_s < THRESHOLD["note"] * gain.before_s:
            continue
        excluded = [one.name for one in taken if exclude_each_other(job, one.edits, finding.edits)]
        if excluded:
            names = tuple(excluded)
            found.append(dataclasses.replace(finding, kind="note", one_of=names, excludes=names))
            continue
        made = (edit for one in (*taken, finding) for edit in one.edits)
        beside = gain_of(job, tuple(made), measures)
        saved_s = beside.saved_s - given_s
        if saved_s < THRESHOLD["note"] * gain.before_s:
            first = tuple(one.name for one in taken)
            found.append(dataclasses.replace(finding, kind="note", one_of=first))
            continue
        charged = dataclasses.replace(finding, cost_s=saved_s, cost_share=saved_s / gain.before_s)
        found.append(_judged(charged, dataclasses.replace(gain, saved_s=saved_s), may_cost))
        taken.append(finding)
        given_s = beside.saved_s
    return found


def _judged(finding: Finding, gain: Gain | None, may_cost: bool) -> Finding:
    """Return a finding as a note if what its fix gives is not enough for a problem."""
    enough = gain is not None and gain.saved_s >= THRESHOLD["problem"] * gain.before_s
    if finding.kind == "problem" and not (may_cost and enough and worth(finding) > 0):
        return dataclasses.replace(finding, kind="note")
    return finding


def _order(finding: Finding) -> tuple[int, float]:
    """Sort findings as their costs are taken: problems by what their fix is worth, then notes."""
    return KINDS.index(finding.kind), -worth(finding)


def _rank(finding: Finding) -> tuple[int, float]:
    """Sort doubts, problems and notes: problems as they were charged, notes by their cost."""
    kind = KINDS.index(finding.kind)
    return kind, -worth(finding) if finding.kind == "problem" else -finding.cost_s


def _hangs_on(job: ModelledJob, times: Array, probe: str) -> tuple[OpenQuestion, ...]:
    """Return the open question that explains most of what a range is wide by; nothing if none explains much.

    Args:
        job: The job.
        times: The speedup of each sample.
        probe: The command that probes its storage.
    """
    log_gain = np.log(times)
    # Runs differ, and fixes, whatever the answers to open questions are.
    anyway = float(job.weight @ differ_by(log_gain) ** 2)
    shares = {
        prior.name: _explained(job.weight, job.drawn[prior.name].astype(float), log_gain, anyway)
        for prior in PRIORS
    }
    most = max(PRIORS, key=lambda prior: shares[prior.name])
    if shares[most.name] < THRESHOLD["hangs"]:
        return ()
    return (OpenQuestion(most.meaning, probe if most.by_probe else ""),)


def _explained(weight: Array, cause: Array, effect: Array, anyway: float) -> float:
    """Return the share of a weighted variance, and of what varies anyway, that a straight line explains."""
    cause, effect = cause - weight @ cause, effect - weight @ effect
    both = float(weight @ (cause * effect))
    whole = float(weight @ effect**2) + anyway
    return both**2 / max(float(weight @ cause**2) * whole, (TINY_S * TINY_S) ** 2)


def probe_command(measures: Measures) -> str:
    """Return the command that probes a session's storage; "" if that was emulated, or another machine's."""
    if measures.imported or measures.summary.emulation is not None:
        return ""
    # The copy of what a URL names is removed.
    path = "LOGDIR" if is_of_a_url(measures.session.path) else measures.summary.path
    return f"tfdarshan probe --logdir {shell_word(path)}"
