"""What a step would take on other storage, with other readers, or with its input on another device."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfdarshan.analysis.ranks.processor_share import others_sentence
from tfdarshan.errors import ConfigurationError
from tfdarshan.findings.finding import Gain
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.promise_words import HIDDEN_WAIT, open_sentence
from tfdarshan.findings.replayed import gain_of
from tfdarshan.replay.edits import Edit, Readers
from tfdarshan.replay.storage_edits import OtherStorage
from tfdarshan.staging.assumed_tier import on_tier
from tfdarshan.staging.probe import TierProbe
from tfdarshan.units import human_bytes, human_seconds, plural

MB_BYTES = 10**6
FACTOR = re.compile(r"(\d+(?:\.\d+)?|\.\d+)x?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class StorageChange:
    """What is different about storage. Factors multiply what was measured; None leaves it.

    Attributes:
        bandwidth: Factor of the bandwidth.
        latency: Factor of the latency.
        threads: Calls that can run at a time.
        fast: A device that everything is read from.
    """

    bandwidth: float = 1.0
    latency: float = 1.0
    threads: int | None = None
    fast: TierProbe | None = None

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The change as edits of the replay model."""
        found: list[Edit] = []
        if (self.latency, self.bandwidth) != (1.0, 1.0):
            found.append(OtherStorage(self.latency, self.bandwidth))
        if self.fast is not None:
            found.append(on_tier(self.fast, None, mirrored=True))
        if self.threads is not None:
            found.append(Readers(self.threads))
        return tuple(found)


# What is worth asking of any storage, as it is to be typed.
BETTER_STORAGE = {
    "--latency 0.5x": StorageChange(latency=0.5),
    "--bandwidth 2x": StorageChange(bandwidth=2.0),
    "--latency 0.1x --bandwidth 10x": StorageChange(latency=0.1, bandwidth=10.0),
}


@dataclass(frozen=True)
class WhatIf:
    """The answer: a unit as it is and as it would be, with bounds of `gain`, and what to know about it."""

    unit: str
    units: int
    before_s: float
    after_s: float
    gain: Gain
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One that is worth asking: `options` as they are to be typed."""

    options: str
    answer: WhatIf


def questions_of(measures: Measures) -> list[Question]:
    """Return the questions worth asking of a session, with answers: more readers, and better storage.

    Raises:
        ConfigurationError: The session has no input that was read.
    """
    readers = max(1, round(measures.model.readers))
    counts = [count for count in (2 * readers, 2 * 2 * readers) if count <= measures.group("read").calls]
    changes = {f"--threads {count}": StorageChange(threads=count) for count in counts} | BETTER_STORAGE
    return [Question(options, what_if(measures, change)) for options, change in changes.items()]


def parse_factor(text: str, option: str) -> float:
    """Return the number of "2x", "0.5x" or "2".

    Raises:
        ConfigurationError: It is none, or 0.
    """
    match = FACTOR.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise ConfigurationError(
            f"{option} takes a factor above 0, such as 2x (twice as much) or 0.5x (half), not {text!r}."
        )
    return float(match[1])


def what_if(measures: Measures, change: StorageChange) -> WhatIf:
    """Return what a unit takes with a change.

    Raises:
        ConfigurationError: The session has no input that was read.
    """
    if not measures.group("read").calls:
        raise ConfigurationError(
            "the session has no reads of input, so nothing would change: record one that reads."
        )
    job = measures.job
    gain = gain_of(job, change.edits, measures)
    return WhatIf(
        unit=measures.model.unit,
        units=measures.model.units,
        before_s=gain.before_s,
        after_s=gain.before_s - gain.saved_s,
        gain=gain,
        notes=tuple(_notes(measures, change, gain)),
    )


def _notes(measures: Measures, change: StorageChange, gain: Gain) -> list[str]:
    model, job = measures.model, measures.job
    readers = plural(max(1, round(model.readers)), "reader")
    then = "" if change.threads is None else f", then with {change.threads}"
    said = [f"The job reads its input with {readers}{then}."]
    if change.fast is not None:
        cost = change.fast.model
        said.append(
            f"A pass over a file on the fast device takes {human_seconds(cost.base_s)} and "
            f"{human_seconds(cost.s_per_byte * MB_BYTES)} per MB ({human_bytes(change.fast.bytes_per_s)}/s), "
            f"{change.fast.note}."
        )
    if model.wait_s is None:
        said.append("The session does not say what training waits for: mark its steps, and record again.")
    said += HIDDEN_WAIT if gain.hidden else ()
    if not job.reproduces:
        said.append(
            "The model does not reproduce the recorded run, so that only the upper bound is promised."
        )
    said += map(open_sentence, gain.hangs_on)
    span = measures.summary.trace_span
    said += [] if span is None else [span.sentence]
    return said + list(filter(None, [others_sentence(measures.summary.others_share)]))
