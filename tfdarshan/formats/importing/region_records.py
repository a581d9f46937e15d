"""Counts the records of a region while it is decompressed, whatever their bytes say.

177 bytes of bzip2 may hold 180 MiB, which no job wrote. A rank has one record of a file, and a traced call
has times of its own: records that come again and again, or many calls in few bytes, are none.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tfdarshan.file_name import table_name
from tfdarshan.formats import darshan_format

# Compressed bytes of a call, or of a record that is there again, at least: some of the 8 of a time.
LEAST_BYTES = 2
# Bytes that a byte of a region holds at most: a byte of deflate, with which Darshan writes its logs, does not
# hold more. Source: zlib's technical details.
MOST_EXPANSION = 1032
# darshan-util reads names into a buffer of this size, in bytes: a longer name does not end for it.
NAME_BUFFER_BYTES = 2 << 20
# A record's first members.
ID_AND_RANK_BYTES = 16


@dataclass(frozen=True)
class RecordShape:
    """How long a record is.

    Attributes:
        head: Its first members.
        parts: Members of the head that count what follows it, and the bytes of each.
        are_calls: Whether what follows are calls, with times of their own; otherwise it is a file's layout.
    """

    head: np.dtype[Any]
    parts: Mapping[str, int] = field(default_factory=dict)
    are_calls: bool = False


# By module and version.
SHAPES: dict[str, dict[int, RecordShape]] = {
    **{
        module: {version: RecordShape(np.dtype(f"S{size}")) for version, size in sizes.items()}
        for module, sizes in darshan_format.RECORD_BYTES.items()
    },
    "DXT_POSIX": {
        version: RecordShape(
            darshan_format.DXT_RECORD,
            {"writes": segment.itemsize, "reads": segment.itemsize},
            are_calls=True,
        )
        for version, segment in darshan_format.SEGMENTS.items()
    },
    "LUSTRE": {
        version: RecordShape(head, darshan_format.LUSTRE_PARTS[version])
        for version, head in darshan_format.LUSTRE_RECORDS.items()
    },
}


class RegionRecords:
    """The records of a region that is given piece by piece.

    Attributes:
        count: The records so far, and the calls that they list.
        distinct: How many of the records are not there again.
        is_whole: Whether the last piece ended with a record.
    """

    def __init__(self) -> None:
        self.count = self.distinct = 0
        self.is_whole = False
        self._size_bytes = 0

    def add(self, piece: bytes) -> None:
        """Take the next piece.

        Raises:
            ValueError: A record has a length that none can have.
        """
        raise NotImplementedError

    def can_be(self, piece: bytes, taken: int) -> bool:
        """Take the next piece, and return whether `taken` bytes of the region can hold all so far.

        Raises:
            ValueError: A record has a length that none can have.
        """
        self.add(piece)
        self._size_bytes += len(piece)
        again = self.count > 2 * self.distinct
        return self._size_bytes <= MOST_EXPANSION * taken and not (again and self.count * LEAST_BYTES > taken)


class ModuleRecords(RegionRecords):
    """The records of a module, of which only the heads are looked at."""

    def __init__(self, shape: RecordShape, order: Literal["<", ">"]) -> None:
        super().__init__()
        self._left, self._skipped = b"", 0
        self._head_bytes, self._are_calls = shape.head.itemsize, shape.are_calls
        members: Any = shape.head.fields
        self._parts = [(members[name][1], size) for name, size in shape.parts.items()]
        self._number = struct.Struct(f"{order}q")
        self._seen: set[bytes] = set()

    def add(self, piece: bytes) -> None:
        """Count the heads in the next piece."""
        data, place = self._left + piece, self._skipped
        while place + self._head_bytes <= len(data):
            self._seen.add(data[place : place + ID_AND_RANK_BYTES])
            self.count += 1
            place += self._head_bytes + (self._rest_bytes(data, place) if self._parts else 0)
        self._left, self._skipped = data[place:], max(place - len(data), 0)
        self.distinct, self.is_whole = len(self._seen), not self._left and not self._skipped

    def _rest_bytes(self, data: bytes, place: int) -> int:
        rest_bytes = 0
        for offset, size in self._parts:
            (number,) = self._number.unpack_from(data, place + offset)
            if number < 0:
                raise ValueError("a record has less than nothing")
            rest_bytes += number * size
            self.count += number * self._are_calls
        if not self._are_calls and rest_bytes > darshan_format.LAYOUT_BYTES:
            raise ValueError("a file has a longer layout than its file system stores")
        return rest_bytes


class NameRecords(RegionRecords):
    """The names of the records, by record, as `names`.

    Args:
        order: The order of the log's bytes.
        counted: Whether a name follows its length, and no zero byte ends it.
    """

    def __init__(self, order: Literal["<", ">"], *, counted: bool) -> None:
        super().__init__()
        self.names: dict[int, str] = {}
        self._left = b""
        self._counted = counted
        self._order: Literal["little", "big"] = "little" if order == "<" else "big"

    def add(self, piece: bytes) -> None:
        """Read the names in the next piece."""
        data, place = self._left + piece, 0
        while (name := self._name(data, place)) is not None:
            number = int.from_bytes(data[place : place + 8], self._order)
            self.names[number] = table_name(data[name])
            self.count += 1
            place = name.stop + (not self._counted)
        self._left = data[place:]
        self.distinct, self.is_whole = len(self.names), not self._left
        if len(self._left) > NAME_BUFFER_BYTES:
            raise ValueError("a name does not end")

    def _name(self, data: bytes, place: int) -> slice | None:
        """Return where the name of a record is; None if not all of it is there."""
        first = place + 8 + 4 * self._counted
        if not self._counted:
            end = data.find(b"\0", first)
        elif first <= len(data):
            end = first + int.from_bytes(data[place + 8 : first], self._order)
        else:
            return None
        return slice(first, end) if first <= end <= len(data) else None
