"""Training waits for its input: how long, whatever the cause."""

from __future__ import annotations

from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_seconds, percent

NAME = "input_bound"
ABOUT = About(
    title="Training waits for input",
    cause="A step begins with a wait for its batch. This finding states how long that wait is, "
    "whatever the cause. Other findings name causes and fixes.",
    says="steps wait for input 34.2 % of their time",
    seen=("input wait of each step", "the tab's Steps"),
    fixes={
        "any job": "apply the first fix of `tfdarshan findings`",
        "no finding with a fix": "look for locks, services and generators that the input pipeline waits for",
    },
    ignore="the wait is so short that the verdict says healthy",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Describe how much of the steps is waiting."""
    model = measures.model
    if model.wait_s is None:
        return Unknown(
            NAME,
            f"how long steps waited for input: {measures.why_no_wait}",
            measures.recorded.to_see_waits,
        )
    if model.wait_s < THRESHOLD["note"] * model.unit_s:
        return None
    share = percent(model.wait_s, model.unit_s)
    return Finding(
        name=NAME,
        kind="note",
        title=f"steps wait for input {share} of their time",
        what=f"A step takes {human_seconds(model.unit_s)}, and waits {human_seconds(model.wait_s)} of that "
        "time for its batch. The verdict and the other findings say why, and what to change.",
        evidence=(
            Evidence("steps", f"{model.units:,}", model.units),
            Evidence("mean step", human_seconds(model.unit_s), model.unit_s),
            Evidence("input wait", human_seconds(model.wait_s), model.wait_s),
            Evidence("file calls ran in it for", human_seconds(model.storage_s), model.storage_s),
        ),
        cost_s=model.wait_s,
    )
