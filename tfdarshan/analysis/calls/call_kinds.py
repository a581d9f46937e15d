"""Calls by what they are for: opening, asking, reading data, probing for the end, writing, syncing."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import READ, WRITE, Operation, Segments

# A "stat" asks about a file by its name, an "fstat" about one that is open.
CALL_KINDS = ("open", "close", "stat", "seek", "read", "empty_read", "write", "sync", "other", "fstat")
KIND = {name: code for code, name in enumerate(CALL_KINDS)}
STATS = ("stat", "fstat")
OPERATION_KINDS = {
    "open": "open", "fopen": "open", "close": "close", "fclose": "close", "stat": "stat",
    "fstat": "fstat", "lseek": "seek", "fseek": "seek", "fsync": "sync", "fdatasync": "sync",
}  # fmt: skip


@dataclass(frozen=True)
class CallGroup:
    """Calls of one kind. Times are the calls' durations added up, in seconds.

    Attributes:
        calls: How many.
        moved_bytes: What they moved.
        beside_s: Time of those that other threads than the training loop's made, or that its own made while
            the loop waited for input.
        within_s: Time of those that the training loop's thread made otherwise: the loop stood still.
    """

    calls: float = 0.0
    moved_bytes: float = 0.0
    beside_s: float = 0.0
    within_s: float = 0.0

    @property
    def thread_s(self) -> float:
        """All of their time."""
        return self.beside_s + self.within_s

    def scaled(self, factor: float) -> CallGroup:
        """Return a multiple of it."""
        return CallGroup(*(factor * value for value in astuple(self)))

    def __add__(self, other: CallGroup) -> CallGroup:
        return CallGroup(*map(operator.add, astuple(self), astuple(other)))


NO_CALLS = CallGroup()


def kind_codes(operations: Sequence[Operation]) -> Array:
    """Return each operation's place in CALL_KINDS, int8; "read" for all reads, the empty ones too."""
    codes = []
    for operation in operations:
        kind = OPERATION_KINDS.get(operation.name)
        if kind is None:
            kind = {READ: "read", WRITE: "write"}.get(operation.io_class, "other")
        codes.append(KIND[kind])
    return np.array(codes or [0], np.int8)


def kinds_of(segments: Segments) -> Array:
    """Return each call's place in CALL_KINDS, int8."""
    kind: Array = kind_codes(segments.operations)[segments.operation]
    kind[(kind == KIND["read"]) & (segments.length == 0) & (segments.error == 0)] = KIND["empty_read"]
    return kind


def groups_of(sums: Array) -> dict[str, CallGroup]:
    """Return calls by kind.

    Args:
        sums: `input_sums.InputTimes.by_kind`.
    """
    groups = {}
    for name, place in KIND.items():
        calls, lasted_ns, moved = sums[place].T
        others_ns, loop_ns, waiting_ns = lasted_ns.tolist()
        size = float(moved.sum()) if name in ("read", "write") else 0.0
        groups[name] = CallGroup(float(calls.sum()), size, (others_ns + waiting_ns) / 1e9, loop_ns / 1e9)
    return groups
