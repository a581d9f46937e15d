"""Sums over calls on a job's input, in C: calls come block by block, in order of start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.native._extension import aggregate
from tfdarshan.native.call_sums import Array

# Columns of sums by kind of call; by whom: others than the loop, the loop, the loop while it waited.
KIND_SUMS, WHO, KINDS = 3, 3, 10
CALLS = 0
READ_KIND = 4
# Columns of sums by thread, and by file.
BUSY, FIRST, LAST = range(3)
FILE_COSTS = 9
OPENS, READS, READ_BYTES, READ_NS, OTHER_NS, OPEN_NS, STAT_NS, FIRST_READ_NS, LAST_READ_NS = range(FILE_COSTS)
# Numbers of a pass that goes on, and calls at a time that are told apart.
PASS_NUMBERS, DEEPEST = 9, 1024
MAX_NS = np.iinfo(np.int64).max
NO_THREAD = -1
# C's arrays by NumPy's codes: to ask a dtype for its name takes as long as to add up 1,000 calls.
_ARRAYS = {code: f"{np.dtype(code).name}_t[]" for code in "bBhHiIlLqQ"} | {"d": "double[]"}


@dataclass(frozen=True)
class InputCalls:
    """Calls in order of start.

    Attributes:
        start_ns: int64.
        end_ns: int64.
        length: int64, bytes; only what reads moved counts.
        file: int32, row of the file table.
        thread: int32.
        kind: uint8, place in `call_kinds.CALL_KINDS`.
    """

    start_ns: Array
    end_ns: Array
    length: Array
    file: Array
    thread: Array
    kind: Array

    def __post_init__(self) -> None:
        """Lay the arrays out as C takes them."""
        dtypes = {"file": np.int32, "thread": np.int32, "kind": np.uint8}
        for name in ("start_ns", "end_ns", "length", "file", "thread", "kind"):
            laid_out = np.ascontiguousarray(getattr(self, name), dtypes.get(name, np.int64))
            object.__setattr__(self, name, laid_out)

    def __len__(self) -> int:
        return len(self.start_ns)

    def part(self, rows: slice | Array) -> InputCalls:
        """Return some of them."""
        columns = (self.start_ns, self.end_ns, self.length, self.file, self.thread, self.kind)
        return InputCalls(*(values[rows] for values in columns))

    def as_c(self) -> Any:
        """Return C's view of the calls, which is good as long as this object is."""
        ffi, _ = aggregate()
        columns = (self.start_ns, self.end_ns, self.length, self.file, self.thread, self.kind)
        views = [_view(ffi, values) for values in columns]
        object.__setattr__(self, "_views", views)
        return ffi.new("struct tfd_input_calls *", [*views, len(self)])


def chosen_input(
    kind_of_operation: Array, is_input: Array, columns: tuple[Array, Array, Array, Array]
) -> tuple[Array, Array]:
    """Return the places of calls on input that are neither writes nor syncs, int32, and their kinds, uint8.

    Args:
        kind_of_operation: The kind of each operation, "read" of all reads.
        is_input: Which rows of the file table are input.
        columns: Each call's operation, file, length and error.
    """
    ffi, lib = aggregate()
    count = len(columns[0])
    places, kinds = np.empty(count, np.int32), np.empty(count, np.uint8)
    dtypes = (np.uint8, np.uint8, np.uint8, np.int32, np.int64, np.int16)
    given = [
        np.ascontiguousarray(values, dtype)
        for values, dtype in zip((kind_of_operation, is_input, *columns), dtypes, strict=True)
    ]
    kind_of, wanted, operation, file, length, error = (_view(ffi, values) for values in given)
    written = _view(ffi, places), _view(ffi, kinds)
    found = lib.tfd_choose_input(kind_of, wanted, operation, file, length, error, count, *written)
    return places[:found], kinds[:found]


def chosen_stored(calls: InputCalls, call_s: float, byte_s: float) -> Array:
    """Return the places of calls that took longer than memory does, int32.

    Args:
        calls: The calls.
        call_s: What memory takes for a call.
        byte_s: What it takes for a byte that is read.
    """
    ffi, lib = aggregate()
    places = np.empty(len(calls), np.int32)
    return places[: lib.tfd_choose_stored(calls.as_c(), call_s, byte_s, _view(ffi, places))]


class InputTimes:
    """Adds up times.

    Args:
        waits: Starts, ends and what is covered before each, of the waits of steps for input; None without.
        rests: The same of the rest of steps.
        waiting: Starts and ends of the waits as the steps have them: the loop's calls within count apart.

    Attributes:
        by_kind: Calls, ns and bytes: int64 of shape (KINDS, WHO, KIND_SUMS).
    """

    def __init__(
        self,
        waits: Sequence[Array] | None = None,
        rests: Sequence[Array] | None = None,
        waiting: Sequence[Array] | None = None,
    ) -> None:
        ffi, _ = aggregate()
        self.by_kind = np.zeros((KINDS, WHO, KIND_SUMS), np.int64)
        self._by_thread = _threads(0)
        self._kept: list[Any] = [_view(ffi, self.by_kind)]
        self._sums = ffi.new("struct tfd_input_times *", {"by_kind": self._kept[0], "reached_ns": -MAX_NS})
        for name, stretches in (("waits", waits), ("rests", rests), ("waiting", waiting)):
            for column, values in zip(("start_ns", "end_ns", "before_ns"), stretches or (), strict=False):
                view = _view(ffi, np.ascontiguousarray(values, np.int64))
                self._kept.append(view)
                setattr(getattr(self._sums, name), column, view)
            getattr(self._sums, name).count = len(stretches[0]) if stretches else 0

    def add(self, calls: InputCalls, threads: int, loop: int = NO_THREAD) -> None:
        """Add calls.

        Args:
            calls: The calls.
            threads: How many threads there are.
            loop: The one that runs the training loop.
        """
        ffi, lib = aggregate()
        if threads > len(self._by_thread):
            more = _threads(2 * threads)
            more[: len(self._by_thread)] = self._by_thread
            self._by_thread = more
        view = _view(ffi, self._by_thread)
        self._sums.by_thread = view
        lib.tfd_add_input_times(self._sums, calls.as_c(), loop)

    @property
    def by_thread(self) -> Array:
        """Of each thread ns in calls, when the first began, when the last ended: int64, (threads, 3)."""
        return self._by_thread

    @property
    def union_ns(self) -> int:
        """Time with at least one call running."""
        return int(self._sums.union_ns)

    @property
    def in_waits_ns(self) -> int:
        """The calls' time within waits, added up."""
        return int(self._sums.in_waits_ns)

    @property
    def in_rests_ns(self) -> int:
        """The same within the rest of steps."""
        return int(self._sums.in_rests_ns)

    @property
    def loop_in_waits_ns(self) -> int:
        """What of the time within waits is the loop's own."""
        return int(self._sums.loop_in_waits_ns)


def add_file_costs(calls: InputCalls, costs: Array) -> None:
    """Add calls file by file.

    Args:
        calls: The calls.
        costs: int64 of shape (files, FILE_COSTS).
    """
    ffi, lib = aggregate()
    lib.tfd_add_file_costs(calls.as_c(), _view(ffi, costs))


class Passes:
    """Judges what each thread reads of each file from an open to the next, or as often as the file has bytes.

    Args:
        size_bytes: The files' sizes, not above 0 if unknown.
        call_s: What memory takes for a call.
        byte_s: What it takes for a byte.
        many_slow: So many reads that took longer may have brought a pass most of whose time they took.
        ahead_bytes: What each of them brings at most.

    Attributes:
        stored_ns: Of each file the time of passes that storage served, int64.
        stored_bytes: Their bytes.
    """

    def __init__(
        self,
        size_bytes: Array,
        call_s: float,
        byte_s: float,
        *,
        many_slow: int,
        ahead_bytes: int,
    ) -> None:
        ffi, _ = aggregate()
        files = len(size_bytes)
        self.stored_ns, self.stored_bytes = np.zeros(files, np.int64), np.zeros(files, np.int64)
        self._held = np.zeros((1, PASS_NUMBERS), np.int64)
        size, first = np.ascontiguousarray(size_bytes, np.int64), np.zeros(files, np.int32)
        arrays: dict[str, Array] = {
            "size_bytes": size, "first": first, "stored_ns": self.stored_ns,
            "stored_bytes": self.stored_bytes,
        }  # fmt: skip
        self._views = {name: _view(ffi, values) for name, values in arrays.items()}
        numbers = {
            "call_s": call_s, "byte_s": byte_s, "many_slow": many_slow, "ahead_bytes": ahead_bytes,
            "used": 1,
        }  # fmt: skip
        self._passes = ffi.new("struct tfd_passes *", self._views | numbers)

    def add(self, calls: InputCalls) -> None:
        """Add calls."""
        ffi, lib = aggregate()
        room = int(self._passes.used) + len(calls)
        if room > len(self._held):
            # Memory that is not touched is not taken.
            more = np.zeros((2 * room, PASS_NUMBERS), np.int64)
            more[: self._passes.used] = self._held[: self._passes.used]
            self._held = more
        self._views["held"] = self._passes.held = _view(ffi, self._held)
        lib.tfd_add_passes(self._passes, calls.as_c())

    def end(self) -> None:
        """Take the passes that go on as ended."""
        _, lib = aggregate()
        lib.tfd_end_passes(self._passes, len(self.stored_ns))


class Depths:
    """Adds up the time, and the bytes, at each number of calls at a time.

    Attributes:
        lasted_ns: float64, DEEPEST numbers.
        moved: Bytes, the same.
    """

    def __init__(self) -> None:
        ffi, _ = aggregate()
        self.lasted_ns, self.moved = np.zeros(DEEPEST), np.zeros(DEEPEST)
        self._end, self._rate, self._begun = np.zeros(0, np.int64), np.zeros(0), False
        self._views = [_view(ffi, self.lasted_ns), _view(ffi, self.moved)]
        self._sums = ffi.new("struct tfd_depths *", {"lasted_ns": self._views[0], "bytes": self._views[1]})

    def add(self, calls: InputCalls) -> None:
        """Add calls."""
        if not len(calls):
            return
        ffi, lib = aggregate()
        if not self._begun:
            self._sums.now_ns, self._begun = int(calls.start_ns[0]), True
        room, running = self._sums.running + len(calls), self._sums.running
        if room > len(self._end):
            end, rate = np.zeros(2 * room, np.int64), np.zeros(2 * room)
            end[:running], rate[:running] = self._end[:running], self._rate[:running]
            self._end, self._rate = end, rate
        views = [_view(ffi, self._end), _view(ffi, self._rate)]
        self._sums.end_ns, self._sums.rate = views
        lib.tfd_add_depths(self._sums, calls.as_c())
        self._views[2:] = views

    def end(self) -> None:
        """Have all calls end."""
        _, lib = aggregate()
        lib.tfd_end_depths(self._sums)


def _threads(count: int) -> Array:
    rows = np.zeros((count, 3), np.int64)
    rows[:, FIRST] = MAX_NS
    return rows


def _view(ffi: Any, values: Array) -> Any:
    return ffi.from_buffer(_ARRAYS[values.dtype.char], values)
