"""What devices did in TensorFlow's trace besides computing: copies from the host, and communication.

Source: the names that TensorFlow's profiler gives to events of GPU and TPU planes (CUPTI's memory copies,
NCCL's kernels, XLA's collective operations).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import SessionDataError
from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.traces.tf_steps import events_of, merged_intervals, origin_of, trace_beside
from tfdarshan.sessions.traces.xspace import Space

DEVICE_PLANES = ("/device:GPU:", "/device:TPU:")
COPIES = re.compile(r"memcpy ?(h2d|htod)|infeed|transfertodevice", re.IGNORECASE)
COMMUNICATION = re.compile(
    r"nccl|all-?_?reduce|all-?_?gather|reduce-?_?scatter|all-?_?to-?_?all|collective-?_?permute",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class DeviceTime:
    """When a device copied from the host, and when one communicated: starts and ends in ns."""

    copies: tuple[Array, Array]
    communication: tuple[Array, Array]


def device_time(owner: ProcessData) -> DeviceTime | None:
    """Read the trace beside a session; None where there is none, or it shows no device."""
    found = trace_beside(owner)
    try:
        return None if found is None else read_device_time(*found)
    except SessionDataError:  # moved or deleted
        return None


def read_device_time(trace: Path, session_ns: int) -> DeviceTime | None:
    """Read a trace.

    Args:
        trace: TensorFlow's trace.
        session_ns: When, since the session's start, the part of it began that the trace shows.

    Raises:
        SessionDataError: The trace cannot be read.
    """
    space = Space(trace)
    origin_ns = origin_of(space, session_ns)
    planes = [name for name in space.plane_names() if name.startswith(DEVICE_PLANES)]
    if origin_ns is None or not planes:
        return None
    found: list[tuple[Array, Array]] = []
    for pattern in (COPIES, COMMUNICATION):
        events: list[tuple[int, int]] = []
        for name in planes:
            plane = space.plane(name)
            if plane is not None:
                wanted = {number for number, text in plane.event_names.items() if pattern.search(text)}
                events += events_of(space, plane, wanted, origin_ns)
        found.append(merged_intervals(events))
    return DeviceTime(found[0], found[1])
