"""Why two engines may differ: each reason on counters of which it is the reason, and on others."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.unit.made_up_counters import READ, batch_of
from tfdarshan.errors import EngineError
from tfdarshan.native import _extension, memory_left
from tfdarshan.native.memory_left import UNLIMITED, MemoryLeft
from tfdarshan.recording import engine
from tfdarshan.recording.libdarshan import cross_check
from tfdarshan.recording.libdarshan.cross_check import Counted, Verification
from tfdarshan.recording.libdarshan.darshan_overlay import OverlayReport
from tfdarshan.recording.libdarshan.darshan_records import module_columns
from tfdarshan.recording.libdarshan.expected_rows import SeenRows
from tfdarshan.recording.libdarshan.explained_differences import KINDS
from tfdarshan.recording.libdarshan.unseen_calls import operation_bits


def meanings(
    fold: dict[str, float],
    darshan: dict[str, float],
    *,
    unseen: Sequence[str] = (),
    carried: bool = False,
    foreign: bool = False,
) -> list[str]:
    """Return what is said of a row of which our fold has these figures, and libdarshan those."""
    columns = module_columns("POSIX")
    expected, counted = batch_of("POSIX", fold), batch_of("POSIX", darshan)
    verification = Verification(foreign=foreign)
    verification.compare(
        "POSIX",
        expected,
        np.array([0]),
        Counted(
            counted.counters[columns.places].T,
            counted.f_counters[columns.f_places].T,
            np.ones((1, len(columns.names) + len(columns.f_names)), bool),
            np.array([carried]),
        ),
        SeenRows(
            expected.counters[columns.places].T,
            expected.f_counters[columns.f_places].T,
            np.array([operation_bits(*unseen)]),
            np.array([not unseen]),
        ),
        ["/data/file"],
    )
    return [entry["meaning"] for entry in verification.result()["differences"]]


def of_no_record(*, full: bool) -> list[str]:
    """Return what is said of a file for which libdarshan counted nothing."""
    columns = module_columns("POSIX")
    batch = batch_of("POSIX", READ)
    verification = Verification(full=full)
    seen = SeenRows(
        batch.counters[columns.places].T,
        batch.f_counters[columns.f_places].T,
        np.array([0]),
        np.array([True]),
    )
    verification.only_in_builtin("POSIX", batch, np.array([0]), seen, ["/data/file"])
    return [entry["meaning"] for entry in verification.result()["differences"]]


def of_no_row(monkeypatch: pytest.MonkeyPatch, exclude: Sequence[str], *, foreign: bool = False) -> list[str]:
    """Return what is said of a record of libdarshan's that has no row."""
    monkeypatch.setattr(cross_check, "record_name", lambda _: "/proc/self/maps")
    verification = Verification(exclude=exclude, foreign=foreign)
    verification.only_in_darshan("POSIX", np.array([7]))
    return [entry["meaning"] for entry in verification.result()["differences"]]


STATS = READ | {"POSIX_STATS": 2}
MAPPED = READ | {"POSIX_MMAPS": 1}
NO_OPEN = READ | {"POSIX_OPENS": 0, "POSIX_F_READ_TIME": 0}
CLOSED = READ | {"POSIX_F_CLOSE_END_TIMESTAMP": 4.0}
LARGE_BLOCKS = {"POSIX_FILE_ALIGNMENT": 1 << 20, "POSIX_FILE_NOT_ALIGNED": 3}
PAGES = {"POSIX_FILE_ALIGNMENT": 4096, "POSIX_FILE_NOT_ALIGNED": 2}
REASONS: dict[str, list[str]] = {
    "stat names": meanings(STATS, READ, unseen=["stat"]),
    "mmap": meanings(MAPPED, READ, unseen=["mmap"]),
    "opened before": meanings(NO_OPEN, {}, unseen=["pread"]),
    "unseen calls": meanings(READ, READ | {"POSIX_READS": 2, "POSIX_BYTES_READ": 200}, unseen=["pread"]),
    "in-kernel copies": meanings(READ | {"TFD_COPY_READS": 1, "TFD_COPY_READ_BYTES": 10}, READ),
    "alignment": meanings(READ | PAGES, READ | LARGE_BLOCKS),
    "told of a close": meanings(READ, CLOSED),
    "two clocks": meanings(READ | {"POSIX_F_READ_TIME": 0.5}, READ),
    "earlier sessions": meanings(READ | {"POSIX_RW_SWITCHES": 1}, READ, carried=True),
    "preloaded": meanings(READ, READ | {"POSIX_READS": 9}, foreign=True),
    "unexplained": meanings(READ, READ | {"POSIX_READS": 9}),
    "no room": of_no_record(full=True),
}


@pytest.mark.parametrize("kind", REASONS)
def test_a_difference_has_the_reason_that_there_is(kind):
    assert REASONS[kind] == [KINDS[kind]]


def test_files_that_are_left_out_are_said_to_be(monkeypatch):
    left_out = "files that the exclude patterns leave out have libdarshan records and no rows"

    assert of_no_row(monkeypatch, ["/proc/*"]) == [left_out]
    assert of_no_row(monkeypatch, ["/sys/*"]) == ["no known limit of libdarshan explains these"]
    assert of_no_row(monkeypatch, ["/proc/*"], foreign=True) == [
        "a preloaded libdarshan also counts calls that pass no patched slot"
    ]
    assert dict.fromkeys(KINDS) | {
        "stat names": "libdarshan has no wrapper for the stat functions of newer C libraries",
        "opened before": "files opened before the session are unknown to libdarshan",
        "unseen calls": "calls libdarshan has no wrapper for, or cannot be given",
        "in-kernel copies": "sendfile, copy_file_range and splice: libdarshan has no counters for them",
        "alignment": "libdarshan does not know the block size of this kind of mount",
        "mmap": "this libdarshan has no wrapper for mmap",
        "told of a close":
            "libdarshan is told that a descriptor closed with its stream, or was reused, is gone",
        "two clocks": "durations and timestamps are read on both sides of a call",
        "excluded files": left_out,
        "no room": "files beyond libdarshan's memory for records (darshan_files)",
        "preloaded": "a preloaded libdarshan also counts calls that pass no patched slot",
        "earlier sessions": "what libdarshan remembers of a file from an earlier session",
        "unexplained": "no known limit of libdarshan explains these",
    } == KINDS  # fmt: skip


def test_what_agrees_or_has_room_has_none_of_these_reasons():
    assert meanings(READ, READ) == []
    assert of_no_record(full=False) == [KINDS["unexplained"]]
    # A duration that is longer there has another reason than two clocks.
    assert meanings(READ, READ | {"POSIX_F_READ_TIME": 0.5}) == [KINDS["unexplained"]]
    assert meanings(READ | {"POSIX_RW_SWITCHES": 1}, READ) == [KINDS["unexplained"]]


@pytest.mark.parametrize(("full", "torn"), [(False, 0), (True, 0), (False, 1200)])
def test_what_libdarshan_could_not_take_in_is_said(full, torn):
    overlay = SimpleNamespace(records=SimpleNamespace(full=full, torn_records=torn))

    bounds = OverlayReport(cast(Any, overlay), Verification(), cast(Any, None)).bounds()

    said = "libdarshan's memory for records was full (darshan_files): later files have the builtin counters"
    assert bounds == [said] * full + ["1,200 libdarshan records changed while they were copied"] * bool(torn)


@pytest.mark.parametrize(
    ("missing", "hint"),
    [
        ("libmpi.so.40", "load the MPI module it was built with"),
        ("libz.so.1", "add its folder to LD_LIBRARY_PATH"),
    ],
)
def test_a_library_that_is_missing_says_where_it_may_come_from(missing, hint, monkeypatch):
    def loaded(why: str) -> str:
        monkeypatch.setattr(_extension, "last_error", lambda: why)
        with pytest.raises(EngineError) as raised:
            engine._check(-1, "/opt/libdarshan.so")
        return str(raised.value)

    words = f"{missing}: cannot open shared object file: {errno.ENOENT}"

    assert loaded(words) == (
        f"libdarshan /opt/libdarshan.so needs {missing}, which the dynamic loader does not find: {hint}."
    )
    assert hint not in loaded("it is of version 2")


@pytest.mark.parametrize("name", ["auto", "builtin"])
def test_a_libdarshan_that_cannot_be_used_is_why_the_builtin_engine_counted(name, tmp_path):
    library = tmp_path / "libdarshan.so"
    library.write_bytes(b"no library")

    found = engine.choose_engine(name, library, files=1024, folder=tmp_path)

    why = f"{library} is not a shared library: name the file libdarshan.so of your site's Darshan"
    assert not found.is_darshan
    assert found.notes == ((f"the builtin engine counted, because {why}",) if name == "auto" else ())


@pytest.mark.parametrize("short", [True, False])
def test_short_memory_leaves_room_for_fewer_files(short, tmp_path, monkeypatch):
    # GIVEN memory for 2,000 of 4,000 files, of which a quarter may be taken
    each = engine.RECORD_BYTES + engine.NAME_BYTES
    free = (2000 if short else 4000) * each * engine.MEMORY_SHARE
    # The job's control group has it: of version 1 or 2, and wherever it is.
    monkeypatch.setattr(memory_left, "_available_bytes", lambda: UNLIMITED)
    monkeypatch.setattr(memory_left, "memory_left", lambda: MemoryLeft(free, UNLIMITED, UNLIMITED))
    monkeypatch.setattr(engine, "_adopt", lambda: False)
    monkeypatch.setattr(engine, "_load_fresh", lambda *_: None)
    monkeypatch.setattr(engine, "_described", lambda source, *notes: (source, *notes))

    found: Any = engine._load("libdarshan.so", "dynamic loader", 4000, tmp_path)

    note = "libdarshan has room for 2,000 of 4,000 files: memory is short"
    assert found == ("dynamic loader", *([note] if short else []))
