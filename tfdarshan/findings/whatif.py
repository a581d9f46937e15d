"""What a step would take on another device, with other bandwidth, latency or number of readers."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from tfdarshan.analysis.step_model import StepModel
from tfdarshan.analysis.step_parts import StorageDevice
from tfdarshan.errors import ConfigurationError
from tfdarshan.findings.finding import Gain
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import serial_share, times_as_long
from tfdarshan.findings.read_split import wait_of_a_read
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.whole_input import stage_all
from tfdarshan.units import human_bytes, human_seconds, percent

FACTOR = re.compile(r"(\d+(?:\.\d+)?|\.\d+)x?", re.IGNORECASE)
LEAST_S = 1e-12
# The device may turn out twice or half as fast as it was measured.
FAST_DOUBT = (2.0, 0.5)
SERVED = 0.99


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

    `requests` and `moved_bytes` are of one unit.
    """

    unit: str
    units: int
    requests: float
    moved_bytes: float
    before: Parts
    after: Parts
    gain: Gain
    assumptions: tuple[str, ...]


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
    if not reads.calls or model.storage_s <= 0:
        raise ConfigurationError("the session has no reads of input: nothing would change.")
    devices = [_device(measures, place) for place in range(3)]
    expected = devices[1]
    readers = float(change.threads or model.readers)
    cached_s = model.storage_s * (1 - measures.slow_share)
    other_s = (model.other_s + cached_s) * _share_of_work(measures, readers)
    requests, moved = reads.calls / model.units, reads.moved_bytes / model.units

    def step_with(device: StorageDevice, serial: float | None) -> tuple[StorageDevice | None, float, float]:
        """Gives the changed device, its part of the pipeline, and the step."""
        changed, storage_s = _changed(measures, device, change, readers, serial)
        return changed, storage_s, _step_s(model, storage_s + other_s)

    share = serial_share(measures)
    changed, storage_s, step_s = step_with(expected, share.expected if share.known else None)
    serials = (share.low, share.high) if change.threads else (None,)
    bounds = [step_with(device, serial)[2] for device in devices for serial in serials]
    before_s = model.unit_s
    if change.fast is not None:
        storage_s, (step_s, *bounds) = _staged(measures, change, readers, other_s)
    bounds += [step_s]
    known = storage_served(measures)
    device_parts = model.data_s, model.weights_s
    if not model.certain:
        bounds.append(before_s)
    gain = Gain(
        model.unit,
        before_s,
        before_s - max(bounds),
        before_s - step_s,
        before_s - min(bounds),
        (measures.waited,),
    )
    return WhatIf(
        model.unit,
        model.units,
        requests,
        moved,
        Parts(
            expected if known else None,
            model.storage_s - cached_s,
            model.other_s + cached_s,
            model.compute_s,
            before_s,
            *device_parts,
        ),
        Parts(
            changed if known and change.fast is None else None,
            storage_s,
            other_s,
            model.compute_s,
            step_s,
            *device_parts,
        ),
        gain,
        tuple(_assumptions(measures, change, readers)),
    )


def storage_served(measures: Measures) -> bool:
    """Says whether enough of the reads' time was storage's to know its latency and bandwidth."""
    return measures.slow_share > 1 - SERVED


def _device(measures: Measures, place: int) -> StorageDevice:
    """Gives the storage whose model says exactly what was measured; `place` of `wait_of_a_read`.

    Opens, closes and stats are part of a request's latency.
    """
    model, reads = measures.model, measures.group("read")
    share = measures.slow_share
    thread_s = model.storage_s * model.readers * model.units * share
    waits_s = (wait_of_a_read(measures)[place] * reads.calls + _other_calls_s(measures)) * share
    waiting = min(thread_s, waits_s)
    moving = max(thread_s - waiting, LEAST_S)
    return StorageDevice(
        latency_s=waiting / reads.calls,
        bandwidth_bytes=max(reads.moved_bytes, 1.0) * model.readers / moving,
        concurrency=model.readers,
    )


def _other_calls_s(measures: Measures) -> float:
    return measures.input_calls.thread_s - measures.group("read").thread_s


def _changed(
    measures: Measures, device: StorageDevice, change: StorageChange, readers: float, serial: float | None
) -> tuple[StorageDevice | None, float]:
    """Gives the device after the change, and storage's part of the pipeline.

    Args:
        measures: The session.
        device: The device before.
        change: What is different.
        readers: Readers after.
        serial: What of a call is served one at a time; by default all of what its bytes take, and no more.
    """
    model, reads = measures.model, measures.group("read")
    changed = StorageDevice(
        latency_s=device.latency_s * change.latency,
        bandwidth_bytes=device.bandwidth_bytes * change.bandwidth,
        concurrency=readers,
    )
    requests, moved = reads.calls / model.units, reads.moved_bytes / model.units
    if change.threads is None or serial is None:
        return changed, changed.seconds(requests, moved)
    as_many = dataclasses.replace(changed, concurrency=model.readers)
    return changed, as_many.seconds(requests, moved) * times_as_long(serial, model.readers, readers)


def _step_s(model: StepModel, pipeline_s: float) -> float:
    """Gives a unit with another pipeline time; the one that was measured gives what was measured."""
    return model.unit_s - (model.step_s(model.pipeline_s) - model.step_s(pipeline_s))


def _staged(
    measures: Measures, change: StorageChange, readers: float, other_s: float
) -> tuple[float, tuple[float, ...]]:
    """Gives storage's part of the pipeline with all input on another device, and the unit with its bounds.

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
    found = (whole.expected.saved_s, whole.expected.low_s, whole.expected.high_s)
    steps = tuple(model.unit_s - units * saved_s for saved_s in found)
    if change.threads is None:
        return storage_s, steps
    shared_s = [_step_s(model, doubt * storage_s + other_s) for doubt in (1.0, *FAST_DOUBT)]
    return storage_s, tuple(shared_s)


def _share_of_work(measures: Measures, readers: float) -> float:
    """Gives what is left of the pipeline's other work: as many threads as there are processors share it."""
    cpus = measures.machine.cpus or 1.0
    return min(measures.model.readers, cpus) / min(readers, cpus)


def _assumptions(measures: Measures, change: StorageChange, readers: float) -> list[str]:
    model, machine = measures.model, measures.machine
    beside = f"o = {model.overlap:.2f} of the compute time the pipeline works beside it"
    said = [
        f"a {model.unit} is compute C and what the pipeline's time P exceeds o C by: C + max(0, P - o C)",
        f"{beside}: at 0 a step is the sum of both, at 1 the longer of both",
        _pipeline_words(measures),
        "copies to the device and communication are in compute"
        + ("" if model.data_s is not None else ": the session has no trace of a device to tell them apart"),
        f"input is read by {model.readers:.1f} readers"
        + (f", then by {readers:.0f}" if change.threads else ""),
    ]
    if measures.summary.trace_span is not None:
        said.append(measures.summary.trace_span.sentence)
    if model.wait_s is None:
        said.append(
            f"what {model.unit}s waited for is not known: all time in which input calls ran is taken for it "
            f"({human_seconds(model.most_wait_s)}); if nothing waited, nothing changes"
        )
    if change.threads:
        said += [
            f"of a call, storage serves one at a time: {serial_share(measures).words}",
            *_scaling_words(measures),
            f"the other work is shared by as many threads as processors ({machine.cpus or 1:g})",
        ]
    if change.fast is not None:
        said.append(_fast_words(change.fast))
    cached = percent(1 - measures.slow_share, 1)
    if not storage_served(measures):
        said.append(
            f"{cached} of the reads' time was served by the page cache, and nothing to speak of by storage: "
            "other storage changes nothing"
        )
    elif measures.slow_share < SERVED:
        said.append(f"{cached} of the reads' time was served by the page cache; no device makes that quicker")
    return said


def _scaling_words(measures: Measures) -> list[str]:
    if serial_share(measures).known:
        return []
    return [
        "waits of more readers overlap, and what their bytes take does not",
        "more readers may give nothing (lower bound), or as many times more as there are (upper bound)",
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
    return (
        f"P = {human_seconds(model.pipeline_s)}, of which {human_seconds(model.other_s)} is no file call "
        "(decoding, copying)"
    )


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
