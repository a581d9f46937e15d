"""What a step would take on another device, with other bandwidth, latency or number of readers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.analysis.processor_share import others_sentence
from tfdarshan.analysis.step_model import StepModel, most_saved_s
from tfdarshan.analysis.step_parts import StorageDevice
from tfdarshan.errors import ConfigurationError
from tfdarshan.findings.finding import Gain
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN, serial_share
from tfdarshan.findings.reader_change import Changes, ReaderChange, with_readers
from tfdarshan.findings.stored_reads import StoredReads, stored_reads
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.whole_input import stage_all
from tfdarshan.units import human_bytes, human_seconds, percent, plural

FACTOR = re.compile(r"(\d+(?:\.\d+)?|\.\d+)x?", re.IGNORECASE)
LEAST_S = 1e-12
# The device may turn out twice or half as fast as it was measured.
FAST_DOUBT = (2.0, 0.5)
SERVED = 0.99
LEAST_PART = 1e-6


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


@dataclass(frozen=True)
class Parts:
    """Seconds of a unit: storage's part of the pipeline, the rest of it, compute, and what they make.

    `device` is the storage as measured or changed, None for another device file by file, and where the page
    cache served so much that storage's latency and bandwidth are not known. What the page cache served is in
    `other_s`: no device makes it quicker. `data_s` and `weights_s` are parts of `compute_s`:
    copies to the device and communication, None where the trace shows no device.
    """

    device: StorageDevice | None
    storage_s: float
    other_s: float
    compute_s: float
    step_s: float
    data_s: float | None = None
    weights_s: float | None = None


@dataclass(frozen=True)
class WhatIf:
    """The answer: a unit as it is and as it would be, with bounds of `gain`, and what it assumes.

    `requests` and `moved_bytes` are of one unit; `sizes_tell` is whether the reads show what a byte takes.
    """

    unit: str
    units: int
    requests: float
    moved_bytes: float
    before: Parts
    after: Parts
    gain: Gain
    assumptions: tuple[str, ...]
    sizes_tell: bool = True


@dataclass(frozen=True)
class Question:
    """One that is worth asking: `options` as they are to be typed."""

    options: str
    answer: WhatIf


def questions_of(measures: Measures) -> list[Question]:
    """Answers the questions worth asking of a session: more readers, and better storage.

    Raises:
        ConfigurationError: The session has no input that was read.
    """
    readers = max(1, round(measures.model.readers))
    made = measures.group("read").calls
    changes = [
        (f"--threads {count}", StorageChange(threads=count))
        for count in (2 * readers, 4 * readers)
        if count <= made
    ]
    changes += [
        ("--latency 0.5x", StorageChange(latency=0.5)),
        ("--bandwidth 2x", StorageChange(bandwidth=2.0)),
        ("--latency 0.1x --bandwidth 10x", StorageChange(latency=0.1, bandwidth=10.0)),
    ]
    return [Question(options, what_if(measures, change)) for options, change in changes]


def parse_factor(text: str, option: str) -> float:
    """Gives the number of "2x", "0.5x" or "2".

    Raises:
        ConfigurationError: It is none, or 0.
    """
    match = FACTOR.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise ConfigurationError(f"{option} takes a factor above 0, such as 2x or 0.5x, not {text!r}.")
    return float(match[1])


def what_if(measures: Measures, change: StorageChange) -> WhatIf:
    """Works it out.

    Raises:
        ConfigurationError: The session has no input that was read.
    """
    model, reads = measures.model, measures.group("read")
    if not reads.calls:
        raise ConfigurationError("the session has no reads of input: nothing would change.")
    if model.storage_s <= 0 and change.fast is None:
        raise ConfigurationError(
            f"{measures.loop} reads the input itself, and no step waits for it: ask with --fast."
        )
    stored = stored_reads(measures)
    readers = float(change.threads or model.readers)
    sharing = with_readers(measures, readers) if change.threads else (ReaderChange(),) * 3
    device = _device(measures, stored, 1)
    likely = _after(measures, stored, device, change, sharing[1])
    storage_s, other_s = likely.storage_s, likely.other_s
    if change.fast is not None:
        storage_s, saved_s = _staged(measures, change, readers, other_s)
    else:
        saved_s = _changed(measures, stored, change, sharing, likely)
    # What the loop's own thread reads it waits for.
    shown = model.certain or (change.fast is not None and measures.use_and_facts[1].loop_reads)
    gain = _gain(measures, saved_s, shown=shown)
    known = storage_served(measures)
    device_parts = model.data_s, model.weights_s
    served_s = model.storage_s * measures.slow_share
    cached_s = model.storage_s - served_s
    before = (served_s, model.other_s + cached_s, model.compute_s, model.unit_s)
    after = (storage_s, other_s, model.compute_s, model.unit_s - gain.saved_s)
    return WhatIf(
        model.unit,
        model.units,
        reads.calls / model.units,
        reads.moved_bytes / model.units,
        Parts(device if known else None, *before, *device_parts),
        Parts(likely.device if known and change.fast is None else None, *after, *device_parts),
        gain,
        tuple(_assumptions(measures, change, readers, sizes_tell=stored.shown)),
        stored.shown,
    )


def _gain(measures: Measures, saved_s: Sequence[float], *, shown: bool) -> Gain:
    """Gives the gain of what is saved: lower bound, expected, upper bound.

    It is so only if the job waits, which may be `shown`.
    """
    model, bounds = measures.model, list(saved_s)
    if not shown:
        bounds.append(0.0)
    return Gain(model.unit, model.unit_s, min(bounds), saved_s[1], max(bounds), (measures.waited,))


def storage_served(measures: Measures) -> bool:
    """Says whether enough of the reads' time was storage's to know its latency and bandwidth."""
    return measures.slow_share > 1 - SERVED


@dataclass(frozen=True)
class _After:
    """The device and the parts of P after a change; `idle_s` is what else readers wait for each other."""

    device: StorageDevice
    storage_s: float
    other_s: float
    idle_s: float

    @property
    def pipeline_s(self) -> float:
        return self.storage_s + self.other_s


def _device(measures: Measures, stored: StoredReads, place: int) -> StorageDevice:
    """Gives the storage whose model says exactly what was measured; `place` of `StoredReads.waiting`.

    Opens, closes and stats are part of a request's latency.
    """
    model, reads = measures.model, measures.group("read")
    share = measures.slow_share
    thread_s = model.storage_s * model.readers * model.units * share
    waits_s = (
        stored.waiting[place] * reads.thread_s + measures.input_calls.thread_s - reads.thread_s
    ) * share
    waiting = min(thread_s, waits_s)
    moving = max(thread_s - waiting, LEAST_S)
    return StorageDevice(
        latency_s=waiting / max(stored.calls, 1.0),
        bandwidth_bytes=max(stored.moved_bytes, 1.0) * model.readers / moving,
        concurrency=model.readers,
    )


def _changed(
    measures: Measures,
    stored: StoredReads,
    change: StorageChange,
    sharing: Changes,
    likely: _After,
) -> list[float]:
    """Gives what a unit is shorter by: lower bound, expected, upper bound."""
    others = [
        after.pipeline_s + more_s
        for place in range(3)
        for one in sharing
        for after in [_after(measures, stored, _device(measures, stored, place), change, one)]
        for more_s in (0.0, after.idle_s)
    ]
    taken_s = sorted((likely.pipeline_s, *others))
    in_turn = (taken_s[-1], likely.pipeline_s, taken_s[0])
    saved_s = [_saved_s(measures, taken, place) for place, taken in enumerate(in_turn)]
    saved_s[1] *= measures.model.chance_of_wait if saved_s[1] > 0 else 1.0
    saved_s[2] = most_saved_s(measures.model.unit_s, saved_s[2])
    return saved_s


def _after(
    measures: Measures,
    stored: StoredReads,
    device: StorageDevice,
    change: StorageChange,
    sharing: ReaderChange,
) -> _After:
    """Gives the device after the change, and the parts of the pipeline.

    Args:
        measures: The session.
        stored: The reads that storage served.
        device: The device before.
        change: What is different.
        sharing: What other readers make of it.
    """
    model = measures.model
    changed = dataclasses.replace(
        device,
        latency_s=device.latency_s * change.latency,
        bandwidth_bytes=device.bandwidth_bytes * change.bandwidth,
    )
    storage_s = changed.seconds(stored.calls / model.units, stored.moved_bytes / model.units) * sharing.calls
    cached_s = model.storage_s * (1 - measures.slow_share)
    shown = dataclasses.replace(changed, concurrency=float(change.threads or model.readers))
    other_s = model.other_s * sharing.other + cached_s * sharing.cached
    # Readers wait for each other as much longer, or shorter, as their calls do.
    idle_s = model.idle_s * sharing.other * (storage_s / max(model.storage_s - cached_s, LEAST_S) - 1)
    return _After(shown, storage_s, other_s, idle_s)


def _saved_s(measures: Measures, pipeline_s: float, place: int) -> float:
    """Gives what a unit is shorter by with another pipeline time, below 0 where it is longer.

    Args:
        measures: The session.
        pipeline_s: P.
        place: 0 for the lower bound, 1 for what is expected, 2 for the upper bound: `Measures.curable_s`.
    """
    model = measures.model
    if pipeline_s > model.pipeline_s:
        return model.step_s(model.pipeline_s) - model.step_s(pipeline_s)
    return min(model.saved_s(model.pipeline_s - pipeline_s), measures.curable_s()[place])


def _step_s(model: StepModel, pipeline_s: float) -> float:
    """Gives a unit with another pipeline time; the one that was measured gives what was measured."""
    return model.unit_s - (model.step_s(model.pipeline_s) - model.step_s(pipeline_s))


def _staged(
    measures: Measures, change: StorageChange, readers: float, other_s: float
) -> tuple[float, list[float]]:
    """Gives storage's part of the pipeline with all input on another device, and what is saved of a unit.

    That is its lower bound, what is expected, and its upper bound.

    The answer is that of staging all files; other readers than were measured share what is left.
    """
    model, fast = measures.model, change.fast
    assert fast is not None
    cost = dataclasses.replace(
        fast.model,
        base_s=fast.model.base_s * change.latency,
        s_per_byte=fast.model.s_per_byte / change.bandwidth,
    )
    whole = stage_all(*measures.use_and_facts, dataclasses.replace(fast, model=cost))
    units = whole.valuation.epochs / model.units
    storage_s = float(whole.valuation.fast_s.sum()) * units / readers
    found = (whole.expected.low_s, whole.expected.saved_s, whole.expected.high_s)
    if change.threads is None:
        return storage_s, [units * saved_s for saved_s in found]
    slower, quicker = FAST_DOUBT
    return storage_s, [
        model.unit_s - _step_s(model, doubt * storage_s + other_s) for doubt in (slower, 1.0, quicker)
    ]


def _assumptions(measures: Measures, change: StorageChange, readers: float, *, sizes_tell: bool) -> list[str]:
    model, machine = measures.model, measures.machine
    beside = f"o = {model.overlap:.2f}: the part of the compute time in which the pipeline works beside it"
    said = [
        f"a {model.unit} is compute C and what the pipeline's time P exceeds o C by: C + max(0, P - o C)",
        f"{beside}; at 0 a {model.unit} is the sum of both, at 1 the longer of both",
        _pipeline_words(measures),
        "copies to the device and communication are in compute"
        + ("" if model.data_s is not None else ": the session has no trace of a device to tell them apart"),
        f"the input is read with about {plural(max(1, round(model.readers)), 'call')} at a time"
        + (f", then {readers:.0f}" if change.threads else ""),
    ]
    if measures.summary.trace_span is not None:
        said.append(measures.summary.trace_span.sentence)
    said += filter(None, [others_sentence(measures.summary.others_share)])
    if model.wait_s is None:
        said.append(
            f"what a {model.unit} waited for is not known: all time in which input calls ran is taken for it "
            f"({human_seconds(model.most_wait_s)}); if nothing waited, nothing changes"
        )
    if change.threads:
        said += [
            f"of a call, storage serves one at a time: {serial_share(measures).words}",
            *_scaling_words(measures),
            f"the other work is shared by as many threads as processors ({machine.cpus or 1:g})",
        ]
    if (change.bandwidth, change.latency) != (1.0, 1.0) and not sizes_tell and storage_served(measures):
        said.append(
            "the reads' sizes and times do not tell what is waiting and what is moving bytes: anything from "
            "all of it moving to all of it waiting, but for 0.5 ns a byte (2 GB/s)"
        )
    if change.fast is not None:
        said.append(_fast_words(change.fast))
    cached = percent(1 - measures.slow_share, 1)
    if not storage_served(measures):
        said.append(
            f"{cached} of the time in reads went into what the page cache served, next to none into what "
            "storage did: other storage changes nothing"
        )
    elif measures.slow_share < SERVED:
        said.append(
            f"{cached} of the time in reads went into what the page cache served: no device makes that "
            "quicker"
        )
    return said


def _scaling_words(measures: Measures) -> list[str]:
    if serial_share(measures).known:
        return []
    expected = percent(serial_share(measures).expected, 1)
    return [
        f"{expected} of a call is expected to be: 8 % of what waits, and 80 % of what moves bytes",
        "more readers may give nothing (lower bound), or as many times more as there are (upper bound)",
        f"{percent(UNSHOWN, 1)} of what they would give is expected, as nothing shows that they do",
    ]


def _pipeline_words(measures: Measures) -> str:
    model = measures.model
    if model.held_back:
        why = (
            "the steps hold the pipeline back"
            if model.unit == "step"
            else "the pipeline rests most of the time"
        )
        return f"{why}: P is its time in calls alone, and decoding ({_cpu(measures)}) is hidden"
    cached_s = model.storage_s * (1 - measures.slow_share)
    parts = [
        (model.storage_s - cached_s, "for storage"),
        (cached_s, "in file calls that the page cache served"),
        (model.other_s, "outside of file calls (decoding, copying)"),
    ]
    # What takes less than a millionth of it is rounding.
    words = [
        f"{human_seconds(seconds)} {what}" for seconds, what in parts if seconds > LEAST_PART * model.unit_s
    ]
    return f"P = {human_seconds(model.pipeline_s)}" + (f": {', '.join(words)}" if words else "")


def _cpu(measures: Measures) -> str:
    used = measures.model.cpu_s
    return "unknown" if used is None else f"at most {human_seconds(used)} of processor time"


def _fast_words(fast: TierProbe) -> str:
    model = fast.model
    return (
        f"a pass over a file on the fast device takes {human_seconds(model.base_s)} and "
        f"{human_seconds(model.s_per_byte * 1e6)} per MB "
        f"({human_bytes(1 / max(model.s_per_byte, 1e-12))}/s), "
        f"{fast.note}; all input is there"
    )
