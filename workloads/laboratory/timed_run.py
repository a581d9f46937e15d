"""One run of a program in a process of its own: its seconds, its session, and how disturbed it was.

Imports are the same work in each run of a job, and take seconds if they are of TensorFlow or PyTorch: they
count for as long as they took in the job's first run. Runs after it may be forked from a process that has
imported it (`warm_python`).
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from ..machine import busy_elsewhere_s, stolen_s
from .busy_processors import OtherLoad, other_load
from .program import Program
from .program_source import source
from .storage_room import StorageRoom
from .warm_python import Finished, WarmPython

LIMIT_S = 120.0
ROOM_FOR_IMPORTS_S = 10.0
PRINTED = re.compile(r"([\d.]+) s in all, ([\d.]+) s of training")
IMPORTS = re.compile(r"([\d.]+) s of imports")
STEPS = re.compile(r"([\d.]+) s of steps")
EPOCHS = re.compile(r"epochs ended after ([\d. ]+) s")


@dataclass(frozen=True)
class TimedRun:
    """One.

    Attributes:
        seconds: Of training where steps were marked, else of the whole program, as its session has it.
        logdir: Holds its session.
        later_s: A later epoch than the first, on average; None where there is none.
        disturbed: For what part of it another virtual machine had a processor.
        crowded: And other processes; above 1 where they had several processors.
        imports_s: What of `seconds` its imports took; 0 where only training counts.
        stopped: It was ended after `seconds`, for it took longer than anybody had to know.
        failure: The last line that it said where it ended with an error, "" if it did not.
        trained_s: Seconds of training, with what follows the last step; all but the imports if not given.
        stepped_s: From the first step's start to the last one's end; `trained_s` if not given.
    """

    seconds: float
    logdir: Path
    later_s: float | None = None
    disturbed: float = 0.0
    crowded: float = 0.0
    imports_s: float = 0.0
    stopped: bool = False
    failure: str = ""
    trained_s: float = math.nan
    stepped_s: float = math.nan

    def __post_init__(self) -> None:
        if math.isnan(self.trained_s):
            object.__setattr__(self, "trained_s", self.seconds - self.imports_s)
        if math.isnan(self.stepped_s):
            object.__setattr__(self, "stepped_s", self.trained_s)


class Runner:
    """Runs programs of one job, each in its own folder.

    `warm` runs those that use its library, but for the ones whose session begins before their imports and is
    asked what to do.
    """

    def __init__(self, room: StorageRoom, warm: WarmPython | None = None) -> None:
        self.room = room
        self.runs = 0
        self.warm = warm
        self.imports_s: float | None = None

    def next_logdir(self) -> Path:
        """Return the folder of the next run."""
        return self.room.folder / "runs" / f"{self.runs:03}" / "logs"

    def run(
        self,
        program: Program,
        text: str | None = None,
        plan: Path | None = None,
        *,
        asked: bool = False,
        limit_s: float = LIMIT_S,
    ) -> TimedRun:
        """Run one, on storage in the state that the job says.

        Args:
            program: Which; its data is put in place first.
            text: Its source where that is another than the program's own.
            plan: Of files that were staged, which are to be read instead.
            asked: Its session is asked what to do: it has all that a user's has, imports as well.
            limit_s: Of what is timed: a run that takes longer is stopped.
        """
        self.room.place(program)
        logdir = self.next_logdir()
        self.runs += 1
        file = logdir.parent / "train.py"
        file.parent.mkdir(parents=True)
        file.write_text(text if text is not None else source(program, logdir), encoding="utf-8")
        whole = not program.marked and (asked or self.imports_s is None)
        warm = self.warm if program.library and not whole else None
        with self.room.ready():
            words = _command(program, file, logdir, plan)
            run = _timed(words, program, logdir, warm, limit_s, self.room.job.load)
        return self._with_imports(run, program)

    def _with_imports(self, run: TimedRun, program: Program) -> TimedRun:
        """Count imports as long as they took at first, where they count at all."""
        if program.marked or run.failure or run.stopped:
            return run
        if self.imports_s is None:
            self.imports_s = run.imports_s
        return replace(run, seconds=run.seconds - run.imports_s + self.imports_s, imports_s=self.imports_s)


def _command(program: Program, file: Path, logdir: Path, plan: Path | None) -> list[str]:
    """Return what follows `python`."""
    if program.marked and plan is None:
        return [str(file)]
    options = ["--logdir", str(logdir)]
    if program.as_if:
        options += ["--as-if", program.as_if]
        for folder in (program.folders.data, program.folders.out):
            options += ["--as-if-paths", f"{folder}/"]
    if plan is not None:
        options += ["--staged", str(plan)]
    return ["-m", "tfdarshan", "run", *options, str(file)]


def _timed(
    words: list[str],
    program: Program,
    logdir: Path,
    warm: WarmPython | None,
    limit_s: float,
    load: OtherLoad | None,
) -> TimedRun:
    stolen, elsewhere, start_s = stolen_s(), busy_elsewhere_s(), time.perf_counter()
    try:
        run = _run_cold if warm is None else warm.run
        # What they took is this process's children's: it is not counted as what crowds the machine.
        with other_load(load):
            done = run(words, logdir.parent, min(LIMIT_S, limit_s + ROOM_FOR_IMPORTS_S))
    except subprocess.TimeoutExpired:
        if limit_s < LIMIT_S:
            return TimedRun(limit_s, logdir, stopped=True)
        return TimedRun(limit_s, logdir, failure=f"it took longer than {LIMIT_S:.0f} s")
    lasted_s = time.perf_counter() - start_s
    printed = PRINTED.search(done.out)
    if done.code or printed is None:
        said = done.err.strip().splitlines()
        # What tfdarshan says last is of its session, not of the failure.
        lines = [line for line in said if not line.startswith("tfdarshan: ")] or [f"exit code {done.code}"]
        return TimedRun(lasted_s, logdir, failure=lines[-1][:200])
    seconds = float(printed[2] if program.marked else printed[1])
    disturbed = (stolen_s() - stolen) / lasted_s
    crowded = (busy_elsewhere_s() - elsewhere - done.cpu_s) / lasted_s
    imported = IMPORTS.search(done.out)
    imports_s = float(imported[1]) if imported and not program.marked else 0.0
    stepped = STEPS.search(done.out)
    return TimedRun(
        seconds, logdir, _later_s(done.out), disturbed, max(0.0, crowded), imports_s,
        trained_s=float(printed[2]), stepped_s=float(stepped[1]) if stepped else math.nan,
    )  # fmt: skip


def _run_cold(words: list[str], folder: Path, limit_s: float) -> Finished:
    program = subprocess.Popen(
        [sys.executable, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=folder,
        start_new_session=True,
    )
    try:
        out, err = program.communicate(timeout=limit_s)
    except BaseException:
        # Workers that others than the program have forked do not end with it, and hold its storage.
        os.killpg(program.pid, signal.SIGKILL)
        program.communicate()
        raise
    return Finished(program.returncode, out, err)


def _later_s(text: str) -> float | None:
    """Return what a later epoch took, by what the program printed."""
    printed = EPOCHS.search(text)
    ends_s = [float(word) for word in printed[1].split()] if printed else []
    return (ends_s[-1] - ends_s[0]) / (len(ends_s) - 1) if len(ends_s) > 1 else None


def environment() -> dict[str, str]:
    """Return that of the programs: `tfdarshan` is found, and TensorFlow says only what is wrong."""
    folder = Path(sys.executable).parent
    return os.environ | {
        "PATH": f"{folder}:{os.environ.get('PATH', os.defpath)}",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


def run_commands(line: str, folder: Path) -> str:
    """Run a printed command line in a folder; return what it said where it failed, else ""."""
    done = subprocess.run(
        ["/bin/sh", "-ec", line],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=environment(),
        cwd=folder,
    )
    if not done.returncode:
        return ""
    return (done.stderr.strip().splitlines() or [json.dumps({"exit": done.returncode})])[-1]
