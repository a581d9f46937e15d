"""The sentence that comes first: what share of the time is lost, to what, what to do, what that gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.analysis.epoch_waits import EpochWaits
from tfdarshan.findings.best_cure import why_better
from tfdarshan.findings.finding import Finding, Gain, Unknown
from tfdarshan.findings.measures import CACHED, LEAST_SHARE, Measures
from tfdarshan.findings.promise_words import most_words, promise_words
from tfdarshan.findings.served_once import memory_served_later
from tfdarshan.findings.shuffle_buffer import fills_each_epoch
from tfdarshan.findings.step_split import step_split
from tfdarshan.units import percent, percent_at_most

# A job that waits less, and has nothing to cure, is well: its first batch is always waited for.
HEALTHY_SHARE = 0.05
LITTLE_OF_IT = "This gives a little, if anything:"
# What explains less of what steps wait for than this is no answer to what they wait for.
PART_OF_WAIT = 0.1
# What to do if a part of the wait is the longest one, and no finding has a cure for it.
WHAT_TO_DO = {
    "storage": "no cure known here gives much of that back",
    "page_faults": "no cure known here gives much of that back",
    "decoding": "keep what is decoded, store it smaller, or give the job more processors",
    "other_wait": "look for locks, generators and services that the input pipeline waits for",
}
LITTLE = "A cure gives little, if anything: runs of one job differ by as much."
FIRST_BATCH = "Most of that is the wait for the first batch, which a run has once, however long it is."
# From this share of a log's time on what stands out comes before what the log cannot tell.
SUSPECT_SHARE = 0.05
FIRST_EPOCH = "memory served later epochs. No cure is certain"
RECORD_MORE = "record some seconds, 20 steps or more"
# Nothing says that a job without steps trains.
RECORD_LONGER = "record a longer run, of some seconds"


@dataclass(frozen=True)
class Verdict:
    """What is to be said first.

    Attributes:
        sentence: It, in words.
        state: "slow" where a cure is known, "healthy", "unknown" where the data cannot tell, "suspect" where
            a log cannot tell what was waited for and something in it stands out.
        wait_share: Share of step time that waits for input, None if unknown.
        finding: The name of the finding whose cure is named, "" if there is none.
        gain: What that cure gives.
        record: What to record for a better answer, "" if nothing is missing.
        why: The sentence without the cure.
        cause: The name of the finding that costs most, "" if there is none: `finding`, or another one if a
            cure of something else is the better one.
        epochs: What the first epoch and later ones wait, if only the first one waits for input.
    """

    sentence: str
    state: str
    wait_share: float | None
    finding: str
    gain: Gain | None
    record: str = ""
    why: str = ""
    cause: str = ""
    epochs: EpochWaits | None = None

    def __str__(self) -> str:
        return self.sentence


def make_verdict(
    measures: Measures,
    findings: Sequence[Finding],
    unknown: Sequence[Unknown],
    cured: Finding | None = None,
    trial: Finding | None = None,
    little: Finding | None = None,
) -> Verdict:
    """Words the verdict.

    Args:
        measures: The session.
        findings: What was found, the most important first.
        unknown: What it cannot tell.
        cured: Whose cure comes first; None for that of the first finding.
        trial: The note whose cure is worth a trial where no problem is known, None where none is.
        little: The note whose cure gives most of those that give little, None where none is worth a word.
    """
    model = measures.model
    record = next((entry.record for entry in unknown if entry.name == "input_bound"), "")
    first = next((finding for finding in findings if finding.kind == "problem"), None)
    doubts = [
        f"{finding.title[:1].upper()}{finding.title[1:]}." for finding in findings if finding.kind == "doubt"
    ]
    if measures.too_short:
        text = " ".join([*doubts, f"Too short to tell: {measures.too_short}."])
        more = RECORD_LONGER if measures.windows is None else RECORD_MORE
        return Verdict(text, "unknown", model.wait_share, "", None, more)
    if first is not None:
        named = cured or first
        why = " ".join([*doubts, _lost(measures, first), *_in_place_of(first, named)])
        sentence = " ".join([why, *_cure(named)])
        return Verdict(sentence, "slow", model.wait_share, named.name, named.gain, record, why, first.name)
    if model.wait_share is None:
        best = _stands_out(findings)
        helps = cured if cured is not None and _has_cure(best) else best
        said = [_cannot_tell(measures), *_if_it_did(best, helps, measures)]
        name, gain = ("", None) if helps is None else (helps.name, helps.gain)
        cause = "" if best is None else best.name
        # What is slow by itself is so whatever the job waited for.
        suspect = measures.imported and best is not None and best.cost_share >= SUSPECT_SHARE
        text = " ".join([*doubts, *(reversed(said) if suspect else said)])
        return Verdict(text, "suspect" if suspect else "unknown", None, name, gain, record, "", cause)
    held_up = _held_up(findings)
    if model.wait_share < HEALTHY_SHARE and held_up is not None:
        # What a note promises it promises on a condition.
        said = [] if held_up.gain is None else [held_up.what]
        why = " ".join([*doubts, _lost(measures, held_up), *said])
        text, name, gain = " ".join([why, *_cure(held_up)]), held_up.name, held_up.gain
        return Verdict(text, "unknown", model.wait_share, name, gain, "", why, name)
    waits = _waits(measures)
    healthy = is_healthy(measures)
    if trial is not None and model.wait_share >= HEALTHY_SHARE:
        lost = f"{waits}: {FIRST_EPOCH}."
        why = " ".join([*doubts, f"{lost} One is worth a trial, because {trial.title}."])
        text = " ".join([why, *_cure(trial)])
        return Verdict(text, "unknown", model.wait_share, trial.name, trial.gain, "", why, trial.name)
    if little is not None and _explains_little(little, measures):
        why = " ".join([*doubts, f"{waits}, {_no_cure(measures)}"])
        text = " ".join([why, LITTLE_OF_IT, *_cure(little)])
        return Verdict(text, "unknown", model.wait_share, little.name, None, "", why, little.name)
    if little is not None:
        well = f"Healthy: {waits}. " if healthy else ""
        why = " ".join([*doubts, well + _lost(measures, little), *_why_little(little, measures)])
        text = " ".join([why, *_cure(little)])
        state = "healthy" if healthy else "unknown"
        return Verdict(text, state, model.wait_share, little.name, little.gain, "", why, little.name)
    if healthy:
        text = f"Healthy: {waits}; no change of the file I/O is worth it."
        return Verdict(" ".join([*doubts, text]), "healthy", model.wait_share, "", None)
    if model.wait_share < HEALTHY_SHARE:
        share = percent(_own_s(measures), model.unit_s)
        text = (
            f"The training loop's own thread spends {share} of step time in file calls: no cure known here "
            "gives much of that back."
        )
        return Verdict(" ".join([*doubts, text]), "unknown", model.wait_share, "", None)
    text = f"{waits}, {_no_cure(measures)}"
    name = "input_bound"
    return Verdict(" ".join([*doubts, text]), "unknown", model.wait_share, name, None, cause=name)


def first_alone(measures: Measures) -> EpochWaits | None:
    """Gives what epochs wait if the first one alone waits: then the mean is true of none."""
    found = measures.epoch_waits
    waits = found is not None and found.first_share >= HEALTHY_SHARE and found.later_hardly_wait
    return found if waits else None


def _waits(measures: Measures) -> str:
    """Words how much of the steps' time waits for input."""
    found = first_alone(measures)
    if found is None:
        return f"{percent(measures.model.wait_share or 0.0, 1)} of step time waits for input"
    first, later = percent(found.first_share, 1), percent(found.later_share, 1)
    return f"{first} of epoch {found.first} waits for input (later epochs: {later})"


def is_healthy(measures: Measures) -> bool:
    """Says whether steps hardly wait for input, and hardly spend time in file calls of their own."""
    model = measures.model
    return (
        model.wait_share is not None
        and model.wait_share < HEALTHY_SHARE
        and _own_s(measures) < HEALTHY_SHARE * model.unit_s
    )


def _explains_little(little: Finding, measures: Measures) -> bool:
    """Says whether a note is of a small part of the wait that file calls, or handing over, explain."""
    share = measures.model.wait_share or 0.0
    if share < HEALTHY_SHARE or little.gain is not None or little.stall_s > 0:
        return False
    return little.cost_share < PART_OF_WAIT * share


def _why_little(little: Finding, measures: Measures) -> list[str]:
    """Says why nothing is promised of a note's cure."""
    if little.gain is not None:
        return []
    model = measures.model
    starts = 2 * model.first_wait_s > model.most_wait_s and not fills_each_epoch(measures)
    return [FIRST_BATCH if starts else LITTLE]


def _own_s(measures: Measures) -> float:
    """Gives what of a step its own thread spends in file calls."""
    return next((part.seconds for part in step_split(measures) if part.name == "own_calls"), 0.0)


def _held_up(findings: Sequence[Finding]) -> Finding | None:
    """Gives the note that the loop is held up by for a share of the time that counts, None if none is.

    One that promises nothing comes first: what promises something on a condition may be of the same time.
    """
    notes = [
        finding
        for finding in findings
        if finding.kind == "note" and finding.stall_s > 0 and finding.cost_share >= HEALTHY_SHARE
    ]
    return min(
        (one for one in notes if one.cure is not None), key=lambda one: one.gain is not None, default=None
    )


def _stands_out(findings: Sequence[Finding]) -> Finding | None:
    """Gives the note that costs most; of those that promise something, if any does."""
    notes = [finding for finding in findings if finding.kind == "note" and finding.cost_s > 0]
    return next((finding for finding in notes if finding.gain is not None), next(iter(notes), None))


def _no_cure(measures: Measures) -> str:
    """Says why no finding explains the wait, by the parts of it that `step_split` gives."""
    model = measures.model
    if model.certain and 2 * model.handed_s > model.most_wait_s:
        return (
            f"{percent(model.handed_s, model.most_wait_s)} of that to be handed a batch that is ready: "
            "no storage makes that shorter, and fewer, larger batches do."
        )
    waits = {part.name: part for part in step_split(measures) if part.name in WHAT_TO_DO}
    wait_s = sum(part.seconds for part in waits.values())
    longest = max(waits.values(), key=lambda part: part.seconds)
    part = percent(waits["storage"].seconds, wait_s)
    if longest.name != "storage":
        most, what = percent(longest.seconds, wait_s), longest.label.removeprefix("waiting ")
        return f"{most} of that {what}, {part} for file calls: {WHAT_TO_DO[longest.name]}."
    if measures.slow_share <= CACHED:
        return f"{part} of that for file calls that the page cache served: no storage makes these shorter."
    if memory_served_later(measures):
        return (
            f"{part} of that for file calls of the first epoch: memory served later ones, so a longer run "
            "waits for less of its time, and no cure known here gives much of that back."
        )
    return f"{part} of that for file calls: {WHAT_TO_DO[longest.name]}."


def _lost(measures: Measures, first: Finding) -> str:
    model = measures.model
    share = model.wait_share
    lost = percent(first.cost_share, 1)
    if share is not None and share >= LEAST_SHARE and first.stall_s < first.cost_s:
        part = percent(min(first.cost_s - first.stall_s, model.most_wait_s), model.most_wait_s)
        return f"{_waits(measures)}, {part} of that because {first.title}."
    of = "step time" if model.unit == "step" else "the session"
    if not model.certain and first.stall_s < first.cost_s:
        doubt = f"if that is waited for: {measures.why_no_wait}"
        return f"Up to {lost} of {of} is lost because {first.title}, {doubt}."
    return f"{lost} of {of} is lost because {first.title}."


def _cure(first: Finding) -> list[str]:
    if first.cure is None:
        return []
    return [first.cure.what, *([_gives(first.gain)] if first.gain is not None else [])]


def _gives(gain: Gain) -> str:
    return f"{'Expected:' if gain.supported else 'That gives'} {promise_words(gain)}."


def _in_place_of(cause: Finding, named: Finding) -> list[str]:
    """Says of what the cure is, and why it is not that of what costs most; nothing if it is."""
    if named.name == cause.name:
        return []
    return [f"Another cause has a cure that {why_better(named, cause)}: {named.title}."]


def _has_cure(best: Finding | None) -> bool:
    """Says whether what stands out is something that a cure shortens, if anything waited for it."""
    return best is not None and None not in (best.gain, best.cure) and best.stall_s < best.cost_s


def _if_it_did(best: Finding | None, named: Finding | None, measures: Measures) -> list[str]:
    """Says what costs most if training, or whatever needed the input, did wait, and what would help."""
    if best is None or named is None:
        return []
    if named.gain is None or named.cure is None or not _has_cure(best):
        return [f"What stands out: {best.title}. {best.what}"]
    who = "something" if measures.windows is None else "it"
    gives = f"That could give {most_words(named.gain)}."
    cause = f"If {who} did, it is because {best.title}."
    return [" ".join([cause, *_in_place_of(best, named), named.cure.what, gives])]


def _cannot_tell(measures: Measures) -> str:
    data = measures.summary
    io_s = data.wall_clock.io_s
    if io_s is not None:
        share = (percent if data.wall_clock.exact else percent_at_most)(io_s, data.duration_s)
        ran = f"file calls were running {share} of the time"
    else:
        # A log adds up the times of files and ranks.
        times = data.file_time
        whole_s = max(data.processes * data.duration_s, 1e-9)
        share = percent_at_most(min(times.read_s + times.write_s + times.meta_s, whole_s), whole_s)
        ran = f"its processes spent {share} of their time in file calls"
    if measures.imported:
        return f"The log does not say what the job waited for; {ran}."
    if measures.windows is None:
        return f"No step was recorded, so this session cannot tell what waited for input; {ran}."
    return f"This session cannot tell whether training waited for input; {ran}."
