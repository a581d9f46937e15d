"""Jobs whose epochs end with a pass over a validation set."""

from __future__ import annotations

from tests.unit.findings.made_up_jobs import BATCH, KB, LOAD, PATHS
from tests.unit.findings.made_up_training import MS, ORIGIN_NS, training
from tfdarshan.findings.diagnosis import diagnose

VALIDATE = LOAD | {"function": "load_validation"}


def validation_job(
    logdir, *, thread=1, epochs=4, validation=60, read_ms=5.0, later_ms=None, memory=1 << 34, pipelines=True,
    validate=VALIDATE, wait_ms=1, readers=1, cached=False, rest_ms=0.0, load=LOAD, evaluated=False,
):  # fmt: skip
    """Return a session whose epochs of 20 steps of 30 ms are each followed by a pass over other files.

    With several readers, or where all but the first pass are cached, it takes as long. A processor works in
    the waits that are longer than the reads. If the model is `evaluated` before it trains, the validation set
    was iterated first.
    """
    at, calls, steps = 0.0, [], []
    for epoch in range(epochs):
        for step in range(20):
            steps.append((at, at + 30, wait_ms))
            calls.append((at + 2, at + 6, 1, "pread", step, 100 * KB, epoch * 100 * KB))
            at += 30
        each_ms = read_ms if epoch == 0 or later_ms is None else later_ms
        for file in range(validation):
            if epoch == 0 or not cached:
                by, took_ms = thread + file % readers, each_ms * readers
                begin = at - file % readers * each_ms
                calls.append((begin, begin + took_ms, by, "pread", 20 + file, 100 * KB, 0))
            at += each_ms + rest_ms
    worked_s = len(steps) * max(wait_ms - 4, 0) / 1e3
    ends = [steps[20 * epoch + 19][1] for epoch in range(epochs)]
    found = [
        _noted([PATHS, load, BATCH], [0.2, *ends[:-1]]),
        _noted([PATHS, validate, BATCH], [0.1] * evaluated + ends),
    ]
    found = found[::-1] if evaluated else found
    return training(
        logdir,
        calls,
        steps,
        paths=[*(f"/data/{n}" for n in range(20)), *(f"/validation/{n}" for n in range(validation))],
        sizes=[10**9] * 20 + [100 * KB] * validation,
        meta={
            "machine": {"cpus": 4, "memory_bytes": memory, "cpu_s": 0.1 + worked_s},
            "pipelines": {"found": found if pipelines else [], "left_out": 0},
        },
    )


def _noted(stages, begun_ms):
    """Return what is noted of a pipeline."""
    passes_ns = [ORIGIN_NS + round(at * MS) for at in begun_ms]
    return {"stages": stages, "datasets": 1, "iterators": len(begun_ms), "passes_realtime_ns": passes_ns}


def found_validation(session):
    return next((one for one in diagnose(session).findings if one.name == "validation"), None)
