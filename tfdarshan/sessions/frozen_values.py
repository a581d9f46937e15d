"""Frozen objects as bytes and back: numbers, texts, arrays, tables and dataclasses of these, but no code.

What is read may have been written by anybody: nothing but classes that the reader names is made of it.
"""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tfdarshan.sessions.whole_file import TooLargeError, check_room

MAGIC = b"tfdarshan partials\n"
# Bytes of the checksum of all that follows, and of the length of the description.
CHECKSUM, LENGTH = 4, 8
CODEC = "zstd"
SEQUENCES: dict[str, Any] = {"tuple": tuple, "list": list, "frozenset": frozenset}
# What making values of something else raises.
NOT_FROZEN = (
    KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, MemoryError, RecursionError,
    pa.ArrowException, TooLargeError,
)  # fmt: skip


class FrozenError(ValueError):
    """Bytes are not those of frozen objects."""


def frozen_bytes(value: Any) -> bytes:
    """Return an object as bytes."""
    arrays: list[np.ndarray[Any, Any]] = []
    tree = _tree(value, arrays)
    packed = [pa.compress(_raw(array), codec=CODEC, asbytes=True) for array in arrays]
    kinds = [
        [array.dtype.str, list(array.shape), len(part)] for array, part in zip(arrays, packed, strict=True)
    ]
    described = json.dumps({"value": tree, "arrays": kinds}).encode("ascii")
    body = b"".join([len(described).to_bytes(LENGTH, "little"), described, *packed])
    return MAGIC + zlib.crc32(body).to_bytes(CHECKSUM, "little") + body


def thawed(content: bytes, classes: Mapping[str, type]) -> Any:
    """Return the object.

    Args:
        content: What `frozen_bytes` gave.
        classes: The dataclasses that there may be, by name.

    Raises:
        FrozenError: It is something else, damaged, or of other classes.
    """
    head = len(MAGIC) + CHECKSUM
    if content[: len(MAGIC)] != MAGIC or len(content) < head + LENGTH:
        raise FrozenError("it does not begin as partials do")
    body = memoryview(content)[head:]
    if zlib.crc32(body) != int.from_bytes(content[len(MAGIC) : head], "little"):
        raise FrozenError("its checksum is wrong")
    try:
        length = int.from_bytes(body[:LENGTH], "little")
        described = json.loads(bytes(body[LENGTH : LENGTH + length]))
        arrays = _arrays(described["arrays"], body[LENGTH + length :])
        return _value(described["value"], arrays, classes)
    except NOT_FROZEN as error:
        raise FrozenError(f"{type(error).__name__}: {error}") from error


def _tree(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """Return a value as JSON has it, and put its arrays into a list."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, pd.DataFrame):
        columns = {str(name): _tree(value[name].to_numpy(), arrays) for name in value.columns}
        return {"table": columns, "rows": len(value), "index": value.index.name}
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"class": type(value).__name__, "fields": _named(fields, arrays)}
    if isinstance(value, dict):
        return {"dict": _named(value, arrays)}
    kind = type(value).__name__
    if kind not in SEQUENCES:
        raise TypeError(f"{kind} cannot be frozen")
    return {kind: [_tree(one, arrays) for one in value]}


def _named(values: Mapping[str, Any], arrays: list[np.ndarray[Any, Any]]) -> dict[str, Any]:
    return {name: _tree(value, arrays) for name, value in values.items()}


def _value(tree: Any, arrays: list[np.ndarray[Any, Any]], classes: Mapping[str, type]) -> Any:
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "table" in tree:
        columns = {name: _value(one, arrays, classes) for name, one in tree["table"].items()}
        return pd.DataFrame(columns, index=pd.RangeIndex(tree["rows"], name=tree["index"]))
    if "class" in tree:
        fields = {name: _value(one, arrays, classes) for name, one in tree["fields"].items()}
        return classes[tree["class"]](**fields)
    if "dict" in tree:
        return {name: _value(one, arrays, classes) for name, one in tree["dict"].items()}
    ((kind, members),) = tree.items()
    return SEQUENCES[kind](_value(one, arrays, classes) for one in members)


def _raw(array: np.ndarray[Any, Any]) -> bytes:
    if array.dtype.kind not in "biuf":
        raise TypeError(f"an array of {array.dtype} is no numbers")
    return np.ascontiguousarray(array).tobytes()


def _arrays(kinds: Any, packed: memoryview) -> list[np.ndarray[Any, Any]]:
    found = []
    for kind, shape, length in kinds:
        dtype = np.dtype(kind)
        if dtype.kind not in "biuf":
            raise FrozenError(f"an array of {dtype} is no numbers")
        whole = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        check_room(2 * whole)  # decompressed, and copied
        content = pa.decompress(packed[:length], decompressed_size=whole, codec=CODEC)
        found.append(np.frombuffer(content, dtype).reshape(shape).copy())
        packed = packed[length:]
    return found
