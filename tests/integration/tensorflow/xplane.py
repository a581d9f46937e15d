"""Reads TensorFlow's traces with the classes that its wheel has for them: an oracle that is not us."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

IO_PLANE = "/device:CUSTOM:I/O"
HOST_PLANE = "/host:CPU"
COUNTERS = "_counters_"


@lru_cache(maxsize=1)
def messages() -> ModuleType:
    """Load the generated module alone: importing the package it is in would load all of TensorFlow."""
    package = importlib.util.find_spec("tensorflow")
    path = Path(package.submodule_search_locations[0]) / "tsl" / "profiler" / "protobuf" / "xplane_pb2.py"
    spec = importlib.util.spec_from_file_location("xplane_pb2", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def traces(logdir: Path) -> list[Path]:
    """Return the traces of a logdir and of the runs below it, the oldest first."""
    return sorted(logdir.rglob("plugins/profile/*/*.xplane.pb"))


def read_space(trace: Path) -> Any:
    """Return a trace as an XSpace."""
    return messages().XSpace.FromString(trace.read_bytes())


def plane_of(space: Any, name: str) -> Any:
    """Return the one plane of this name."""
    (plane,) = [plane for plane in space.planes if plane.name == name]
    return plane


def stats_of(plane: Any, stats: Any) -> dict[str, Any]:
    """Return stats by name; a reference as the name it stands for."""
    found = {}
    for stat in stats:
        kind = stat.WhichOneof("value")
        value = getattr(stat, kind)
        name = plane.stat_metadata[stat.metadata_id].name
        found[name] = plane.stat_metadata[value].name if kind == "ref_value" else value
    return found


def io_calls(plane: Any) -> list[tuple[Any, ...]]:
    """Return the I/O plane's calls as (tid, operation, start_ns, end_ns, bytes, offset, path), sorted."""
    calls = []
    for line in plane.lines:
        if not line.name.startswith("I/O thread"):
            continue
        for event in line.events:
            assert event.offset_ps % 1000 == event.duration_ps % 1000 == 0
            stats = stats_of(plane, event.stats)
            start_ns = event.offset_ps // 1000
            operation = plane.event_metadata[event.metadata_id].name
            end_ns = start_ns + event.duration_ps // 1000
            calls.append(
                (
                    line.id,
                    operation,
                    start_ns,
                    end_ns,
                    stats.get("bytes"),
                    stats.get("offset"),
                    stats.get("file"),
                )
            )
    return sorted(calls, key=lambda call: (call[0], call[2]))


def recorded_calls(session: Any) -> list[tuple[Any, ...]]:
    """Return what `io_calls` should give, from the session's own tables."""
    meta = session.meta[0]
    part = meta["tensorflow"]
    events = session.events[session.events["pid"] == meta["pid"]]
    events = events[(events["start_ns"] >= part["start_ns"]) & (events["start_ns"] < part["end_ns"])]
    classes = {operation["name"]: operation["io_class"] for operation in meta["operations"]}
    calls = []
    for row in events.itertuples():
        moves = classes[row.operation] != "meta"
        has_offset = row.offset >= 0 and row.operation not in ("open", "fopen", "rename")
        calls.append(
            (
                row.tid,
                row.operation,
                row.start_ns - part["start_ns"],
                row.end_ns - part["start_ns"],
                row.length if moves else None,
                row.offset if has_offset else None,
                row.path or None,
            )
        )
    return sorted(calls, key=lambda call: (call[0], call[2]))


def host_events(space: Any, name: str) -> list[tuple[float, float]]:
    """Return start and end, in ns since TensorFlow's session began, of its own events of a name."""
    plane = plane_of(space, HOST_PLANE)
    found = []
    for line in plane.lines:
        for event in line.events:
            if plane.event_metadata[event.metadata_id].name.split(":")[0] == name:
                start_ns = line.timestamp_ns + event.offset_ps / 1000
                found.append((start_ns, start_ns + event.duration_ps / 1000))
    return sorted(found)
