"""Writes the synthetic population of `workload pai` to disk: sessions with traces of their devices.

A session has steps and a trace beside it in which a device copies, computes and communicates for as long as
the model of arXiv 1910.05930 says. Whoever reads it knows nothing of the model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from tests.unit.findings.made_up_training import ORIGIN_NS, training
from tests.unit.traces.made_up_trace import space
from tfdarshan.sessions.traces import xplane_messages
from tfdarshan.workloads.pai import Job, step_time
from tfdarshan.workloads.step_parts import StepTime

STEPS = 6
SECOND_NS, NS_PS = 1_000_000_000, 1_000
IO_PLANE, GPU = "/device:CUSTOM:I/O", "/device:GPU:0"
# What runs on the device, one after the other, and which part of the step it is.
KERNELS = (("MemcpyH2D", "data_s"), ("volta_sgemm_128x64", "compute_s"), ("ncclAllReduce", "weights_s"))


def write_pai_sessions(folder: Path, jobs: Sequence[Job]) -> list[Path]:
    """Return the folders of the sessions, in the order of the jobs; each has a logdir of its own."""
    template = training(folder.with_name("template"), [(0, 1, 1, "pread", 0, 1000)], [(0, 1, 0)]).path
    return [_write(folder / f"{number:05}", template, step_time(job)) for number, job in enumerate(jobs)]


def _write(logdir: Path, template: Path, step: StepTime) -> Path:
    session = logdir / "plugins" / "tfdarshan" / template.name
    session.mkdir(parents=True)
    for path in template.glob("*.parquet"):
        os.link(path, session / path.name)
    (path,) = template.glob("*.meta.json")
    (session / path.name).write_text(json.dumps(json.loads(path.read_text()) | _about(step)))
    trace = logdir / "plugins" / "profile" / "run" / "host.xplane.pb"
    trace.parent.mkdir(parents=True)
    trace.write_bytes(_trace(step))
    return session


def _about(step: StepTime) -> dict:
    step_ns = _ns(step.total_s)
    starts = [ORIGIN_NS + number * step_ns for number in range(STEPS)]
    rows = [[number, at, at + step_ns, 0, ""] for number, at in enumerate(starts)]
    return {
        "duration_ns": max(STEPS * step_ns, 1_000_001),
        "steps": {"rows": rows, "left_out": 0},
        "tensorflow": {"trace": "plugins/profile/run/host.xplane.pb", "start_ns": 0},
    }


def _trace(step: StepTime) -> bytes:
    calls, device = xplane_messages.Plane(), xplane_messages.Plane()
    calls.lines.add(id=1, name=b"I/O thread main", timestamp_ns=0)
    line = device.lines.add(id=1, timestamp_ns=0)
    for number in range(STEPS):
        at_ns = number * _ns(step.total_s)
        for kind, (name, part) in enumerate(KERNELS, 1):
            device.event_metadata[kind].name = name.encode()
            taken_ns = _ns(getattr(step, part))
            line.events.add(metadata_id=kind, offset_ps=at_ns * NS_PS, duration_ps=taken_ns * NS_PS)
            at_ns += taken_ns
    return space({IO_PLANE: calls, GPU: device})


def _ns(seconds: float) -> int:
    return round(seconds * SECOND_NS)
