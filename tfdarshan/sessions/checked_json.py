"""Decodes JSON files into checked data: types, ranges and text, with what is wrong in a few words.

Whoever reads a file says what it must hold as a shape, a `msgspec.Struct` whose fields have the types below.
Fields that a shape does not name may come from a later tfdarshan with the same format version: it is read
without them.

This module imports msgspec: import it where something is read, not before a profiled program has begun.
"""

from __future__ import annotations

import json
import re
import threading
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

LARGEST = (1 << 63) - 1
# Two of these can be added up in 64 bits; as nanoseconds it is 73 years.
LARGEST_SPAN = 1 << 61

Integer = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
ProcessId = Annotated[int, Meta(ge=-(1 << 31), le=(1 << 31) - 1)]
Span = Annotated[int, Meta(ge=0, le=LARGEST_SPAN)]
Offset = Annotated[int, Meta(ge=-LARGEST_SPAN, le=LARGEST_SPAN)]
Number = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Amount = Annotated[float, Meta(ge=0, le=LARGEST)]
NonEmpty = Annotated[str, Meta(min_length=1)]

Shape = TypeVar("Shape")
PLACE = re.compile(r"(?: - at `(?P<place>.*)`)?$", re.DOTALL)
MISSING = "Object missing required field "
# msgspec lets a thread use a shape that another still resolves, and crashes there.
_decoders: dict[type, msgspec.json.Decoder[Any]] = {}
_resolving = threading.Lock()


class DecodingError(Exception):
    """What is wrong with a file's content, in a few words without the file's name."""


class NotJsonError(DecodingError):
    """The content is not JSON, as after a crash that left a part of a file."""


def decode(content: bytes, shape: type[Shape]) -> Shape:
    """Return JSON as `shape`.

    Raises:
        NotJsonError: It is not JSON.
        DecodingError: A field is missing, or not of its type or range.
    """
    return check(decode_json(content), shape)


def decode_as(content: bytes, shape: type[Shape]) -> Shape:
    """Do the same without making plain data of what the shape does not name: many times as quick.

    Raises:
        NotJsonError: It is not JSON.
        DecodingError: A field is missing, or not of its type or range.
    """
    try:
        return _decoder(shape).decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return decode(content, shape)


def decode_json(content: bytes) -> Any:
    """Return JSON as plain data.

    Python writes file names whose bytes are not UTF-8 as lone surrogates, and NaN and Infinity as such: both
    are not JSON for msgspec, which is the faster of the two decoders.

    Raises:
        NotJsonError: It is not JSON.
        DecodingError: It holds text that cannot be encoded.
    """
    try:
        return msgspec.json.decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        data = json.loads(content.decode("utf-8"))
        if b"\\u" in content:
            # A byte of a file name is a surrogate from DC80 to DCFF; others stand for nothing.
            json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise DecodingError("it has text that is not Unicode") from error
    except ValueError as error:
        raise NotJsonError("it is not JSON") from error
    except RecursionError as error:
        raise DecodingError("it is nested too deeply") from error
    return data


def check(data: Any, shape: type[Shape]) -> Shape:
    """Return plain data as `shape`.

    Raises:
        DecodingError: A field is missing, or not of its type or range.
    """
    _decoder(shape)
    try:
        return msgspec.convert(data, shape)
    except msgspec.ValidationError as error:
        raise DecodingError(_worded(str(error))) from error
    except UnicodeEncodeError as error:
        raise DecodingError("it has text that is not Unicode") from error
    except RecursionError as error:
        raise DecodingError("it is nested too deeply") from error


def _decoder(shape: type[Shape]) -> msgspec.json.Decoder[Shape]:
    """Return the decoder of a shape, made once, by one thread at a time."""
    made = _decoders.get(shape)
    if made is None:
        with _resolving:
            made = _decoders.setdefault(shape, msgspec.json.Decoder(shape))
    return made


def plain(shape: Any) -> Any:
    """Return a shape as plain data; other values as they are."""
    return msgspec.to_builtins(shape)


def _worded(message: str) -> str:
    """Word what msgspec says, such as "Expected `int` >= 0 - at `$.files[...].size`"."""
    found = PLACE.search(message)
    assert found is not None
    what = message[: found.start()].replace("`", "")
    place = (found["place"] or "").removeprefix("$").lstrip(".")
    if what.startswith(MISSING):
        return f"it lacks {place + '.' if place else ''}{what.removeprefix(MISSING)}"
    what = what[:1].lower() + what[1:]
    return f"{what} at {place}" if place else what
