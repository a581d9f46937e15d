"""Where a step's time goes: waiting for workers, file calls, decoding, other things, and the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tfdarshan.findings.measures import Measures
from tfdarshan.findings.unseen_faults import unseen_faults
from tfdarshan.findings.worker_starts import epoch_starts_s
from tfdarshan.replay.job_model import TINY_S


@dataclass(frozen=True)
class StepPart:
    """A part of a step.

    Attributes:
        name: "worker_starts", "storage", "page_faults", "decoding", "other_wait", "own_calls" or "compute".
        label: What it is called.
        seconds: How long it is, mean of all steps.
        open_s: What of it may be other work of the pipeline.
    """

    name: str
    label: str
    seconds: float
    open_s: float = 0.0


def step_split(measures: Measures) -> tuple[StepPart, ...]:
    """Split the mean step.

    The wait for worker processes to start comes first: none of them reads or decodes before. The rest of
    the wait for input is divided as the time is that the pipeline takes for a batch: in file calls, in page
    faults on mapped files if these were watched, in processor time of the job, and neither (readers that wait
    for each other, a service). Processor time that computing may have taken leaves decoding open. Where
    faults were not seen, what is no call is not divided. What the training loop's own thread spends in file
    calls outside of its waits is a part of its own. "Compute and the rest" is what is left, so that the parts
    add up to the step.

    Returns:
        The parts, the wait's first; empty where the steps do not say what they waited. If the loop reads its
        input itself meanwhile, its own calls and the rest.
    """
    model = measures.model
    if measures.windows is None or model.unit_s <= 0:
        return ()
    own_s = _own_calls_s(measures) / model.units
    if model.wait_s is None:
        by_loop = measures.job.facts.pipeline.loop_reads
        return _of_loop(min(own_s, model.unit_s), model.unit_s) if by_loop else ()
    waits_s = min(model.wait_s, model.unit_s)
    starts_s = min(float(epoch_starts_s(measures).sum()) / model.units, waits_s)
    wait_s = waits_s - starts_s
    # Of a pipeline that the steps hold back only its calls are known: the rest of the wait is not theirs.
    whole_s = max(model.pipeline_s - starts_s, wait_s, TINY_S)
    storage_s = wait_s * min(model.storage_s / whole_s, 1.0)
    faults_s = min(wait_s * _faults_s(measures) / whole_s, wait_s - storage_s)
    waited_s = storage_s + faults_s
    # What is waited for outside of calls is page faults, too, if these were not seen.
    unseen = unseen_faults(measures) is not None
    other_s = max(model.other_s - starts_s, 0.0)
    own_s = min(own_s, model.unit_s - waits_s)
    compute_s = model.unit_s - waits_s - own_s
    least_s, decoding_s = (
        0.0 if unseen else min(wait_s * min(other_s, cpu_s) / whole_s, wait_s - waited_s)
        for cpu_s in _pipeline_cpu_s(measures, compute_s)
    )
    otherwise = "other work of the pipeline" + ", or page faults (not recorded)" * unseen
    return (
        *((StepPart("worker_starts", "waiting for workers to start", starts_s),) if starts_s > 0 else ()),
        StepPart("storage", "waiting for file calls", storage_s),
        *((StepPart("page_faults", "waiting for page faults", faults_s),) if faults_s > 0 else ()),
        _decoding(decoding_s, decoding_s - least_s),
        StepPart("other_wait", f"waiting for {otherwise}", wait_s - waited_s - decoding_s),
        *_of_loop(own_s, own_s + compute_s),
    )


def _of_loop(own_s: float, whole_s: float) -> tuple[StepPart, ...]:
    """Return the parts of what is no wait."""
    return (
        StepPart("own_calls", "the loop's own file calls", own_s),
        StepPart("compute", "compute and the rest", whole_s - own_s),
    )


def _decoding(seconds: float, open_s: float) -> StepPart:
    """Return the part that is decoding, whose label says if less of it may be."""
    return StepPart("decoding", f"waiting for decoding{' at most' if open_s > 0 else ''}", seconds, open_s)


def _pipeline_cpu_s(measures: Measures, compute_s: float) -> tuple[float, float]:
    """Return the processor time that a step's input took, at least and at most.

    Computing may have had all processors that others leave.
    """
    most_s, machine = measures.model.cpu_s or 0.0, measures.machine
    left = math.inf if machine.cpus is None else max(machine.cpus - (machine.others_cpus or 0.0), 0.0)
    taken_s = left * compute_s if compute_s > 0 else 0.0
    return max(most_s - taken_s, 0.0), most_s


def _faults_s(measures: Measures) -> float:
    """Return what of the time for a batch the pipeline spends in page faults on mapped files."""
    found = measures.mapped
    return found.beside_s / found.readers / measures.model.units


def _own_calls_s(measures: Measures) -> float:
    """Return what the training loop's thread spends in calls on input and output outside of its waits."""
    output, segments = measures.output, measures.writes
    written = output.chosen[output.within]
    written_ns = np.sum(segments.end_ns[written] - segments.start_ns[written])
    return measures.input_calls.within_s + float(written_ns) / 1e9
