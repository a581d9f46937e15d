"""One run of a program in a process of its own: its seconds, its session, and how disturbed it was."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ..machine import busy_elsewhere_s, stolen_s
from .program import Program
from .program_source import source
from .storage_room import StorageRoom

LIMIT_S = 120
PRINTED = re.compile(r"([\d.]+) s in all, ([\d.]+) s of training")
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
        failure: The last line that it said where it ended with an error, "" if it did not.
    """

    seconds: float
    logdir: Path
    later_s: float | None = None
    disturbed: float = 0.0
    crowded: float = 0.0
    failure: str = ""


class Runner:
    """Runs programs of one job, each in its own folder."""

    def __init__(self, room: StorageRoom) -> None:
        self.room = room
        self.runs = 0

    def next_logdir(self) -> Path:
        """Gives the folder of the next run."""
        return self.room.folder / "runs" / f"{self.runs:03}" / "logs"

    def run(self, program: Program, text: str | None = None, plan: Path | None = None) -> TimedRun:
        """Runs one, on storage in the state that the job says.

        Args:
            program: Which; its data is put in place first.
            text: Its source where that is another than the program's own.
            plan: Of files that were staged, which are to be read instead.
        """
        self.room.place(program)
        logdir = self.next_logdir()
        self.runs += 1
        file = logdir.parent / "train.py"
        file.parent.mkdir(parents=True)
        file.write_text(text if text is not None else source(program, logdir), encoding="utf-8")
        with self.room.ready():
            return _timed(_command(program, file, logdir, plan), program, logdir)


def _command(program: Program, file: Path, logdir: Path, plan: Path | None) -> list[str]:
    if program.marked and plan is None:
        return [sys.executable, str(file)]
    options = ["--logdir", str(logdir)]
    if program.as_if:
        options += ["--as-if", program.as_if]
        for folder in (program.folders.data, program.folders.out):
            options += ["--as-if-paths", f"{folder}/"]
    if plan is not None:
        options += ["--staged", str(plan)]
    return [sys.executable, "-m", "tfdarshan", "run", *options, str(file)]


def _timed(command: list[str], program: Program, logdir: Path) -> TimedRun:
    stolen, elsewhere, start_s = stolen_s(), busy_elsewhere_s(), time.perf_counter()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT_S, env=environment(), cwd=logdir.parent
        )
    except subprocess.TimeoutExpired:
        return TimedRun(float(LIMIT_S), logdir, failure=f"it took longer than {LIMIT_S} s")
    lasted_s = time.perf_counter() - start_s
    printed = PRINTED.search(done.stdout)
    if done.returncode or printed is None:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return TimedRun(lasted_s, logdir, failure=lines[-1][:200])
    seconds = float(printed[2] if program.marked else printed[1])
    disturbed, crowded = (stolen_s() - stolen) / lasted_s, (busy_elsewhere_s() - elsewhere) / lasted_s
    return TimedRun(seconds, logdir, _later_s(done.stdout), disturbed, max(0.0, crowded))


def _later_s(text: str) -> float | None:
    """Gives what a later epoch took, by what the program printed."""
    printed = EPOCHS.search(text)
    ends_s = [float(word) for word in printed[1].split()] if printed else []
    return (ends_s[-1] - ends_s[0]) / (len(ends_s) - 1) if len(ends_s) > 1 else None


def environment() -> dict[str, str]:
    """Gives that of the programs: `tfdarshan` is found, and TensorFlow says only what is wrong."""
    folder = Path(sys.executable).parent
    return os.environ | {
        "PATH": f"{folder}:{os.environ.get('PATH', os.defpath)}",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


def run_commands(line: str, folder: Path) -> str:
    """Runs a printed command line in a folder; gives what it said where it failed, else ""."""
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
