"""What summary and the page say of coverage, warnings and parts of a session, where it is so and not."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.scenario_sessions import MB
from tests.unit.findings.made_up_mapped import PATH
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.sentences.changed_meta import changed, with_children
from tests.unit.sentences.counters_only import LOG, as_log, with_counters
from tests.unit.sentences.other_sessions import looked_at, mapped
from tests.unit.sentences.raw_figures import Raw
from tests.unit.sentences.rows import Maker, Row, check_said, texts_in
from tests.unit.sentences.sessions import KB, SESSIONS, partly_cached
from tests.unit.sentences.shown import page_text, printed
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
from tfdarshan.units import exact_bytes, human_bytes, human_seconds, plural

POOR, READER = SESSIONS["only writes"], SESSIONS["one reader"]
BUCKET = {"name": "bucket", "about": ""}
EMULATED = {"options": {"as_if": "bucket", "as_if_paths": ["/data/*"]}}


def everywhere(session: Session) -> str:
    """Gives what both summaries and the page say, a line each."""
    path = str(session.path)
    shown = page_text(session, "overview", "steps")
    return "\n".join([printed("summary", path), printed("summary", path, "-v"), shown])


def emulated(delayed_calls: int, delayed_ns: int) -> Maker:
    """Gives what makes a job on emulated storage, which made so many calls wait."""
    block = {"model": BUCKET, "paths": ["/data/*"], "delayed_calls": delayed_calls, "delayed_ns": delayed_ns}
    return changed(POOR, **EMULATED, emulation=block)


def in_kernel(folder: Path, kernel: dict[str, int] | None) -> Session:
    """Gives steps that read 100 kB each, of which the kernel says what it fetched, or nothing."""
    calls = [(50 * n, 50 * n + 8, 1, "pread", 0, 100 * KB, 100 * KB * n) for n in range(20)]
    session = training(folder, calls, epochs_of_steps(20, 50, 10), sizes=[2 * MB])
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    figures = [] if kernel is None else [kernel["rchar"], kernel["read_bytes"]]
    meta["steps"]["rows"] = [[*row, *figures] for row in meta["steps"]["rows"]]
    path.write_text(json.dumps(meta))
    return open_session(session.path)


def half_known(folder: Path) -> Session:
    """Gives 20 steps of which half say what they waited."""
    steps = epochs_of_steps(20, 50, 10)
    steps = [step if place < 10 else (*step[:2], -1) for place, step in enumerate(steps)]
    return training(folder, [(0, 40, 1, "pread", 0, 100 * KB)], steps, sizes=[MB])


def many_steps(folder: Path, count: int) -> Session:
    """Gives so many steps of 5 ms."""
    return training(folder, [(0, 4, 1, "pread", 0, 100 * KB)], epochs_of_steps(count, 5, 1), sizes=[MB])


def unread_by_children(found: Raw) -> list[str]:
    """Words what a child read that no figure of the kernel's counts."""
    read = exact_bytes(int(found.calls("pread")["length"].iloc[0]))
    return [
        f"The comparison leaves out what it recorded ({read} read, 0 B written).",
        ("No figure counts 1 process: it was killed, or still ran, or had become another program, and nobody "
        "had waited for it."),
        ("No figure of the kernel's counts 1 process: killed, or still running, or another program, and not "
        "waited for. What was not seen is at least this much."),
    ]  # fmt: skip


def read_once(folder):
    """A session of which the kernel's figures are known."""
    return partly_cached(folder, MB)


VERIFIED = {"counters": 65, "files": 1, "differences": []}
UNCOUNTED = {"counted": "none", "valid": False}
COUNTED = {"counted": "own", "rchar": MB, "read_bytes": MB}
WAITED_FOR = {"counted": "parent", "valid": False}
JOINED_LATE = WAITED_FOR | {"earlier": {"rchar": 5 * MB, "wchar": 70, "read_bytes": 0, "write_bytes": 0}}
ROWS = {
    "ended early": Row(
        "The process ended without stopping the session: this is what it had recorded",
        changed(POOR, stopped=False, owner=True), lambda _: "this is what it had recorded until then.", POOR,
    ),
    "a child in no figure": Row(
        "No figure counts 1 process:", partial(with_children, kernels=[UNCOUNTED]), unread_by_children,
        partial(with_children, kernels=[COUNTED]),
    ),
    "children in no figure": Row(
        "No figure counts 2 processes:", partial(with_children, kernels=[UNCOUNTED] * 2),
        lambda found: "they were killed, or still ran, or had become other programs, and nobody had waited "
        f"for them. The comparison leaves out what they recorded ({exact_bytes(2 * MB)} read, 0 B written).",
        partial(with_children, kernels=[COUNTED] * 2),
    ),
    "what was done before joining": Row(
        "did before they joined the session, as they started or earlier",
        partial(with_children, kernels=[JOINED_LATE]),
        lambda _: "The comparison leaves out what processes did before they joined the session, as they "
        f"started or earlier ({exact_bytes(5 * MB)} read, {exact_bytes(70)} written).",
        partial(with_children, kernels=[WAITED_FOR]),
    ),
    "programs that were not recorded": Row(
        "Programs that were not recorded: cp. Record them with `--programs`.",
        changed(read_once, programs={"not_recorded": {"cp": 1}, "not_waited_for": 1}),
        lambda _: "The kernel's count may lack 1 program that the job had not waited for.", read_once,
    ),
    "silent children": Row(
        "2 more children made no calls", changed(POOR, children={"silent": 2}), lambda _: "1 process", POOR,
    ),
    "mappings that nobody watched": Row(
        "also, through mappings unknown (see mapped=True)",
        lambda folder: with_counters(partly_cached(folder, MB), "/home/u/0", POSIX_MMAPS=1),
        lambda _: "in the tables", lambda folder: partly_cached(folder, MB),
    ),
    "mappings that were watched": Row(
        f"also, through mappings {exact_bytes(1 << 20)}",
        partial(mapped, kernel={"rchar": MB, "read_bytes": 2 * MB}), lambda _: "into the page cache 1.0 MB",
        lambda folder: partly_cached(folder, MB),
    ),
    "two counters that agree": Row(
        "darshan and builtin agree on 65 counters of 1 file.",
        changed(POOR, engine={"name": "darshan", "version": "3.4.7"},
                verify=VERIFIED | {"unexplained_rows": 0}),
        lambda _: "Two counters (libdarshan 3.4.7, builtin)",
        changed(POOR, engine={"name": "darshan", "version": "3.4.7"},
                verify=VERIFIED | {"unexplained_rows": 3}),
    ),
    "two counters that differ": Row(
        "darshan and builtin differ in 3 rows without a known reason, of 65 counters of 1 file.",
        changed(POOR, verify=VERIFIED | {"unexplained_rows": 3}),
        lambda _: "Two counters (libdarshan", changed(POOR, verify=VERIFIED),
    ),
    "nothing emulated": Row(
        "It slowed no call: times are this storage's own.", emulated(0, 0),
        lambda _: ["NOTHING EMULATED: as if bucket, for /data/*", "it slowed no call."], emulated(3, 10**9),
    ),
    "emulated": Row(
        "Times are simulated, not this storage's: 3 calls waited, 1.000 s over all threads.",
        emulated(3, 10**9), lambda _: "EMULATED STORAGE: as if bucket, for /data/*; times are simulated.",
        emulated(0, 0),
    ),
    "mapped under emulation": Row(
        f"as_if=bucket did not slow reads through mappings, as of {PATH}",
        changed(mapped, **EMULATED), lambda _: "as if bucket",
        changed(mapped, options={"as_if": "bucket", "as_if_paths": ["/other/*"]}),
    ),
    "lower bounds of faults": Row(
        "a lower bound: see what limits this session", partial(looked_at, looks=40),
        lambda _: "at least 500.0 ms in page faults", partial(looked_at, looks=0),
    ),
    "waits that steps do not say": Row(
        "not known of these steps", partial(training, calls=[(0, 9, 1, "read", 0, KB)],
                                            steps=epochs_of_steps(20, 50, -1)),
        lambda _: "Input wait", partial(training, calls=[(0, 9, 1, "read", 0, KB)],
                                        steps=epochs_of_steps(20, 50, 9)),
    ),
    "waits of some steps": Row(
        "of 20: input wait is known of these; a step: 50.0 ms", half_known, lambda _: "Input wait",
        partial(many_steps, count=20),
    ),
    "storage of steps": Row(
        "By the kernel (/proc/self/io): read_bytes of a step against rchar. Read-ahead that serves a later "
        "step counts where it was asked for.",
        partial(in_kernel, kernel={"rchar": 100 * KB, "read_bytes": 25 * KB}),
        lambda _: ["Reads of each step: storage or page cache", "25.0 % of reads", human_bytes(20 * 25 * KB)],
        partial(in_kernel, kernel=None),
    ),
    "means of steps": Row(
        "Each bar is the mean of 3 steps; the table lists them one by one.", partial(many_steps, count=3000),
        lambda found: f"1 to 20 of {plural(len(found.steps), 'step')}", partial(many_steps, count=200),
    ),
    "a log of several": Row(
        " over the run", READER, lambda found: f"{human_bytes(found.data_reads['length'].sum())}, ", READER,
        partial(as_log, darshan=LOG | {"processes": 4, "ranks": [0], "pids": [100]}), as_log,
    ),
    "a log's empty reads": Row(
        "reads, empty too", lambda folder: with_counters(
            training(folder, [(0, 500, 1, "pread", 0, KB)]), "/data/a", TFD_ZERO_READS=None),
        lambda _: "The log does not say what the job waited for", POOR, as_log,
    ),
    "a log's wall clock": Row(
        "reads, wall clock", READER,
        lambda found: human_seconds(found.union_s(found.calls("pread", "read"))), READER,
        lambda session: timed_log(session), as_log,
    ),
    "what a log lacks": Row(
        "Not known, for the log does not say", POOR, lambda _: "Not in the log: file sizes", POOR,
        partial(as_log, darshan=LOG | {"not_known": ["file sizes: nor stats"]}), lambda session: session,
    ),
}  # fmt: skip


def timed_log(session: Session) -> Session:
    """Makes a log of it whose trace is complete, so that it tells the time in reads by the wall clock."""
    (path,) = session.path.glob("*.meta.json")
    read_ns = json.loads(path.read_text())["time"]["read_ns"]
    logged = as_log(session)
    meta = json.loads(path.read_text())
    meta["time"] |= {"read_ns": read_ns}
    path.write_text(json.dumps(meta))
    return open_session(logged.path)


@pytest.mark.parametrize("name", ROWS)
def test_a_session_is_said_to_be_what_it_is(name, tmp_path):
    check_said(ROWS[name], tmp_path, everywhere)


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_traffic_that_is_of_no_table_is_named_with_its_bytes(kind, tmp_path):
    # GIVEN 20 MB of reads, and 3 MB of another kind in the kernel's count
    moved = {kind: {"bytes_read": 3 * MB, "bytes_written": 0}}
    session = changed(lambda folder: partly_cached(folder, MB, 23 * MB), other=moved)(tmp_path)

    # WHEN
    text = printed("summary", str(session.path), "-v")

    # THEN all of it is accounted for
    assert f"{KIND_NAMES[kind]} {exact_bytes(3 * MB)}" in text
    assert f"read 100.0 % of {exact_bytes(23 * MB)} (rchar)" in text
    assert [other for other in KIND_NAMES if other != kind and f"{KIND_NAMES[other]} 3" in text] == []


KINDS_SAID = {
    "excluded": "files left out by patterns", "device": "terminals and devices",
    "anonymous": "memory files and event descriptors", "unknown": "descriptors of unknown kind",
    "skipped": "signal handlers inside the recorder", "pipe": "pipes", "socket": "sockets",
}  # fmt: skip


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


def test_every_kind_of_traffic_has_a_name():
    assert KINDS_SAID == KIND_NAMES


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
    """Gives the texts of panels, a line each."""
    return "\n".join(texts_in(panels))
