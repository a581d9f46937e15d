"""What summary and the page say of coverage, warnings and parts of a session, where it is so and not."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.scenario_sessions import MB
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.golden.golden_file import Golden
from tests.unit.sentences.changed_meta import changed, with_children
from tests.unit.sentences.counters_only import LOG, as_log, with_counters
from tests.unit.sentences.other_sessions import looked_at, mapped
from tests.unit.sentences.rows import Maker, Row, as_made, contrasts, texts_in
from tests.unit.sentences.sessions import KB, SESSIONS, partly_cached
from tests.unit.sentences.shown import diagnosed_once, page_text, raw_printed
from tfdarshan.findings.diagnosis import diagnosis_of
from tfdarshan.findings.measurement import measure
from tfdarshan.reports.text.brief_text import brief_text
from tfdarshan.reports.text.summary_text import KIND_NAMES
from tfdarshan.reports.views.overlap_view import overlap_banner
from tfdarshan.reports.views.overview_view import beginning_panels
from tfdarshan.reports.views.steps_view import StepQuery, steps_table
from tfdarshan.reports.views.timeline_view import Window, timeline_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import Session, open_session
from tfdarshan.sessions.overlap import overlap_lines, overlapping
from tfdarshan.terminal.paint import Paint

POOR, READER = SESSIONS["only writes"], SESSIONS["one reader"]
BUCKET = {"name": "bucket", "about": ""}
EMULATED = {"options": {"as_if": "bucket", "as_if_paths": ["/data/*"]}}


def everywhere(session: Session) -> str:
    """Return what both summaries and the page say, a line each."""
    path = str(session.path)
    with diagnosed_once({}):
        shown = page_text(session, "overview", "steps")
        return "\n".join([raw_printed("summary", path), raw_printed("summary", path, "-v"), shown])


def emulated(delayed_calls: int, delayed_ns: int) -> Maker:
    """Return what makes a job on emulated storage, which made so many calls wait."""
    block = {"model": BUCKET, "paths": ["/data/*"], "delayed_calls": delayed_calls, "delayed_ns": delayed_ns}
    return changed(POOR, **EMULATED, emulation=block)


def in_kernel(folder: Path, kernel: dict[str, int] | None) -> Session:
    """Return steps that read 100 kB each, of which the kernel says what it fetched, or nothing."""
    calls = [(50 * n, 50 * n + 8, 1, "pread", 0, 100 * KB, 100 * KB * n) for n in range(20)]
    session = training(folder, calls, epochs_of_steps(20, 50, 10), sizes=[2 * MB])
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    figures = [] if kernel is None else [kernel["rchar"], kernel["read_bytes"]]
    meta["steps"]["rows"] = [[*row, *figures] for row in meta["steps"]["rows"]]
    path.write_text(json.dumps(meta))
    return open_session(session.path)


def half_known(folder: Path) -> Session:
    """Return 20 steps of which half say what they waited."""
    steps = epochs_of_steps(20, 50, 10)
    steps = [step if place < 10 else (*step[:2], -1) for place, step in enumerate(steps)]
    return training(folder, [(0, 40, 1, "pread", 0, 100 * KB)], steps, sizes=[MB])


def many_steps(folder: Path, count: int) -> Session:
    """Return so many steps of 5 ms."""
    return training(folder, [(0, 4, 1, "pread", 0, 100 * KB)], epochs_of_steps(count, 5, 1), sizes=[MB])


def read_once(folder):
    """A session of which the kernel's figures are known."""
    return partly_cached(folder, MB)


VERIFIED = {"counters": 65, "files": 1, "differences": []}
UNCOUNTED = {"counted": "none", "valid": False}
COUNTED = {"counted": "own", "rchar": MB, "read_bytes": MB}
WAITED_FOR = {"counted": "parent", "valid": False}
JOINED_LATE = WAITED_FOR | {"earlier": {"rchar": 5 * MB, "wchar": 70, "read_bytes": 0, "write_bytes": 0}}
DARSHAN = {"name": "darshan", "version": "3.4.7"}
ELSEWHERE = {"options": {"as_if": "bucket", "as_if_paths": ["/other/*"]}}
STORED = {"rchar": 100 * KB, "read_bytes": 25 * KB}


def children(*kernels: dict) -> Maker:
    """Return what makes a job with children of which the kernel says this."""
    return partial(with_children, kernels=kernels)


def verified(unexplained: int, **meta) -> Maker:
    """Return what makes a job that two engines counted, with so many rows that differ."""
    return changed(POOR, verify=VERIFIED | {"unexplained_rows": unexplained}, **meta)


def unwatched(folder: Path) -> Session:
    """Return a job with a mapping that nobody watched."""
    return with_counters(read_once(folder), "/home/u/0", POSIX_MMAPS=1)


def without_zero_reads(folder: Path) -> Session:
    """Return a job of one read, of which empty ones are not known."""
    return with_counters(training(folder, [(0, 500, 1, "pread", 0, KB)]), "/data/a", TFD_ZERO_READS=None)


def moved(kind: str) -> Maker:
    """Return what makes 20 MB of reads, and 3 MB of another kind in the kernel's count."""
    other = {kind: {"bytes_read": 3 * MB, "bytes_written": 0}}
    return changed(partial(partly_cached, stored=MB, charged=23 * MB), other=other)


def timed_log(session: Session) -> Session:
    """Make a log of it whose trace is complete, so that it tells the time in reads by the wall clock."""
    (path,) = session.path.glob("*.meta.json")
    read_ns = json.loads(path.read_text())["time"]["read_ns"]
    logged = as_log(session)
    meta = json.loads(path.read_text())
    meta["time"] |= {"read_ns": read_ns}
    path.write_text(json.dumps(meta))
    return open_session(logged.path)


ALONE = partial(training, calls=[(0, 9, 1, "read", 0, KB)])
SEVERAL = LOG | {"processes": 4, "ranks": [0], "pids": [100]}
ROWS = {
    "ended early": Row(changed(POOR, stopped=False, owner=True), POOR),
    "a child in no figure": Row(children(UNCOUNTED), children(COUNTED)),
    "children in no figure": Row(children(UNCOUNTED, UNCOUNTED), children(COUNTED, COUNTED)),
    "what was done before joining": Row(children(JOINED_LATE), children(WAITED_FOR)),
    "programs that were not recorded": Row(
        changed(read_once, programs={"not_recorded": {"cp": 1}, "not_waited_for": 1}), read_once
    ),
    "silent children": Row(changed(POOR, children={"silent": 2}), POOR),
    "mappings that nobody watched": Row(unwatched, read_once),
    "mappings that were watched": Row(partial(mapped, kernel={"rchar": MB, "read_bytes": 2 * MB}), mapped),
    "two counters that agree": Row(verified(0, engine=DARSHAN), POOR),
    "two counters that differ": Row(verified(3), changed(POOR, verify=VERIFIED)),
    "nothing emulated": Row(emulated(0, 0), emulated(3, 10**9)),
    "emulated": Row(emulated(3, 10**9), emulated(0, 0)),
    "mapped under emulation": Row(changed(mapped, **EMULATED), changed(mapped, **ELSEWHERE)),
    "lower bounds of faults": Row(partial(looked_at, looks=40), partial(looked_at, looks=0)),
    "waits that steps do not say": Row(
        partial(ALONE, steps=epochs_of_steps(20, 50, -1)), partial(ALONE, steps=epochs_of_steps(20, 50, 9))
    ),
    "waits of some steps": Row(half_known, partial(many_steps, count=20)),
    "storage of steps": Row(partial(in_kernel, kernel=STORED), partial(in_kernel, kernel=None)),
    "means of steps": Row(partial(many_steps, count=3000), partial(many_steps, count=200)),
    "a log of several": Row(READER, READER, partial(as_log, darshan=SEVERAL), as_log),
    "a log's empty reads": Row(without_zero_reads, POOR, as_log),
    "a log's wall clock": Row(READER, READER, timed_log, as_log),
    "what a log lacks": Row(
        POOR, POOR, partial(as_log, darshan=LOG | {"not_known": ["file sizes: nor stats"]}), as_made
    ),
} | {f"traffic: {kind}": Row(moved(kind), partial(partly_cached, stored=MB)) for kind in KIND_NAMES}


def test_sessions_are_said_to_be_what_they_are(golden: Golden, folder: Path):
    golden("sessions_shown.txt", contrasts(ROWS, folder, everywhere))


@pytest.mark.parametrize(
    ("name", "kept", "said"),
    [
        ("only writes", lambda session: session, "numbers and assumptions"),
        ("one reader", lambda session: session, " more findings, numbers, assumptions"),
        ("only writes", lambda session: session, "calls, sizes, patterns"),
        ("only writes", partial(as_log, darshan=LOG | {"not_known": ["file sizes"]}),
         "calls, sizes, and what the log does not say"),
    ],
)  # fmt: skip
def test_what_else_there_is_is_there(name, kept, said, tmp_path):
    # GIVEN a terminal that has room for it
    session = kept(SESSIONS[name](tmp_path))
    measures = measure(session, 5)
    found = diagnosis_of(measures)

    text = brief_text(measures.summary, found, Paint(width=300))

    others = len(found.findings) - (found.named is not None)
    assert said in text
    assert ("numbers and assumptions" in text) == (others == 0)
    assert (f"{others} more findings, numbers, assumptions" in text) == (others > 1)
    assert ("and what the log does not say" in text) == bool(measures.summary.not_known)
    assert ("calls, sizes, patterns" in text) == (not measures.summary.not_known)


def test_a_page_that_is_not_ready_says_how_many_calls_it_adds_up(tmp_path):
    source = Source(POOR(tmp_path))

    first, tiles = beginning_panels(source)

    assert first.lines == ["Adding up the time and the files of 100 calls ..."]
    assert [tile.value.text for tile in tiles.items if tile.label == "Calls"] == ["100"]


def test_steps_beyond_the_last_are_none(tmp_path):
    source = Source(many_steps(tmp_path, 20))

    assert steps_table(source, StepQuery(offset=40)).note.startswith("no such steps")
    assert steps_table(source, StepQuery()).note == "1 to 20 of 20 steps, the slowest first"


MS = 1_000_000


@pytest.mark.parametrize("marked", [True, False])
def test_a_window_says_what_ran_in_it(marked, tmp_path):
    # GIVEN ten calls in the first 100 ms, steps or none, and nothing in the last of all
    calls = [(10 * n, 10 * n + 5, 1, "pread", 0, KB, KB * n) for n in range(10)]
    steps = epochs_of_steps(10, 50, 5) if marked else ()
    source = Source(training(tmp_path, calls, steps, sizes=[MB], duration_ms=500))

    # WHEN
    busy, empty, later = (
        timeline_view(source, Window(window_ns=window))[0]
        for window in ((0, 100 * MS), (470 * MS, 490 * MS), (96 * MS, 106 * MS))
    )

    # THEN
    assert busy.title == "10 calls in 100.0 ms"
    lines = " Dotted green lines: ends of steps." if marked else ""
    assert busy.note == f"Hover a bar for its file, offset and bytes.{lines}"
    assert empty.lines == ["No calls ran in these 20.0 ms."]
    assert later.lines == ["No calls ran in these 10.0 ms."]


@pytest.mark.parametrize("others", [0, 1, 5])
def test_sessions_that_overlap_are_counted_and_named(others, tmp_path):
    # GIVEN a session, and so many of other processes at the same time in its logdir
    own = changed(POOR, owner=True)(tmp_path / "own").path
    for number in range(others):
        other = changed(POOR, pid=200 + number, owner=True)(tmp_path / str(number))
        shutil.copytree(other.path, own.with_name(f"other-{number}"))
    paths = [own.with_name(f"other-{number}") for number in range(others)]

    # WHEN
    printed_lines = overlap_lines(overlapping(own, own.parent.iterdir()))
    shown = page_texts_of(overlap_banner([path.name for path in paths]))

    # THEN
    head = f"1 of {others + 1} sessions that overlap in time"
    assert (head in "\n".join(printed_lines)) == (head in shown) == (others > 0)
    named = ", ".join(path.name for path in paths[:3])
    more = " and 2 more" if others == 5 else ""
    assert (f"Not in these figures: {named}{more}." in shown) == (others > 0)
    assert len(printed_lines) == {0: 0, 1: 2, 5: 5}[others]


def page_texts_of(panels: list) -> str:
    """Return the texts of panels, a line each."""
    return "\n".join(texts_in(panels))
