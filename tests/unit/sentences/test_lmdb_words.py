"""What is said of LMDB's files, storage and remedies: each where it is so, and where it is not."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tfdarshan.lmdb import first_look, held_snapshot, index
from tfdarshan.lmdb.held_snapshot import HeldTransaction
from tfdarshan.lmdb.remedy import COALESCED_BYTES, REMEDIES, RemedyName

PAGES = [1 << 22, 2 << 22, 3 << 22, 4 << 22, 5 << 22, 6 << 22]
MS = 1e-3


def answering(alone_ms: float, at_once_ms: float, next_ms: float) -> str:
    """Return what a storage is called on which reads of one, of several and of a next page take so long."""

    def read_s(places: list[int]) -> list[float]:
        if len(places) > 1:
            return [alone_ms * MS, *[at_once_ms * MS] * (len(places) - 1)]
        return [(alone_ms if places[0] in PAGES else next_ms) * MS]

    return first_look.judge(PAGES, read_s).value


@pytest.mark.parametrize(
    ("times_ms", "words"),
    [
        ((5, 5, 5), "late, and several calls at once"),
        # Four at once take as long as four, and a head that is there already reads on at once.
        ((5, 20, 0.1), "one call after the other, as a disk that seeks"),
        ((5, 20, 5), "late, and several calls at once"),
        ((0.1, 0.1, 0.1), "too soon for a head that moves"),
        ((0.9, 5, 0.1), "too soon for a head that moves"),
    ],
)
def test_a_storage_is_called_what_its_answers_show(times_ms, words):
    assert answering(*times_ms) == words


def differs(one: RemedyName, other: RemedyName) -> dict[str, Any]:
    """Return in what a remedy differs from another one."""
    first, second = vars(REMEDIES[one]), vars(REMEDIES[other])
    return {
        name: second[name] for name in first if first[name] != second[name] and name not in ("name", "stands")
    }


REMEDY_WORDS = {
    "LMM": "one process reads for all workers, who get its batches in turn",
    "DM": "each worker reads its own shard, whose place the index knows, through the page cache",
    "DIO": "DM by reads past the page cache, a batch each",
    "PROV": "DIO: the index walks the pages, which is right for any database, and replays no page allocation",
    "COAL": "DIO by reads of 4 MiB, neighbours merged",
    "STAG": "COAL, and only one reader of the file reads at a time, whichever process it is of",
}


def test_a_remedy_is_what_it_is_said_to_be():
    assert {name: remedy.stands for name, remedy in REMEDIES.items()} == REMEDY_WORDS
    # Each says what it is other than the one before it, and is other in nothing else.
    assert (REMEDIES["LMM"].shared, REMEDIES["DM"].shared) == (True, False)
    assert (REMEDIES["DM"].access, REMEDIES["DM"].read_bytes) == ("cached", 0)
    assert differs("DM", "DIO") == {"access": "direct"}
    assert differs("DIO", "PROV") == {}
    assert differs("DIO", "COAL") == {"read_bytes": COALESCED_BYTES}
    assert COALESCED_BYTES == 4 << 20
    assert differs("COAL", "STAG") == {"takes_turns": True}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is said."""
    texts: list[str] = []
    for module in (held_snapshot, index):
        monkeypatch.setattr(module, "say", texts.append)
    return texts


@pytest.mark.parametrize(("newest", "grows"), [(7, False), (8, True)])
def test_a_database_that_is_written_to_is_said_to_grow_once(newest, grows, said):
    # GIVEN a transaction 7 that is held, and the newest of the file
    held = HeldTransaction.__new__(HeldTransaction)
    held._path, held._held = cast(Any, f"/data/{newest}.mdb"), cast(Any, [1])
    held._owner, held._environment = os.getpid(), object()
    file = SimpleNamespace(newest=lambda: newest)

    # WHEN it is checked twice
    for _ in range(2):
        held.check(cast(Any, file), 7)

    # THEN
    words = (
        f"/data/{newest}.mdb is being written to, and grows as long as this index of it is open: pages that "
        "were freed since are not used again. Close the index when it is read."
    )
    assert said == ([words] if grows else [])


def test_a_database_of_another_format_is_said_to_be_read_by_py_lmdb_once(said, monkeypatch):
    # GIVEN a file whose format is not read here, and py-lmdb
    monkeypatch.setattr(index, "py_lmdb", lambda: object())
    monkeypatch.setattr(index, "PyLmdbFile", lambda *_: object())
    of_another = index.Index.__new__(index.Index)
    of_another.path, of_another._name, of_another._shared = Path("/data/other.mdb"), None, None
    of_another._where, of_another._asked = cast(Any, None), {"py_lmdb_options": None}

    # WHEN it is opened twice
    for _ in range(2):
        of_another._open_by_py_lmdb(cast(Any, "of version 2."))

    # THEN
    assert said == ["/data/other.mdb is read by py-lmdb, and as fast as that: its format is not read here."]


class Opening:
    """Stands for TensorFlow, which loads a library with some functions, or not."""

    __version__ = "2.99.0"
    errors = SimpleNamespace(OpError=LookupError)

    def __init__(self, *functions: str, why: str = "") -> None:
        self._library, self._why = SimpleNamespace(**dict.fromkeys(functions)), why

    def load_op_library(self, _: str) -> Any:
        """Load it."""
        if self._why:
            raise OSError(f"{self._why}\nat line 3")
        return self._library


OURS = ("tfdarshan_lmdb_flat", "tfdarshan_lmdb_strings")
LACKS = "TensorFlow 2.99.0 lacks functions of the C API that it needs"


@pytest.mark.parametrize(
    ("tensorflow", "connected", "why"),
    [
        (Opening(*OURS), True, ""),
        (Opening(*OURS), False, LACKS),
        (Opening(OURS[0]), True, LACKS),
        (Opening(why="no such file"), True, "no such file"),
    ],
)
def test_a_tensorflow_that_takes_no_op_is_said_to_lack_what_it_lacks(
    tensorflow, connected, why, said, monkeypatch
):
    # GIVEN the module that loads them, which imports another TensorFlow
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    path = Path(first_look.__file__).with_name("tensorflow_op.py")
    spec = importlib.util.spec_from_file_location("tensorflow_op_of_another", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "_is_connected", lambda: connected)
    monkeypatch.setattr(module, "say", said.append)

    # WHEN
    found = module.ops()

    # THEN
    assert module.OPS == OURS
    words = f"batches reach TensorFlow through Python: {module.LIBRARY.name} cannot be used ({why})."
    assert said == ([words] if why else [])
    assert (found is None) == bool(why)
