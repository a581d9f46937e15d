"""What a process notes of its steps and batches while a session records: all frameworks note into one file.

Methods of a framework's classes are stood in for by objects in C, so that the job sees no other frame in a
traceback and no warning moves to another line. Each is put back when the session ends, unless somebody has
wrapped it meanwhile: then it stays, and hands calls on.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import resource
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tfdarshan.frameworks.all_frameworks import rank_variables
from tfdarshan.frameworks.pass_note import pass_note, rank_note

# What a loader looks like, and its workers' process numbers: by the loader, None if nobody saw the iterator
# made, and by an iterator over it. None if the iterator is not to be noted.
Look = Callable[[Any, Any], "tuple[dict[str, Any], list[int]] | None"]


class Part(NamedTuple):
    """A part of a data set, of which the job may make an object of its own for each pass.

    Attributes:
        whole: The data set.
        which: What tells the part from others of it.
    """

    whole: Any
    which: Hashable


# The data set of an iterator, or a `Part` of one; None if nobody knows it.
DataSet = Callable[[Any], Any]

# What says where a step that the job marks begins and ends.
STEP_CALLS, LOOPED_STEPS, KERAS_BATCHES = SOURCES = ("step()", "steps()", "Keras batches")

# An attribute that a class inherits, if it has it.
NOTHING = object()

_log: BatchLog | None = None


class BatchLog:
    """The log of one session.

    Args:
        folder: Where processes note.
        at_start: Is called as the first step or pass of this process begins.
        ahead_ns: What the session's clock is ahead of CLOCK_MONOTONIC; None if the session begins now.
    """

    def __init__(self, folder: Path, at_start: Callable[[], object], ahead_ns: int | None = None) -> None:
        self.folder = folder
        self._pid = os.getpid()
        self._passes = itertools.count(1)
        self._at_start: Callable[[], object] | None = at_start
        self._looks: list[tuple[type, Look, DataSet]] = []
        self._data_sets = _Numbers()
        native().begin(str(folder), self._note_pass, *([] if ahead_ns is None else [ahead_ns]))

    def describe(self, iterators: type, look: Look, data_set: DataSet = lambda _: None) -> None:
        """Have passes of iterators of a class described, and so noted."""
        self._looks.append((iterators, look, data_set))

    def note_start(self) -> None:
        """Say that a step or a pass begins; a forked process may be a rank."""
        told, self._at_start = self._at_start, None
        if told is not None:
            (told if os.getpid() == self._pid else note_rank)()

    def end(self) -> None:
        """Note no more."""
        if os.getpid() == self._pid:
            native().end()

    def _note_pass(self, loader: Any, iterator: Any) -> int:
        """Note that an iterator begins a pass, or goes on with one, and return the pass's number.

        Of an iterator that nobody describes, return -1.
        """
        described = ((look, data) for iterators, look, data in self._looks if isinstance(iterator, iterators))
        look, data_set = next(described, (None, None))
        found = None if look is None else look(loader, iterator)
        if found is None or data_set is None:
            return -1
        self.note_start()
        number = next(self._passes)
        note = pass_note(number, *found, self._data_sets.of(data_set(iterator)))
        native().note(json.dumps(note).encode())
        return number


class _Numbers:
    """Numbers of the job's objects, from 1 on. It keeps none of them alive."""

    def __init__(self) -> None:
        # By the object's id: itself, and the numbers of its parts.
        self._known: dict[int, tuple[weakref.ref[Any], dict[Hashable, int]]] = {}
        self._next = itertools.count(1)

    def of(self, thing: Any) -> int:
        """Return a number that no other object has ever had, 0 for a list and what else nobody can watch."""
        whole, which = thing if isinstance(thing, Part) else (thing, None)
        known = self._known.get(id(whole))
        if known is None or known[0]() is not whole:
            try:
                known = self._known[id(whole)] = weakref.ref(whole), {}
            except TypeError:
                return 0
        numbers = known[1]
        if which not in numbers:
            numbers[which] = next(self._next)
        return numbers[which]


class Hooks:
    """What stands in for methods of a framework's classes."""

    def __init__(self) -> None:
        self._put: list[tuple[Any, str, Any, Any]] = []
        # What is to be done with classes that derive from a class later.
        self._later: dict[Any, list[Callable[[Any], None]]] = {}

    def hook(self, owner: Any, name: str, kind: str) -> None:
        """Stand in for a method of a class itself: `kind` is "ITER", "NEXT", "WORKER" or "FETCH"."""
        self.replace(owner, name, native().Hook(getattr(native(), kind), owner.__dict__[name]))

    def hook_all(self, base: Any, name: str, kind: str, *, chosen: Callable[[Any], bool] = bool) -> None:
        """Stand in for a method of a class and of all that derive from it, also later, and have their own.

        Args:
            base: The class.
            name: The method.
            kind: As `hook` takes it.
            chosen: Which methods to take.
        """

        def follow(owner: Any) -> None:
            if name in owner.__dict__ and chosen(owner.__dict__[name]):
                self.hook(owner, name, kind)

        for owner in _derived(base):
            follow(owner)
        if base not in self._later:
            self._later[base] = []
            self.replace(base, "__init_subclass__", _noting_subclasses(base, self._later[base]))
        self._later[base].append(follow)

    def replace(self, owner: Any, name: str, ours: Any) -> None:
        """Put something into the place of a class's or module's attribute."""
        original = owner.__dict__.get(name, NOTHING)
        setattr(owner, name, ours)
        self._put.append((owner, name, original, ours))

    def remove(self) -> None:
        """Put back what was replaced."""
        for follow in self._later.values():
            follow.clear()
        while self._put:
            owner, name, original, ours = self._put.pop()
            if owner.__dict__.get(name) is not ours:
                continue
            if original is NOTHING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def _noting_subclasses(base: Any, told: list[Callable[[Any], None]]) -> Any:
    """Return an `__init_subclass__` for a class, which also calls what is told of each class that derives."""
    own = base.__dict__.get("__init_subclass__")

    def note_subclass(owner: Any, /, **keywords: Any) -> None:
        initialise: Any = super(base, owner).__init_subclass__ if own is None else own.__get__(None, owner)
        initialise(**keywords)
        for tell in told:
            # The class is the job's, and is made whatever happens here.
            with suppress(Exception):
                tell(owner)

    return classmethod(note_subclass)


def _derived(base: Any) -> Iterator[Any]:
    yield base
    for one in base.__subclasses__():
        yield from _derived(one)


def native() -> Any:
    """Return the extension that notes."""
    return importlib.import_module("tfdarshan.native._batches")


def begin(folder: Path, at_start: Callable[[], object] = bool, ahead_ns: int | None = None) -> None:
    """Begin the log of a session: see `BatchLog`."""
    global _log
    end()
    _log = BatchLog(folder, at_start, ahead_ns)


def note_rank(*, if_told: bool = False) -> None:
    """Note which rank this process is, as far as it has been told, and its processor time so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    variables = {**os.environ, **rank_variables()}
    if "RANK" in variables or not if_told:
        native().note(json.dumps(rank_note(variables, usage.ru_utime + usage.ru_stime)).encode())


def end() -> None:
    """End it, if one was begun."""
    global _log
    log, _log = _log, None
    if log is not None:
        log.end()


def current() -> BatchLog | None:
    """Return the log of the session that records, None if none does."""
    return _log


def note_start() -> None:
    """Say that a step begins, to the session that records."""
    if _log is not None:
        _log.note_start()
