"""Reads TensorFlow's traces (`*.xplane.pb`) without TensorFlow: the few messages they are made of.

Source: xplane.proto of TensorFlow's profiler, for the field numbers.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tfdarshan.errors import SessionDataError, reason

# The name of the stat that has the plug-in's mark.
ANY_MARK = "tfdarshan mark"
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


class Span(NamedTuple):
    """Where a message or string is within the file."""

    start: int
    end: int


@dataclass
class Line:
    """A line of a plane. Its events are decoded as they are asked for."""

    id: int
    name: str
    timestamp_ns: int
    events: list[Span] = field(default_factory=list)


class Event(NamedTuple):
    """An event: `start_ps` since its line's timestamp, and its stats by number."""

    metadata: int
    start_ps: int
    duration_ps: int
    stats: dict[int, Any]


@dataclass
class Plane:
    """A plane, with the names its numbers stand for."""

    name: str
    lines: list[Line]
    event_names: dict[int, str]
    stat_names: dict[int, str]
    stats: dict[str, Any]


class Space:
    """A trace.

    Raises:
        SessionDataError: It cannot be read, or is no trace.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._planes = [
                (self._text(self._first(span, 2)), span)
                for number, span in self._fields(Span(0, len(self._data)))
                if number == 1 and isinstance(span, Span)
            ]
        except OSError as error:
            raise SessionDataError(f"the trace {path} cannot be read: {reason(error)}.") from error
        except (IndexError, ValueError, struct.error, AttributeError) as error:
            raise self._damaged() from error

    def plane(self, name: str) -> Plane | None:
        """Gives the plane of this name, None where there is none."""
        span = dict(self._planes).get(name)
        try:
            return None if span is None else self._plane(name, span)
        except (IndexError, ValueError, struct.error, AttributeError, TypeError) as error:
            raise self._damaged() from error

    def plane_names(self) -> list[str]:
        """Names the planes."""
        return [name for name, _ in self._planes]

    def event(self, span: Span) -> Event:
        """Decodes an event."""
        metadata = start_ps = duration_ps = 0
        stats: dict[int, Any] = {}
        for number, value in self._fields(span):
            if number == 1:
                metadata = value
            elif number == 2:
                start_ps = value
            elif number == 3:
                duration_ps = value
            elif number == 4:
                stat, content = self._stat(value)
                stats[stat] = content
        return Event(metadata, start_ps, duration_ps, stats)

    def event_number(self, span: Span) -> int:
        """Gives an event's metadata number alone: the field that comes first."""
        return int(next((value for number, value in self._fields(span) if number == 1), 0))

    def _plane(self, name: str, span: Span) -> Plane:
        plane = Plane(name, [], {}, {}, {})
        stats = []
        for number, value in self._fields(span):
            if number == 3:
                plane.lines.append(self._line(value))
            elif number in (4, 5):
                key, text = self._metadata(value)
                (plane.event_names if number == 4 else plane.stat_names)[key] = text
            elif number == 6:
                stats.append(self._stat(value))
        plane.stats = {plane.stat_names.get(key, ""): value for key, value in stats}
        return plane

    def _line(self, span: Span) -> Line:
        line = Line(0, "", 0)
        for number, value in self._fields(span):
            if number == 4:
                line.events.append(value)
            elif number == 1:
                line.id = value
            elif number == 2:
                line.name = self._text(value)
            elif number == 3:
                line.timestamp_ns = value
        return line

    def _metadata(self, span: Span) -> tuple[int, str]:
        name = self._first(self._first(span, 2), 2)
        return int(self._first(span, 1) or 0), self._text(name)

    def _stat(self, span: Span) -> tuple[int, Any]:
        stat, content = 0, None
        for number, value in self._fields(span):
            if number == 1:
                stat = value
            elif number == 2:
                content = struct.unpack_from("<d", self._data, value)[0]
            elif number == 5:
                content = self._text(value)
            elif number == 6:
                content = self._data[value.start : value.end]
            else:
                content = value
        return stat, content

    def _first(self, span: Any, wanted: int) -> Any:
        if span is None:
            return None
        return next((value for number, value in self._fields(span) if number == wanted), None)

    def _text(self, span: Any) -> str:
        return "" if span is None else self._data[span.start : span.end].decode("utf-8", "replace")

    def _fields(self, span: Span) -> Iterator[tuple[int, Any]]:
        """Yields each field's number with its value: a number, the place of eight bytes, or a Span."""
        data, at = self._data, span.start
        while at < span.end:
            tag, at = _varint(data, at)
            kind = tag & 7
            if kind == VARINT:
                value, at = _varint(data, at)
                yield tag >> 3, value - (1 << 64) if value >> 63 else value
            elif kind == LENGTH:
                length, at = _varint(data, at)
                if at + length > span.end:
                    raise ValueError("a field reaches beyond its message")
                yield tag >> 3, Span(at, at + length)
                at += length
            elif kind in (FIXED64, FIXED32):
                yield tag >> 3, at
                at += 8 if kind == FIXED64 else 4
            else:
                raise ValueError("a field of no known kind")

    def _damaged(self) -> SessionDataError:
        return SessionDataError(f"{self.path} is damaged, or no trace of TensorFlow's profiler.")


def holds_mark(path: Path, mark: str) -> bool:
    """Says whether a trace is of a session of TensorFlow's profiler, by the mark that the plug-in left."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(mark.encode()) >= 0
    except (OSError, ValueError):  # gone, or empty
        return False


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    value, shift = byte & 0x7F, 7
    while True:
        at += 1
        byte = data[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at + 1
        shift += 7
