"""Reads TensorFlow's traces (`*.xplane.pb`) without TensorFlow: the few messages they are made of.

protobuf decodes them. It is imported when a trace is read: never before a profiled program, nor in the
callbacks of its TensorFlow.
"""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.errors import SessionDataError, reason

# The name of the stat that has the plug-in's mark.
ANY_MARK = "tfdarshan mark"
# protobuf makes no larger messages.
MOST_BYTES = (1 << 31) - 1


@dataclass
class Plane:
    """A plane, with the names its numbers stand for.

    `lines` are messages `Line` of xplane.proto; `stats`, by name, numbers or bytes.
    """

    lines: list[Any]
    event_names: dict[int, str]
    stat_names: dict[int, str]
    stats: dict[str, float | bytes]


class Space:
    """A trace.

    Raises:
        SessionDataError: It cannot be read, or is no trace.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._planes = [
            (self._name_of(data), data) for data in self._decoded("Space", self._content()).planes
        ]

    def plane(self, name: str) -> Plane | None:
        """Return the plane of this name, None where there is none.

        Raises:
            SessionDataError: It is damaged.
        """
        data = dict(self._planes).get(name)
        if data is None:
            return None
        message = self._decoded("Plane", data)
        stat_names = _names(message.stat_metadata)
        return Plane(
            list(message.lines),
            _names(message.event_metadata),
            stat_names,
            {
                stat_names.get(stat.metadata_id, ""): getattr(stat, kind)
                for stat in message.stats
                if (kind := stat.WhichOneof("value"))
            },
        )

    def plane_names(self) -> list[str]:
        """Name the planes."""
        return [name for name, _ in self._planes]

    def damaged(self) -> SessionDataError:
        """Return the error that says so."""
        return SessionDataError(f"{self.path} is damaged, or no trace of TensorFlow's profiler.")

    def _content(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                length = os.fstat(file.fileno()).st_size
                content = file.read(length) if length <= MOST_BYTES else b""
        except OSError as error:
            raise SessionDataError(f"the trace {self.path} cannot be read: {reason(error)}.") from error
        if not content:
            raise self.damaged()
        return content

    def _name_of(self, plane: bytes) -> str:
        return text(self._decoded("PlaneName", plane).name)

    def _decoded(self, message: str, data: bytes) -> Any:
        from google.protobuf.message import DecodeError

        from tfdarshan.sessions.traces import xplane_messages

        try:
            return getattr(xplane_messages, message).FromString(data)
        except (DecodeError, RecursionError) as error:  # protobuf before 4 follows groups to any depth
            raise self.damaged() from error


def text(name: bytes) -> str:
    """Return a name, with what is not UTF-8 replaced."""
    return name.decode("utf-8", "replace")


def holds_mark(path: Path, mark: str) -> bool:
    """Return whether a trace is of a session of TensorFlow's profiler, by the mark that the plug-in left."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(mark.encode()) >= 0
    except (OSError, ValueError):  # gone, or empty
        return False


def _names(metadata: Any) -> dict[int, str]:
    return {number: text(entry.name) for number, entry in metadata.items()}
