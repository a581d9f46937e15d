"""What runs the hot loop: without recording, recorded by tfdarshan, or under a peer's preloaded library."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from tests.perf.compiled import compile_library, compile_program
from tests.perf.timing import Timing
from tfdarshan.errors import EngineError
from tfdarshan.native import _bridge
from tfdarshan.options import Options
from tfdarshan.recording.engine import choose_engine
from tfdarshan.recording.spool import choose_folder, remove_spool

MIB = 1 << 20
FILE_BYTES = 1 << 20
OPTIONS = Options()


class _CTiming(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_double) for name in Timing._fields)


@dataclass(frozen=True)
class Loop:
    """One loop of hot_loop.c: `calls` per thread and run, after `warm_up` that are not timed."""

    symbol: str
    label: str
    calls: int
    warm_up: int = 1000


class Contender(Protocol):
    """Anything that can run a loop, with and without recording."""

    @property
    def name(self) -> str:
        """What a table calls it."""

    def plain(self, loop: Loop, threads: int) -> Timing:
        """Run the loop unrecorded in the same setting."""

    def recorded(self, loop: Loop, threads: int) -> Timing:
        """Run the loop recorded."""


class HotLoop:
    """The compiled loops and the files they use."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        self.folder = folder / "hot"
        self.folder.mkdir()
        for number in range(threads):
            (self.folder / str(number)).write_bytes(bytes(FILE_BYTES))
        self.program = compile_program("hot_loop", folder)
        self._run = compile_library("hot_loop", folder).hot_loop_run
        strings, numbers = (ctypes.c_char_p,) * 2, (ctypes.c_int, ctypes.c_long, ctypes.c_long)
        self._run.argtypes = (*strings, *numbers, ctypes.POINTER(_CTiming))

    def run_here(self, loop: Loop, threads: int, warm_up: int) -> Timing:
        """Run a loop in this process."""
        found = _CTiming()
        names = loop.symbol.encode(), os.fsencode(self.folder)
        if self._run(*names, threads, warm_up, loop.calls, found):
            raise ValueError(f"hot_loop.c has no loop {loop.symbol} for {threads} threads")
        return Timing(*(getattr(found, name) for name in Timing._fields))

    def run_program(
        self, loop: Loop, threads: int, calls: int, prefix: tuple[str, ...], environment: Mapping[str, str]
    ) -> Timing:
        """Run a loop in a process of its own."""
        numbers = map(str, (threads, loop.warm_up, calls))
        command = [*prefix, str(self.program), loop.symbol, str(self.folder), *numbers]
        ran = subprocess.run(
            command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True
        )
        return Timing(*map(float, ran.stdout.split()))


@dataclass(frozen=True)
class Recorded:
    """tfdarshan, attached to this process and detached again for every run."""

    name: str
    loops: HotLoop
    trace_limit_bytes: int = OPTIONS.trace_limit_mb * MIB
    warm_up: int | None = None
    darshan: bool = False

    def plain(self, loop: Loop, threads: int) -> Timing:
        """Run the loop with nothing attached."""
        return self.loops.run_here(loop, threads, self._warm_up(loop))

    def recorded(self, loop: Loop, threads: int) -> Timing:
        """Run the loop in a session of its own, with a new spool as every session has."""
        spool = Path(tempfile.mkdtemp(prefix="tfdarshan-bench-", dir=choose_folder(OPTIONS)))
        try:
            _bridge.start_session(
                spool,
                capacity_bytes=OPTIONS.memory_cap_mb * MIB,
                trace_limit_bytes=self.trace_limit_bytes,
                include=OPTIONS.include_patterns(),
                exclude=OPTIONS.exclude_patterns(),
                follow_children=True,
                darshan=self.darshan,
            )
            try:
                return self.loops.run_here(loop, threads, self._warm_up(loop))
            finally:
                _bridge.stop_session()
        finally:
            remove_spool(spool)

    def _warm_up(self, loop: Loop) -> int:
        return loop.warm_up if self.warm_up is None else self.warm_up


@dataclass(frozen=True)
class Floor:
    """A bare recorder of every call, compiled into the loop: the floor of the bounds.

    It takes two time stamps and writes 40 bytes to memory of the thread's own; nothing is looked up or
    counted. `suffix` names the variant of the loop.
    """

    name: str
    loops: HotLoop
    suffix: str

    def plain(self, loop: Loop, threads: int) -> Timing:
        """Run the loop as it is."""
        return self.loops.run_here(loop, threads, loop.warm_up)

    def recorded(self, loop: Loop, threads: int) -> Timing:
        """Run the loop that notes its calls."""
        return self.loops.run_here(replace(loop, symbol=loop.symbol + self.suffix), threads, loop.warm_up)


@dataclass(frozen=True)
class Peer:
    """Another tool: started with the process, so every run is a process of its own.

    `share` is the part of a loop's calls that it makes: slow ones make fewer. `trace` is what it writes;
    `blind` names loops that it cannot see.
    """

    name: str
    loops: HotLoop
    trace: Path
    prefix: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    share: float = 1.0
    blind: tuple[str, ...] = ()

    def plain(self, loop: Loop, threads: int) -> Timing:
        """Run the program without the tool."""
        return self.loops.run_program(loop, threads, self._calls(loop), (), {})

    def recorded(self, loop: Loop, threads: int) -> Timing:
        """Run the program under the tool, which finds nothing of the run before."""
        for path in self.written():
            path.unlink()
        return self.loops.run_program(loop, threads, self._calls(loop), self.prefix, self.environment)

    def written(self) -> list[Path]:
        """List the files the tool wrote: `trace`, or all in it if that is a folder."""
        paths = self.trace.rglob("*") if self.trace.is_dir() else [self.trace]
        return [path for path in paths if path.is_file()]

    def _calls(self, loop: Loop) -> int:
        return max(1000, round(loop.calls * self.share))


OWN = "tfdarshan"
FLOOR = "floor: two time stamps, 40 bytes"
"""The bare recorder that uses its memory again."""
DARSHAN_ENGINE = "tfdarshan, darshan engine"
# The cost of a call does not depend on how many files there is room for.
DARSHAN_FILES = 4096


def darshan_engine(loops: HotLoop, folder: Path) -> Recorded:
    """Return tfdarshan with libdarshan counting beside it; from then on libdarshan is in this process.

    Raises:
        LookupError: There is none that can be used.
    """
    try:
        choose_engine("darshan", None, files=DARSHAN_FILES, folder=folder)
    except EngineError as error:
        raise LookupError(f"The darshan engine is left out: {error}") from error
    return Recorded(DARSHAN_ENGINE, loops, darshan=True)


def floors(loops: HotLoop) -> list[Floor]:
    """List the floors of a transfer's cost: where memory costs nothing, and where every event needs its own.

    What is kept needs new pages.
    """
    return [
        Floor(FLOOR, loops, "_noted"),
        Floor("floor, in new pages", loops, "_kept"),
    ]


def own_contenders(loops: HotLoop) -> list[Recorded]:
    """List tfdarshan as it is used: with the trace, without, and once the trace has reached its bound.

    In the last two a thread of tfdarshan folds the calls into the counters.
    """
    return [
        Recorded(OWN, loops),
        Recorded("tfdarshan, trace off", loops, trace_limit_bytes=0),
        Recorded("tfdarshan, trace full", loops, trace_limit_bytes=MIB, warm_up=70_000),
    ]
