"""A promise says what gets faster, by how much, and how the range gets narrower."""

from __future__ import annotations

import pytest

from tfdarshan.findings.finding import Gain, OpenQuestion
from tfdarshan.findings.promise_words import promise_words

PROBE = OpenQuestion("whether all readers share one bandwidth", "tfdarshan probe --logdir logs")


@pytest.mark.parametrize(
    ("unit", "supported", "words"),
    [
        ("step", True, "training gets 2.00x faster (likely 1.25x to 4.00x)"),
        ("step", False, "training gets up to 4.00x faster"),
        ("session", True, "the job gets 2.00x faster (likely 1.25x to 4.00x)"),
        ("session", False, "the job gets up to 4.00x faster"),
    ],
)
def test_training_gets_faster_if_steps_are_marked_and_the_job_if_not(unit, supported, words):
    gain = Gain(unit, before_s=1.0, low_s=0.2, saved_s=0.5, high_s=0.75, supported=supported)

    assert promise_words(gain) == words


def test_a_command_that_narrows_the_range_is_named():
    gain = Gain("step", before_s=1.0, low_s=0.2, saved_s=0.5, high_s=0.75, hangs_on=(PROBE,))

    assert promise_words(gain).endswith("4.00x); `tfdarshan probe --logdir logs` narrows the range")
