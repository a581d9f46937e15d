"""What is said of the time that recording took."""

from __future__ import annotations

import pytest

from tfdarshan.analysis.calls.own_cost import OwnCost
from tfdarshan.reports.text.own_cost_text import own_cost_sentence, own_cost_sentences


@pytest.mark.parametrize(
    ("recording_s", "said"),
    [
        (1.2, "Recording took 0.4 % of the processor time of this session (1.200 s of 301.000 s)."),
        (0.03, "Recording took < 0.1 % of the processor time of this session (30.0 ms of 301.000 s)."),
    ],
)
def test_what_recording_took_is_a_share_and_two_times(recording_s, said):
    cost = OwnCost(recording_s, 301.0, recording_s / 301, attach_s=0.0031, detach_s=0.002)

    assert own_cost_sentence(cost) == said
    assert own_cost_sentences(cost) == (
        f"{said} Attaching took 3.1 ms, detaching 2.0 ms. "
        "Not counted: writing the session, TensorFlow's profiler and libdarshan."
    )
