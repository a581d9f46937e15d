"""Proves each hook with one known call: slots patched, the expected events, errno kept, slots restored.

The calls are made by an extension of their own (csrc/probe/), through its own slots. Each gets a session of
its own, so that whatever the spool holds must come from this call.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.durable.user_folders import temporary_folder
from tfdarshan.errors import StorageError, TfdarshanError
from tfdarshan.native import _bridge, _extension
from tfdarshan.native.spool_reader import SpoolReader
from tfdarshan.units import plural

OK, MISSING, UNTRIED, FAILED = "ok", "not in this libc", "untried", "FAILED"
CAPACITY_BYTES = 16 << 20
TRACE_BYTES = 4 << 20
ANY_OFFSET = -(1 << 63)
ANY_FILE = -1
MAX_EVENTS = 2


@dataclass(frozen=True)
class HookProof:
    """What came of one hook's call.

    `state` is "ok", "not in this libc", "untried" (the call fails here without us as well) or "FAILED";
    `finding` says why where it is none of the first two. `slots` counts slots patched in the whole process.
    """

    hook: str
    operation: str
    slots: int
    state: str
    finding: str = ""


@dataclass(frozen=True)
class Event:
    """An event as it is compared; offset ANY_OFFSET and path None stand for any."""

    operation: str
    error: int
    offset: int
    length: int
    path: str | None

    def __str__(self) -> str:
        """Return it as a sentence shows it."""
        failed = f" failed with errno {self.error}" if self.error else ""
        return f"{self.operation}{failed} of {self.length} bytes at {self.offset} in {self.path}"

    def matches(self, expected: Event) -> bool:
        """Return whether this event is the expected one."""
        return (
            (self.operation, self.error, self.length) == (expected.operation, 0, expected.length)
            and expected.offset in (ANY_OFFSET, self.offset)
            and expected.path in (None, self.path)
        )


@dataclass(frozen=True)
class Call:
    """What a probe's call did: whether it worked, errno after it, the paths it worked on."""

    ok: bool
    error: int
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """What attaching, the call and detaching left behind."""

    call: Call
    slots: int
    slots_patched: int
    slots_restored: int
    slots_left: int
    events: tuple[Event, ...]


def prove_hooks() -> list[HookProof]:
    """Try every hook; takes about a second.

    Raises:
        StorageError: No files to try them on could be made, or no session started.
    """
    probes = _probes()
    with tempfile.TemporaryDirectory(prefix="tfdarshan-doctor-", dir=temporary_folder()) as name:
        folder = Path(name).resolve()
        return [
            _proof(index, hook, probes.get(hook.name), folder) for index, hook in enumerate(_bridge.hooks())
        ]


def _probes() -> dict[str, int]:
    lib = _extension.probe().lib
    return {_extension.text(lib.tfd_probe_symbol(probe)): probe for probe in range(lib.tfd_probe_count())}


def _proof(index: int, hook: _bridge.Hook, probe: int | None, folder: Path) -> HookProof:
    if probe is None:
        return HookProof(hook.name, hook.operation, 0, FAILED, "no call is known that would prove it")
    if not _extension.probe().lib.tfd_probe_linked(probe):
        return HookProof(hook.name, hook.operation, 0, MISSING)
    alone = _call_detached(probe, folder)
    if not alone.ok:
        why = f"fails here without us as well ({os.strerror(alone.error)})"
        return HookProof(hook.name, hook.operation, 0, UNTRIED, why)
    try:
        trial = _try(index, probe, folder)
    except TfdarshanError as error:
        return HookProof(hook.name, hook.operation, 0, FAILED, str(error))
    why = _problem(trial, alone, _expected(probe, trial.call))
    return HookProof(hook.name, hook.operation, trial.slots, FAILED if why else OK, why)


def _call_detached(probe: int, folder: Path) -> Call:
    _begin(probe, folder)
    _extension.probe().lib.tfd_probe_call(probe)
    return _end(probe)


def _try(index: int, probe: int, folder: Path) -> Trial:
    call = _extension.probe().lib.tfd_probe_call
    slots_of = _extension.core().lib.tfd_hook_slots
    _begin(probe, folder)
    started = _bridge.start_session(
        folder,
        capacity_bytes=CAPACITY_BYTES,
        trace_limit_bytes=TRACE_BYTES,
        include=(),
        exclude=(),
        follow_children=False,
    )
    slots = slots_of(index)
    call(probe)
    stopped = _bridge.stop_session()
    spool = folder / f"{os.getpid()}.spool"
    events = _events(spool)
    spool.unlink()
    return Trial(
        _end(probe),
        slots,
        started.slots_patched,
        stopped.slots_restored,
        _bridge.slots_holding_wrappers(),
        events,
    )


def _begin(probe: int, folder: Path) -> None:
    error = _extension.probe().lib.tfd_probe_begin(probe, os.fsencode(folder))
    if error:
        raise StorageError(f"no files to try the hooks on can be made in {folder}: {os.strerror(-error)}.")


def _end(probe: int) -> Call:
    ffi, lib = _extension.probe()
    outcome = ffi.new("struct tfd_probe_outcome *")
    lib.tfd_probe_end(probe, outcome)
    return Call(
        bool(outcome.ok), outcome.error, tuple(os.fsdecode(ffi.string(path)) for path in outcome.path)
    )


def _events(spool: Path) -> tuple[Event, ...]:
    operations = _bridge.operations()
    events: list[Event] = []
    with SpoolReader(spool) as reader:
        for batch in reader.event_batches(64):
            columns = (batch.operation, batch.error, batch.offset, batch.length)
            rows: Any = zip(*(column.tolist() for column in columns), reader.paths(batch.file), strict=True)
            events += [Event(operations[row[0]].name, *row[1:]) for row in rows]
    return tuple(events)


def _expected(probe: int, call: Call) -> list[Event]:
    ffi, lib = _extension.probe()
    found = ffi.new("struct tfd_probe_event[]", MAX_EVENTS)
    count = lib.tfd_probe_events(probe, found, MAX_EVENTS)
    return [
        Event(
            os.fsdecode(ffi.string(event.operation)),
            0,
            event.offset,
            event.length,
            None if event.file == ANY_FILE else call.paths[event.file],
        )
        for event in found[0:count]
    ]


def _problem(trial: Trial, alone: Call, expected: list[Event]) -> str:
    """Describe what is wrong, "" where nothing is."""
    if not trial.slots:
        return "no slot was patched"
    if not trial.call.ok:
        return f"the call failed while attached ({os.strerror(trial.call.error)})"
    if trial.call.error != alone.error:
        return f"errno is {trial.call.error} after the call instead of {alone.error}"
    if trial.slots_restored != trial.slots_patched or trial.slots_left:
        return f"{plural(trial.slots_left, 'slot')} still patched after the session"
    if len(trial.events) != len(expected) or not all(
        event.matches(wanted) for event, wanted in zip(trial.events, expected, strict=True)
    ):
        found = "; ".join(map(str, trial.events)) or "nothing"
        return f"recorded {found} instead of {'; '.join(map(str, expected)) or 'nothing'}"
    return ""
