"""What strace saw done to each file between two markers."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.integration.oracle.strace_log import Call, StraceError

_OPENS = {"open", "openat", "openat2", "creat"}
_READS = {"read", "pread64", "readv", "preadv", "preadv2"}
_WRITES = {"write", "pwrite64", "writev", "pwritev", "pwritev2"}
_STATS = {"stat", "lstat", "fstat", "newfstatat", "statx"}
_COPIES = {"sendfile": (1, 0), "copy_file_range": (0, 1), "splice": (0, 1)}  # place of source, target
_ON_DESCRIPTOR = {"fsync": "fsyncs", "fdatasync": "fdatasyncs", "lseek": "seeks", "ftruncate": "truncates"}
_ON_PATH = {"truncate": "truncates", "unlink": "unlinks", "rename": "renames"}
_AT_PATH = {"unlinkat": "unlinks", "renameat": "renames", "renameat2": "renames"}


@dataclass
class FileTally:
    """Successful calls on one file."""

    opens: int = 0
    reads: int = 0
    zero_reads: int = 0  # successful reads that gave no byte
    bytes_read: int = 0
    writes: int = 0
    bytes_written: int = 0
    copy_reads: int = 0  # sendfile, copy_file_range and splice from the file
    copy_bytes_read: int = 0
    copy_writes: int = 0  # ... to the file
    copy_bytes_written: int = 0
    path_stats: int = 0
    descriptor_stats: int = 0
    fsyncs: int = 0
    fdatasyncs: int = 0
    seeks: int = 0
    truncates: int = 0
    unlinks: int = 0
    renames: int = 0
    maps: int = 0
    bytes_mapped: int = 0
    recorder_stats: int = 0  # of the descriptor_stats, those the recorder makes itself
    recorder_seeks: int = 0  # of the seeks
    is_directory: bool = False


def marker(name: str, edge: str) -> str:
    """Return the path whose access(2) says that a workload begins or ends; there is no such file."""
    return f"/tfdarshan-oracle/{name}/{edge}"


def window(calls: Iterable[Call], name: str) -> list[Call]:
    """Return the calls between the two markers of workload `name`.

    Raises:
        StraceError: A marker is missing.
    """
    inside: list[Call] = []
    edges = iter((marker(name, "begin"), marker(name, "end")))
    awaited = next(edges)
    for call in calls:
        if call.name == "access" and call.strings[0] == awaited:
            if awaited == marker(name, "end"):
                return inside
            awaited = next(edges)
        elif awaited == marker(name, "end"):
            inside.append(call)
    raise StraceError(f"strace saw no access to {awaited}: the workload did not get there")


def tally(calls: Iterable[Call], directory: Path) -> dict[str, FileTally]:
    """Count the successful calls on each file below `directory`.

    Returns:
        Tallies by absolute path, as named at the time of the call.
    """
    tallies: defaultdict[str, FileTally] = defaultdict(FileTally)
    prefix = f"{directory}{os.sep}"
    appended: set[str] = set()
    for call in calls:
        if call.error:
            continue
        if call.name in _OPENS:
            (appended.add if "O_APPEND" in call.arguments else appended.discard)(call.result_path)
        for path, amounts in (*_effects(call), *_recorder_effects(call, appended)):
            if path.startswith(prefix):
                _add(tallies[path], amounts)
    for file in tallies.values():
        if not file.opens and _is_used_by_descriptor(
            file
        ):  # opened before the window, seen there at first use
            _add(file, _EXAMINED)
    return dict(tallies)


def _add(tally: FileTally, amounts: dict[str, int]) -> None:
    for field, amount in amounts.items():
        setattr(tally, field, getattr(tally, field) + amount)


# A descriptor that no open explains is looked up by the recorder: one fstat, one lseek.
_EXAMINED = {"recorder_stats": 1, "recorder_seeks": 1}


def _recorder_effects(call: Call, appended: set[str]) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield what the recorder itself does because of a call."""
    if call.name in _OPENS and "O_TMPFILE" in call.arguments:  # it has no name to go by
        yield call.result_path, _EXAMINED
    elif call.name in ("write", "writev") and call.descriptors[0] in appended:  # where did the kernel put it?
        yield call.descriptors[0], {"recorder_seeks": 1}


def _is_used_by_descriptor(tally: FileTally) -> bool:
    return bool(tally.reads or tally.writes or tally.seeks or tally.descriptor_stats)


def _effects(call: Call) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the files a call acts on, and what it adds to their tallies."""
    if call.name in _OPENS:
        yield call.result_path, {"opens": 1, "is_directory": "O_DIRECTORY" in call.arguments}
    elif call.name in _READS:
        yield call.descriptors[0], {"reads": 1, "zero_reads": call.result == 0, "bytes_read": call.result}
    elif call.name in _WRITES:
        yield call.descriptors[0], {"writes": 1, "bytes_written": call.result}
    elif call.name in _COPIES:
        source, target = (call.descriptors[place] for place in _COPIES[call.name])
        yield source, {"copy_reads": 1, "copy_bytes_read": call.result}
        yield target, {"copy_writes": 1, "copy_bytes_written": call.result}
    elif call.name in _STATS:
        yield _stat_effect(call)
    elif call.name == "mmap" and call.descriptors:
        yield call.descriptors[0], {"maps": 1, "bytes_mapped": int(call.arguments.split(", ")[1])}
    elif call.name in ("mkdir", "mkdirat", "rmdir") or "AT_REMOVEDIR" in call.arguments:
        yield _named(call), {"is_directory": True}
    elif call.name in _ON_DESCRIPTOR:
        yield call.descriptors[0], {_ON_DESCRIPTOR[call.name]: 1}
    elif call.name in _ON_PATH or call.name in _AT_PATH:
        yield _named(call), {(_ON_PATH | _AT_PATH)[call.name]: 1}


def _stat_effect(call: Call) -> tuple[str, dict[str, int]]:
    directory = "S_IFDIR" in call.arguments
    if call.name == "fstat" or not call.strings[0]:  # glibc's fstat is newfstatat(fd, "", AT_EMPTY_PATH)
        return call.descriptors[0], {"descriptor_stats": 1, "is_directory": directory}
    return _named(call), {"path_stats": 1, "is_directory": directory}


def _named(call: Call) -> str:
    """Return the file that the first path of a call names."""
    base = call.descriptors[0] if call.descriptors else os.getcwd()
    return os.path.normpath(os.path.join(base, call.strings[0]))
