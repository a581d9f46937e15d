"""Batches whose way from the worker to the training loop takes longer than putting them together."""

from __future__ import annotations

from tfdarshan.findings.finding import About, Evidence, Finding
from tfdarshan.findings.fix_lines import words_of
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.loader_edits import Sooner
from tfdarshan.units import human_seconds, percent

NAME = "batch_transport"
ABOUT = About(ignore="batches are of small types already", fix="smaller batches")
# What is left of float32 as uint8.
LEFT = 1 / 4


def find(measures: Measures) -> Finding | None:
    """Find it if the loop waits longer for the way back than for putting batches together."""
    waits, words = measures.loader_waits, words_of(measures)
    if waits is None or words is None:
        return None
    back_s, wait_s = float(waits.back_s.sum()), float(waits.wait_s.sum())
    if back_s <= float(waits.fetch_s.sum()):
        return None
    each_s = back_s / len(waits)
    return Finding(
        name=NAME,
        title=f"{percent(back_s, wait_s)} of the input wait is the way of batches from workers to the loop",
        what=f"A batch needs {human_seconds(each_s)} from its worker to the training loop while the loop "
        f"waits, and {human_seconds(float(waits.work_s.mean()))} to be put together by one of the workers.",
        evidence=(
            Evidence("way of a batch", human_seconds(each_s), each_s),
            Evidence("of all waits", percent(back_s, wait_s), back_s / wait_s),
            Evidence("putting a batch together", human_seconds(float(waits.work_s.mean()))),
        ),
        fix=words.less_transport(),
        edits=(Sooner((1 - LEFT) * back_s),),
    )
