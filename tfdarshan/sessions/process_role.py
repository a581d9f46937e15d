"""Who a process of a session is: the main one, a worker of a pool or loader, a helper, or a program.

It is told by what is known of each process by itself, without asking it: who started it and how, and its
command line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from tfdarshan.file_name import command_words

MAIN, WORKER, HELPER, PROGRAM = "main", "worker", "helper", "program"
# What the start of a process by multiprocessing, loky and their like runs.
HELPER_CODE = re.compile(r"\bfrom [\w.]*\b(resource_tracker|semaphore_tracker|forkserver) import main\b")
WORKER_CODE = re.compile(r"\bfrom [\w.]*\bspawn import spawn_main\b")
WORKER_MODULES = ("popen_loky_posix",)
MANAGER = re.compile(r"^\w*Manager-\d")
SHELLS = frozenset(("ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"))
INTERPRETER = re.compile(r"^(python|pypy)[\d.]*[a-z]?$")
# Options of the interpreter that take a value.
LONG_WITH_VALUE = ("--check-hash-based-pycs",)
SHORT_WITH_VALUE = "WX"


@dataclass(frozen=True)
class Role:
    """What a process is in its session.

    Attributes:
        kind: MAIN, WORKER, HELPER or PROGRAM.
        number: Of a worker, from 1 on, in the order in which they were started.
        name: Of a helper what it does, of a program its script or module, of a worker what it calls itself;
            "" if unknown.
    """

    kind: str
    number: int = 0
    name: str = ""

    @property
    def label(self) -> str:
        """Words it in short."""
        if self.kind == WORKER:
            return f"worker {self.number}" if self.number else "worker"
        return self.name or self.kind


@dataclass(frozen=True)
class KnownProcess:
    """What tells the role of a process.

    Attributes:
        pid: Its number, which another one may have had before it.
        process_start: When it began, in clock ticks since boot; 0 if unknown.
        parent_pid: Who started it.
        owner: It started the session.
        joined: It was started as a program, not forked.
        start_ns: When it began to record, on the session's clock.
        arguments: Its command line.
        name: What multiprocessing calls it; "" if unknown.
    """

    pid: int
    parent_pid: int
    owner: bool
    joined: bool
    start_ns: int
    arguments: Sequence[str]
    process_start: int = 0
    name: str = ""


def roles_of(processes: Sequence[KnownProcess]) -> list[Role]:
    """Return the role of each; workers have no number yet."""
    programs: dict[tuple[int, int], list[KnownProcess]] = {}
    for process in processes:
        if process.joined and process.process_start:
            programs.setdefault((process.pid, process.process_start), []).append(process)
    return [_role(process, programs.get((process.pid, process.process_start), ())) for process in processes]


class WorkerNumbers:
    """Give workers their numbers, to be asked in the order in which they were started."""

    def __init__(self) -> None:
        self._given = 0

    def numbered(self, role: Role) -> Role:
        """Return the role with the next number, if it is a worker's."""
        if role.kind != WORKER:
            return role
        self._given += 1
        return replace(role, number=self._given)


def session_roles(metas: Sequence[dict[str, Any]]) -> list[Role]:
    """Return the roles of a session's processes; of older sessions, which say none, as far as they show."""
    known = [
        KnownProcess(
            pid=meta["pid"],
            parent_pid=meta.get("parent_pid", 0),
            owner=meta["owner"],
            joined=meta.get("joined", False),
            start_ns=meta["start_ns"],
            arguments=command_words(meta.get("command", "")),
            process_start=meta.get("process_start", 0),
        )
        for meta in metas
    ]
    numbers = WorkerNumbers()
    shown = (
        _kept(meta["role"]) if meta.get("role") else numbers.numbered(role)
        for meta, role in zip(metas, roles_of(known), strict=True)
    )
    return list(shown)


def process_names(metas: Sequence[dict[str, Any]]) -> list[str]:
    """Give each process a name of its own, `host:pid`; a later one of that number has `host:pid.2`."""
    seen: dict[str, int] = {}
    names = []
    for meta in metas:
        name = f"{meta['host']}:{meta['pid']}"
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}.{seen[name]}")
    return names


def _kept(entry: dict[str, Any]) -> Role:
    return Role(entry["kind"], entry.get("number", 0), entry.get("name", ""))


def _role(process: KnownProcess, programs: Sequence[KnownProcess]) -> Role:
    """Return a process's role; `programs` are those that ran in it by exec."""
    if process.owner:
        return Role(MAIN)
    if process.joined:
        return _program_role(process)
    became = _became(process, programs)
    if became is not None:
        return Role(HELPER, name=f"start of {_program_role(became).label}")
    return _named(process, Role(WORKER, name=process.name))


def _program_role(process: KnownProcess) -> Role:
    """Return the role of a process that was started, by its command line."""
    code, module, script = _started(process.arguments)
    helper = HELPER_CODE.search(code)
    if helper:
        return Role(HELPER, name=helper.group(1))
    if WORKER_CODE.search(code) or module.rpartition(".")[2] in WORKER_MODULES:
        return _named(process, Role(WORKER, name=process.name))
    name = module or script
    return Role(HELPER if name in SHELLS else PROGRAM, name=name or "python -c")


def _named(process: KnownProcess, role: Role) -> Role:
    return Role(HELPER, name="manager") if MANAGER.match(process.name) else role


def _became(process: KnownProcess, programs: Sequence[KnownProcess]) -> KnownProcess | None:
    """Return the program that a fork became by exec, None if there is none: then it does the job's work."""
    later = [other for other in programs if other.start_ns >= process.start_ns]
    return min(later, key=lambda other: other.start_ns, default=None)


def _started(arguments: Sequence[str]) -> tuple[str, str, str]:
    """Return the code, the module or the script's name that a command line runs, and "" for the others."""
    if not arguments:
        return "", "", ""
    program = PurePosixPath(arguments[0]).name
    if not INTERPRETER.match(program):
        return "", "", program
    places = iter(range(1, len(arguments)))
    for place in places:
        argument = arguments[place]
        if argument in LONG_WITH_VALUE:
            next(places, None)
        elif not argument.startswith("-") or argument == "-":
            return "", "", PurePosixPath(argument).name if argument != "-" else "python -"
        elif not argument.startswith("--"):
            option, value = _option_with_value(argument[1:])
            if option and not value:
                value = " ".join(arguments[place + 1 :]) if option == "c" else _at(arguments, place + 1)
                next(places, None)
            if option == "c":
                return value or "-c", "", ""
            if option == "m":
                return "", value, ""
    return "", "", program


def _option_with_value(letters: str) -> tuple[str, str]:
    """Return the first option among letters that takes a value, and what of the value stands with it."""
    for place, letter in enumerate(letters):
        if letter in f"{SHORT_WITH_VALUE}cm":
            return letter, letters[place + 1 :]
    return "", ""


def _at(arguments: Sequence[str], place: int) -> str:
    return arguments[place] if place < len(arguments) else ""
