"""Words what recording itself took."""

from __future__ import annotations

from tfdarshan.analysis.calls.own_cost import OwnCost
from tfdarshan.units import human_seconds, percent

NOT_COUNTED = "Not counted: writing the session, TensorFlow's profiler and libdarshan."


def own_cost_sentence(cost: OwnCost) -> str:
    """Return a sentence on the share of the processor time."""
    share = percent(cost.recording_s, cost.session_s)
    seconds = f"{human_seconds(cost.recording_s)} of {human_seconds(cost.session_s)}"
    return f"Recording took {share} of the processor time of this session ({seconds})."


def own_cost_sentences(cost: OwnCost) -> str:
    """Return the sentence, and what is beside it."""
    began, ended = human_seconds(cost.attach_s), human_seconds(cost.detach_s)
    return f"{own_cost_sentence(cost)} Attaching took {began}, detaching {ended}. {NOT_COUNTED}"
