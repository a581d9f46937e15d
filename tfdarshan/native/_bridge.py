"""The C core's functions as plain typed Python, but for those that one module alone calls."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tfdarshan.errors import StorageError
from tfdarshan.native._extension import core, last_error, plain, text
from tfdarshan.storage_model import StorageModel


@dataclass(frozen=True)
class AttachReport:
    """What attaching or detaching did to the slots of the loaded objects.

    `transfer_cost_ns` and `open_cost_ns` say what recording adds to a read or write, and to an open with its
    close; 0 where that was not measured, as at a stop.
    """

    objects_scanned: int
    relocations_scanned: int
    slots_patched: int
    slots_foreign: int
    slots_refused: int
    objects_pinned: int
    slots_restored: int
    elapsed_ns: int
    transfer_cost_ns: int
    open_cost_ns: int


class StagedFile(NamedTuple):
    """A file and its copy on a faster tier, by absolute path, and how both were when the copy was made."""

    original: str
    copy: str
    size: int
    original_mtime_ns: int
    copy_mtime_ns: int


@dataclass(frozen=True)
class RedirectTotals:
    """Opens of staged files that got the copy, and that got the original: copy missing, or either changed.

    `looked_ahead` are originals that were looked at before anything opened them, and are as they were copied.
    """

    copies: int
    missing: int
    stale: int
    looked_ahead: int


@dataclass(frozen=True)
class EmulationTotals:
    """Calls that an emulated device served, those that had to wait and how long, and what the model says."""

    calls: int
    delayed_calls: int
    delayed_ns: int
    modelled_ns: int


@dataclass(frozen=True)
class TensorflowSession:
    """What the plug-in did in one session of TensorFlow's profiler.

    `session` counts them. Where `joined` is 1 a recording ran already, and the session is its part from
    `start_ns` to `end_ns`, in ns since the recording's start. `events` of it are in the trace, and
    `left_out` are not. `recording` is 1 while the plug-in records for a session. `mark` is in the trace, too.
    """

    session: int
    joined: int
    recording: int
    start_ns: int
    end_ns: int
    events: int
    left_out: int
    mark: str


@dataclass(frozen=True)
class Hook:
    """One hooked symbol: its operation, whether this libc has it, and the slots patched for it now."""

    name: str
    operation: str
    available: bool
    slots: int


@dataclass(frozen=True)
class Operation:
    """One kind of recorded call: its name, module ("POSIX", "STDIO") and class ("read", "write", "meta")."""

    name: str
    module: str
    io_class: str


@dataclass(frozen=True)
class Counter:
    """One per-file counter of the C core, spelled as Darshan spells it."""

    name: str
    unit: str
    meaning: str


# As csrc/tfdarshan.h has it, by the option's values.
MAPPED: dict[bool | str, int] = {False: 0, True: 1, "auto": 2}


def start_session(
    spool_directory: Path,
    *,
    capacity_bytes: int,
    trace_limit_bytes: int,
    include: Sequence[str],
    exclude: Sequence[str],
    follow_children: bool,
    exclude_followed: int = 0,
    darshan: bool = False,
    program_library: Path | None = None,
    mapped: bool | str = False,
) -> AttachReport:
    """Attach to this process and start recording into `spool_directory`.

    Programs without Python that it starts have `program_library` loaded; None: they are not recorded.
    Whether a path met them is noted of all include patterns and of the first `exclude_followed` others.

    Raises:
        StorageError: The spool could not be made, or attaching failed; nothing is attached then.
    """
    ffi, lib = core()
    options, _kept = _c_options(
        spool_directory, capacity_bytes, trace_limit_bytes, include, exclude, follow_children
    )
    options.exclude_followed = exclude_followed
    options.darshan = int(darshan)
    library = None if program_library is None else ffi.new("char[]", os.fsencode(program_library))
    options.program_library = ffi.NULL if library is None else library
    options.mapped = MAPPED[mapped]
    report = ffi.new("struct tfd_attach_report *")
    _check(lib.tfd_session_start(options, report), "recording did not start")
    return AttachReport(**plain(report[0]))


def emulate(model: StorageModel | None, paths: Sequence[str]) -> None:
    """Make the next session's calls on `paths` last as long as `model` says; None: as long as they last.

    Raises:
        StorageError: It cannot be set up.
    """
    ffi, lib = core()
    if model is None:
        lib.tfd_emulate(ffi.NULL, ffi.NULL, 0)
        return
    strings = _c_strings(paths)
    wanted = ffi.new("struct tfd_storage_model *")
    wanted.open_ns, wanted.read_ns, wanted.write_ns = (
        round(seconds * 1e9) for seconds in (model.open_s, model.read_s, model.write_s)
    )
    wanted.empty_read_ns, wanted.stat_ns, wanted.sync_ns = (
        round(seconds * 1e9) for seconds in (model.empty_read_s, model.stat_s, model.sync_s)
    )
    wanted.concurrency = model.concurrency
    for place in range(lib.TFD_STORAGE_PLACES):
        wanted.seek_ns[place] = round(model.seek_time_s(place + 1) * 1e9)
    wanted.read_bytes_per_s = round(model.read_bandwidth)
    wanted.write_bytes_per_s = round(model.write_bandwidth)
    _check(lib.tfd_emulate(wanted, strings[0], len(paths)), "the storage cannot be emulated")


def emulation_totals() -> EmulationTotals:
    """Return what the last emulated session's device did."""
    totals = core().ffi.new("struct tfd_emulation_totals *")
    core().lib.tfd_emulation_totals(totals)
    return EmulationTotals(**plain(totals[0]))


def stop_session() -> AttachReport:
    """Detach, publish all threads' events and end the recording of this process.

    Raises:
        StorageError: No session was recording, or it could not be ended.
    """
    report = core().ffi.new("struct tfd_attach_report *")
    _check(core().lib.tfd_session_stop(report), "recording did not stop cleanly")
    return AttachReport(**plain(report[0]))


def session_active() -> bool:
    """Return whether this process is recording."""
    return bool(core().lib.tfd_session_active())


def copy_own_spool(source: int, target: int) -> bool:
    """Copy the spool that this process records into, as it is at one moment. The job's threads may wait.

    Args:
        source: A descriptor of the spool.
        target: A descriptor of an empty file.

    Returns:
        False: this process records into another file, or into none.

    Raises:
        StorageError: The copy cannot be written.
    """
    status = core().lib.tfd_session_copy(source, target)
    if status != -errno.ESRCH:
        _check(status, "the recording cannot be read meanwhile")
    return bool(status == 0)


def kernel_reads() -> tuple[int, int] | None:
    """Return rchar and read_bytes of this process so far, without the recorder's own; None if unknown.

    The call is not recorded, whatever records.
    """
    ffi, lib = core()
    rchar, read_bytes = ffi.new("int64_t *"), ffi.new("int64_t *")
    lib.tfd_kernel_reads(rchar, read_bytes)
    return (rchar[0], read_bytes[0]) if rchar[0] >= 0 else None


LONGEST_NS = 2**62  # 146 years


def start_redirect(files: Sequence[StagedFile], trusted_s: float) -> str:
    """Lead opens for reading to the files' copies while a session records.

    Args:
        files: The files.
        trusted_s: For how long a look at an original holds, in seconds; infinity for the whole run.

    Returns:
        Why programs that join the session are not led there; "" if they are, or there is no such session.

    Raises:
        StorageError: Staged files are in use already, or there is no memory for their names.
    """
    ffi, lib = core()
    staged = ffi.new("struct tfd_staged_file[]", max(len(files), 1))
    kept = []
    for entry, file in zip(staged, files, strict=False):
        kept += [ffi.new("char[]", os.fsencode(name)) for name in (file.original, file.copy)]
        entry.original, entry.copy = kept[-2:]
        entry.size = file.size
        entry.original_mtime_ns, entry.copy_mtime_ns = file.original_mtime_ns, file.copy_mtime_ns
    trusted_ns = int(min(trusted_s * 1e9, LONGEST_NS))
    code = lib.tfd_redirect_start(staged, len(files), trusted_ns)
    _check(code, "staged files cannot be used")
    return last_error() if code == lib.TFD_REDIRECTED_HERE_ONLY else ""


def look_ahead(most: int, for_s: float) -> None:
    """Have processes of the core's look at all originals that nobody has looked at; return at once.

    They are forks of this process, no children that `os.wait()` finds, and end with it.

    Args:
        most: As many at most; one, where looks are quick.
        for_s: For how long, in seconds.
    """
    core().lib.tfd_redirect_look_ahead(most, int(for_s * 1e9))


def stop_redirect() -> None:
    """End redirecting; files that are open stay so."""
    core().lib.tfd_redirect_stop()


def redirect_totals() -> RedirectTotals:
    """Count what opens of staged files got since redirecting began."""
    totals = core().ffi.new("struct tfd_redirect_totals *")
    core().lib.tfd_redirect_totals(totals)
    return RedirectTotals(**plain(totals[0]))


def enable_tensorflow(
    spool_folder: Path,
    *,
    capacity_bytes: int,
    trace_limit_bytes: int,
    smallest_bytes: int,
    include: Sequence[str],
    exclude: Sequence[str],
    follow_children: bool,
    mapped: bool | str = False,
) -> None:
    """Let the plug-in record every session of TensorFlow's profiler, into spools made in `spool_folder`.

    Raises:
        StorageError: There is no memory for the options.
    """
    options, _kept = _c_options(
        spool_folder, capacity_bytes, trace_limit_bytes, include, exclude, follow_children
    )
    options.mapped = MAPPED[mapped]
    _check(core().lib.tfd_tf_enable(options, smallest_bytes, 0), "TensorFlow's profiler is not followed")


def disable_tensorflow() -> None:
    """Undo `enable_tensorflow`; the plug-in stays loaded and does nothing by itself."""
    core().lib.tfd_tf_disable()


def tensorflow_registered() -> bool:
    """Return whether TensorFlow has taken the plug-in."""
    return bool(core().lib.tfd_tf_registered())


def tensorflow_session_written(written: bool) -> None:
    """Say whether the recording is written beside TensorFlow's trace, which need not carry it then."""
    core().lib.tfd_tf_session_written(int(written))


def last_tensorflow_session() -> TensorflowSession:
    """Return what the plug-in did in TensorFlow's newest profiler session."""
    report = core().ffi.new("struct tfd_tf_report *")
    _check(core().lib.tfd_tf_last_session(report), "TensorFlow's sessions cannot be read")
    return TensorflowSession(**plain(report[0]))


def take_over_session(spool_directory: Path) -> bool:
    """Return whether the library for programs recorded this process, for which the core does from now on."""
    return core().lib.tfd_session_take_over(os.fsencode(spool_directory)) == 0


def slots_holding_wrappers() -> int:
    """Count slots of all loaded objects that hold a wrapper: 0 when detached."""
    return int(core().lib.tfd_slots_holding_wrappers())


def hooks() -> list[Hook]:
    """List the hooked symbols, one entry each."""
    lib = core().lib
    return [
        Hook(
            text(lib.tfd_hook_name(index)),
            text(lib.tfd_hook_operation(index)),
            bool(lib.tfd_hook_available(index)),
            int(lib.tfd_hook_slots(index)),
        )
        for index in range(lib.tfd_hook_count())
    ]


@lru_cache(maxsize=1)
def operations() -> tuple[Operation, ...]:
    """List the operations; an event's operation code is the index."""
    lib = core().lib
    return tuple(
        Operation(
            text(lib.tfd_operation_name(code)),
            text(lib.tfd_operation_module(code)),
            text(lib.tfd_operation_class(code)),
        )
        for code in range(lib.tfd_operation_count())
    )


@lru_cache(maxsize=1)
def counters() -> tuple[Counter, ...]:
    """List the integer counters of a file, in the order of a batch's columns."""
    lib = core().lib
    return _counters(
        lib.tfd_counter_count(), lib.tfd_counter_name, lib.tfd_counter_unit, lib.tfd_counter_meaning
    )


@lru_cache(maxsize=1)
def f_counters() -> tuple[Counter, ...]:
    """List the floating-point counters of a file, in the order of a batch's columns."""
    lib = core().lib
    return _counters(
        lib.tfd_f_counter_count(), lib.tfd_f_counter_name, lib.tfd_f_counter_unit, lib.tfd_f_counter_meaning
    )


def record_id(name: bytes) -> int:
    """Return Darshan's id of a record: a hash of its name, which for a file is its path."""
    return int(core().lib.tfd_record_id(name, len(name)))


def _counters(count: int, name: Any, unit: Any, meaning: Any) -> tuple[Counter, ...]:
    return tuple(Counter(text(name(i)), text(unit(i)), text(meaning(i))) for i in range(count))


def _c_options(
    spool_directory: Path,
    capacity_bytes: int,
    trace_limit_bytes: int,
    include: Sequence[str],
    exclude: Sequence[str],
    follow_children: bool,
) -> tuple[Any, Any]:
    """Return a struct tfd_options, and what has to live as long as it does."""
    ffi = core().ffi
    includes, excludes = (_c_strings(patterns) for patterns in (include, exclude))
    directory = ffi.new("char[]", os.fsencode(spool_directory))
    options = ffi.new("struct tfd_options *")
    options.spool_directory = directory
    options.capacity_bytes = capacity_bytes
    options.trace_limit_bytes = trace_limit_bytes
    options.include, options.include_count = includes[0], len(include)
    options.exclude, options.exclude_count = excludes[0], len(exclude)
    options.follow_children = int(follow_children)
    return options, (includes, excludes, directory)


def _c_strings(strings: Sequence[str]) -> tuple[Any, list[Any]]:
    ffi = core().ffi
    kept = [ffi.new("char[]", os.fsencode(string)) for string in strings]
    return ffi.new("char *[]", kept or [ffi.NULL]), kept


def _check(code: int, what: str) -> None:
    if code < 0:
        raise StorageError(f"{what}: {last_error() or os.strerror(-code)}.")
