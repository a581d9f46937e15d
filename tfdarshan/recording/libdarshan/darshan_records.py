"""What libdarshan counted in a session: its records at stop, less those at start.

Most counters are sums, and their difference is the session's. The others cannot be differenced where a file
was used in an earlier session of the process ("carried"). What is done with each is in `_RULES`:

    sum        stop - start
    constant   stop
    highest    stop where it rose in the session, else unknown
    first      stop where there was none at start, else unknown
    last       stop where it changed in the session, else unknown
    table      stop where the file was not used before, else unknown

Unknown values are taken from the builtin fold, which counted the same session from its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tfdarshan.errors import StorageError
from tfdarshan.native import _bridge, _extension
from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions.schema import MODULES

# Words of a record before its counters: id and rank.
HEAD_WORDS = 2
# Differenced at a time: some hundred thousand records of 700 bytes would need several times their memory.
BLOCK_RECORDS = 1 << 14

_RULES = {
    "POSIX_MODE": "last",
    "POSIX_RENAMED_FROM": "first",
    "POSIX_MEM_ALIGNMENT": "constant",
    "POSIX_FILE_ALIGNMENT": "constant",
    "POSIX_MAX_BYTE_READ": "highest",
    "POSIX_MAX_BYTE_WRITTEN": "highest",
    "STDIO_MAX_BYTE_READ": "highest",
    "STDIO_MAX_BYTE_WRITTEN": "highest",
    "POSIX_MAX_READ_TIME_SIZE": "last",
    "POSIX_MAX_WRITE_TIME_SIZE": "last",
    "POSIX_F_MAX_READ_TIME": "highest",
    "POSIX_F_MAX_WRITE_TIME": "highest",
}
_RULES_BY_PART = (
    ("_RANK", "constant"),
    ("_STRIDE", "table"),
    ("_ACCESS", "table"),
    ("_START_TIMESTAMP", "first"),
    ("_END_TIMESTAMP", "last"),
)


def rule_of(name: str) -> str:
    """Describe how a counter of a session comes out of two snapshots."""
    if name in _RULES:
        return _RULES[name]
    return next((rule for part, rule in _RULES_BY_PART if part in name), "sum")


@dataclass(frozen=True)
class ModuleColumns:
    """A module's counters: names in the record's order, and their places among the files table's counters."""

    names: tuple[str, ...]
    places: Array
    f_names: tuple[str, ...]
    f_places: Array


@lru_cache(maxsize=2)
def module_columns(module: str) -> ModuleColumns:
    """Return the counters of "POSIX" or "STDIO", whose order in our tables is the record's."""
    prefix = f"{module}_"
    names, f_names = (
        {counter.name: place for place, counter in enumerate(counters) if counter.name.startswith(prefix)}
        for counters in (_bridge.counters(), _bridge.f_counters())
    )
    return ModuleColumns(
        tuple(names), np.array([*names.values()]), tuple(f_names), np.array([*f_names.values()])
    )


@dataclass(frozen=True)
class ModuleRecords:
    """One module's records of the session, sorted by id, one row each.

    Attributes:
        ids: Darshan's record ids, uint64.
        counters: int64, one column per counter of `module_columns`.
        f_counters: float64; timestamps in s since Darshan's time 0.
        known: False where the value cannot be told from the snapshots; a column per counter, then per float.
        active: Something was counted for the record in the session.
        carried: It was used before the session.
    """

    ids: Array
    counters: Array
    f_counters: Array
    known: Array
    active: Array
    carried: Array


@dataclass(frozen=True)
class DarshanRecords:
    """A session's records by module, and Darshan's time 0 as CLOCK_REALTIME in s."""

    modules: dict[str, ModuleRecords]
    clock_offset_s: float
    nested_calls: int
    torn_records: int
    full: bool


def read_records() -> DarshanRecords:
    """Take the snapshots of the last session from the C core, which then drops them.

    Raises:
        StorageError: There are none.
    """
    ffi, lib = _extension.core()
    info = ffi.new("struct tfd_darshan_info *")
    if lib.tfd_darshan_stop_status() < 0 or lib.tfd_darshan_describe(info) < 0:
        raise StorageError(f"libdarshan's records were not read: {_extension.last_error()}.")
    modules = {
        name: difference(name, _snapshot(0, index, name), _snapshot(1, index, name))
        for index, name in enumerate(MODULES)
    }
    torn = int(lib.tfd_darshan_torn_records())
    lib.tfd_darshan_release_snapshots()
    full = any(left == 0 for left in info.records_left)
    return DarshanRecords(modules, float(info.clock_offset_s), int(info.nested_calls), torn, full)


def record_words(module: str) -> int:
    """Return the size of a module's record in words of 8 bytes."""
    columns = module_columns(module)
    return HEAD_WORDS + len(columns.names) + len(columns.f_names)


def record_name(record_id: int) -> str:
    """Return the path that Darshan knows a record by, "" for none."""
    return _extension.text(_extension.core().lib.tfd_darshan_record_name(record_id))


def _snapshot(at_stop: int, index: int, module: str) -> Array:
    """Return a view of the C core's memory."""
    ffi, lib = _extension.core()
    count = ffi.new("uint64_t *")
    pointer = lib.tfd_darshan_records(at_stop, index, count)
    words = record_words(module)
    if not pointer or not count[0]:
        return np.empty((0, words), np.int64)
    records: Array = np.frombuffer(ffi.buffer(pointer, int(count[0]) * words * 8), np.int64)
    return records.reshape(-1, words)


def difference(module: str, start: Array, stop: Array) -> ModuleRecords:
    """Return the session's values of records that are appended to and never move.

    Args:
        module: "POSIX" or "STDIO".
        start: One row per record at start, words of the record as int64.
        stop: As `start`, at stop; its first rows are the same records.
    """
    columns = module_columns(module)
    count, order = len(stop), np.argsort(stop[:, 0].view(np.uint64), kind="stable")
    records = ModuleRecords(
        ids=stop[order, 0].view(np.uint64),
        counters=np.empty((count, len(columns.names)), np.int64),
        f_counters=np.empty((count, len(columns.f_names)), np.float64),
        known=np.empty((count, len(columns.names) + len(columns.f_names)), bool),
        active=np.empty(count, bool),
        carried=np.empty(count, bool),
    )
    for begin in range(0, count, BLOCK_RECORDS):
        places = order[begin : begin + BLOCK_RECORDS]
        before = np.zeros((len(places), stop.shape[1]), np.int64)
        old = places < len(start)
        before[old] = start[places[old]]
        _fill(records, slice(begin, begin + len(places)), columns, before, stop[places])
    return records


def _fill(records: ModuleRecords, block: slice, columns: ModuleColumns, before: Array, after: Array) -> None:
    """Set the rows `block` to the differences of as many records."""
    last = HEAD_WORDS + len(columns.names)
    ints = slice(HEAD_WORDS, last)
    counters, known = _differenced(columns.names, before[:, ints], after[:, ints])
    floats = tuple(np.ascontiguousarray(words[:, last:]).view(np.float64) for words in (before, after))
    f_counters, f_known = _differenced(columns.f_names, *floats)
    sums = [place for place, name in enumerate(columns.names) if rule_of(name) == "sum"]
    records.counters[block] = counters
    records.f_counters[block] = f_counters
    records.known[block] = np.concatenate([known, f_known], axis=1)
    records.active[block] = np.any(before[:, HEAD_WORDS:] != after[:, HEAD_WORDS:], axis=1)
    records.carried[block] = np.any(before[:, ints][:, sums] > 0, axis=1)


def _differenced(names: Sequence[str], before: Array, after: Array) -> tuple[Array, Array]:
    values, known = after.copy(), np.ones(after.shape, bool)
    rules = np.array([rule_of(name) for name in names])
    sums = rules == "sum"
    # A libdarshan that does not count mmaps has -1 there.
    values[:, sums] = np.where(after[:, sums] < 0, after[:, sums], after[:, sums] - before[:, sums])
    known[:, sums] = after[:, sums] >= 0
    unused: Array = np.all(before[:, sums] <= 0, axis=1, keepdims=True)
    changed = {"highest": after > before, "first": before == 0, "last": after != before, "table": unused}
    for rule, condition in changed.items():
        of_rule = rules == rule
        known[:, of_rule] = (np.broadcast_to(condition, after.shape) | unused)[:, of_rule]
    return values, known
