"""Reads the headers of a Parquet file's pages: the footer may say anything, and Arrow does as pages say.

Source: PageHeader of parquet-format's parquet.thrift, and Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Bytes that a header is looked for in: most are short, and some have four bounds of 4 KiB at most.
SHORT_BYTES, LONG_BYTES = 1 << 9, 1 << 15
TRUE, FALSE, BYTE, I32, I64, BINARY, STRUCT = 1, 2, 3, 5, 6, 8, 12
NUMBERS = (4, I32, I64)
MOST_DEPTH, MOST_FIELDS = 4, 1 << 15
# The place of what a page of each type says of its values, and of their encoding in that.
TYPE, UNCOMPRESSED, COMPRESSED, VALUES = 1, 2, 3, 1
DETAILS = {0: (5, 2), 2: (7, 2), 3: (8, 4)}
DICTIONARY_PAGE = 2


@dataclass(frozen=True)
class Page:
    """A page by its header.

    Attributes:
        is_dictionary: Whether it has a column's dictionary.
        size_bytes: Its size, decompressed.
        values: How many values it has.
        encoding: The number of their encoding.
    """

    is_dictionary: bool
    size_bytes: int
    values: int
    encoding: int


def pages_of(source: Any, column: Any) -> Iterator[Page]:
    """Yield the pages of a column of a row group.

    Args:
        source: The file, as one of Arrow's.
        column: The column's metadata.

    Raises:
        ValueError: A header is none.
    """
    place = column.data_page_offset
    if column.has_dictionary_page and column.dictionary_page_offset:
        place = min(place, column.dictionary_page_offset)
    end = place + column.total_compressed_size
    while place < end:
        try:
            header, length = _header(source, place)
            kind = header[TYPE, I32]
            details, encoding = DETAILS[kind]
            about = header[details, STRUCT]
            size_bytes, compressed = header[UNCOMPRESSED, I32], header[COMPRESSED, I32]
            page = Page(kind == DICTIONARY_PAGE, size_bytes, about[VALUES, I32], about[encoding, I32])
        except LookupError as error:
            raise ValueError("a page of it has no header") from error
        if min(page.size_bytes, compressed, page.values) < 0:
            raise ValueError("a page of it has less than nothing")
        yield page
        place += length + compressed


def _header(source: Any, place: int) -> tuple[dict[tuple[int, int], Any], int]:
    try:
        return _struct(source.read_at(SHORT_BYTES, place), 0)
    except IndexError:
        return _struct(source.read_at(LONG_BYTES, place), 0)


def _struct(content: bytes, place: int, depth: int = 0) -> tuple[dict[tuple[int, int], Any], int]:
    """Return a struct's fields by number and type, and where it ends."""
    if depth > MOST_DEPTH:
        raise LookupError("deeper than a header is")
    found: dict[tuple[int, int], Any] = {}
    field = 0
    while content[place]:
        kind, ahead = content[place] & 15, content[place] >> 4
        place += 1
        if ahead:
            field += ahead
        else:
            field, place = _number(content, place)
        if not 0 < field < MOST_FIELDS:
            raise LookupError("of a number that Arrow may take for another")
        value: Any = None
        if kind in NUMBERS:
            value, place = _number(content, place)
        elif kind == BINARY:
            length, place = _varint(content, place)
            place += length
        elif kind == STRUCT:
            value, place = _struct(content, place, depth + 1)
        elif kind == BYTE:
            place += 1
        elif kind not in (TRUE, FALSE):
            raise LookupError("of a type that no header has")
        found[field, kind] = value
    return found, place + 1


def _number(content: bytes, place: int) -> tuple[int, int]:
    value, place = _varint(content, place)
    return value >> 1 ^ -(value & 1), place


def _varint(content: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while content[place] > 127:
        value |= (content[place] & 127) << shift
        shift += 7
        place += 1
    return value | content[place] << shift, place + 1
