"""The sentence that comes first: what share of the time is lost, to what, what to do, what that gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.findings.finding import Finding, Gain, Unknown
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.units import percent

# A job that waits less, and has nothing to cure, is well: its first batch is always waited for.
HEALTHY_SHARE = 0.05


@dataclass(frozen=True)
class Verdict:
    """What is to be said first.

    Attributes:
        sentence: It, in words.
        state: "slow" where a cure is known, "healthy", or "unknown" where the data cannot tell.
        wait_share: Share of step time that waits for input, None if unknown.
        finding: The name of the finding that costs most, "" if there is none.
        gain: What its cure gives.
        record: What to record for a better answer, "" if nothing is missing.
    """

    sentence: str
    state: str
    wait_share: float | None
    finding: str
    gain: Gain | None
    record: str = ""


def make_verdict(measures: Measures, findings: Sequence[Finding], unknown: Sequence[Unknown]) -> Verdict:
    """Words the verdict.

    Args:
        measures: The session.
        findings: What was found, the most important first.
        unknown: What it cannot tell.
    """
    model = measures.model
    record = next((entry.record for entry in unknown if entry.name == "input_bound"), "")
    first = next((finding for finding in findings if finding.kind == "problem"), None)
    doubts = [f"{finding.title}." for finding in findings if finding.kind == "doubt"]
    if first is not None:
        sentences = [_lost(measures, first), *_cure(first)]
        return Verdict(
            " ".join([*doubts, *sentences]), "slow", model.wait_share, first.name, first.gain, record
        )
    if model.wait_share is None:
        best = next((finding for finding in findings if finding.gain is not None), None)
        sentences = [_cannot_tell(measures)]
        if best is not None and best.gain is not None:
            sentences.append(
                f"If it did, {best.title}: {_sentence_start(best)} could give up to "
                f"{best.gain.speedup_range[1]:.2f}x."
            )
        return Verdict(" ".join([*doubts, *sentences]), "unknown", None, best.name if best else "",
                       best.gain if best else None, record)  # fmt: skip
    waits = percent(model.wait_share, 1)
    if model.wait_share < HEALTHY_SHARE:
        text = f"Healthy: {waits} of step time waits for input; no change of the file I/O is worth it."
        return Verdict(" ".join([*doubts, text]), "healthy", model.wait_share, "", None)
    text = f"{waits} of step time waits for input, and no file call explains it: look at what else it does."
    return Verdict(" ".join([*doubts, text]), "unknown", model.wait_share, "input_bound", None)


def _lost(measures: Measures, first: Finding) -> str:
    model = measures.model
    share = model.wait_share
    lost = percent(first.cost_share, 1)
    if share is not None and share >= LEAST_SHARE and first.stall_s < first.cost_s:
        part = percent(min(first.cost_s - first.stall_s, model.most_wait_s), model.most_wait_s)
        return f"{percent(share, 1)} of step time waits for input, {part} of that because {first.title}."
    return (
        f"{lost} of {'step time' if model.unit == 'step' else 'the session'} is lost because {first.title}."
    )


def _cure(first: Finding) -> list[str]:
    if first.cure is None:
        return []
    gives = ""
    if first.gain is not None:
        low, high = first.gain.speedup_range
        gives = f" Expected: {first.gain.speedup:.2f}x ({low:.2f}x to {high:.2f}x)."
    return [f"{first.cure.what}{gives}"]


def _sentence_start(finding: Finding) -> str:
    if finding.cure is None:
        return "curing that"
    what = finding.cure.what.rstrip(".")
    return f"the cure ({what[0].lower()}{what[1:]})"


def _cannot_tell(measures: Measures) -> str:
    data = measures.summary
    io_s = data.wall_clock.io_s
    ran = "" if io_s is None else f": file calls were running {percent(io_s, data.duration_s)} of the time"
    return f"This session cannot tell whether training waited for input{ran}."
