"""What an export or an imported log is said to lack: what it does lack, and nothing else."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.scenario_sessions import cut_short
from tests.unit.sentences.changed_meta import changed
from tests.unit.sentences.counters_only import without_trace
from tests.unit.sentences.sessions import SESSIONS
from tests.unit.sentences.shown import printed
from tfdarshan.formats.export import chrome_trace
from tfdarshan.formats.export.chrome_trace import ChromeTrace
from tfdarshan.formats.export.darshan_log import ALWAYS_LEFT_OUT, export_darshan
from tfdarshan.formats.importing import darshan_log
from tfdarshan.formats.importing.darshan_log import import_darshan
from tfdarshan.formats.importing.log_regions import LogRegions
from tfdarshan.formats.importing.process_meta import not_known
from tfdarshan.formats.importing.ranks import SHARED
from tfdarshan.session import Session, open_session

READER = SESSIONS["one reader"]
NO_SEGMENTS = "DXT_POSIX and HEATMAP: the session has no segments"
DROPPED = "1,200 segments that the session had no room for"


def exported(folder: Path, session: Session) -> tuple[Path, tuple[str, ...]]:
    """Return a session as a log, and what the log is said to lack."""
    log = folder / "out.darshan"
    return log, export_darshan(session, log).left_out


@pytest.mark.parametrize(
    ("dropped", "traced", "more"), [(0, True, ()), (1200, True, (DROPPED,)), (0, False, (NO_SEGMENTS,))]
)
@pytest.mark.usefixtures("pydarshan")
def test_a_log_is_said_to_lack_what_it_lacks(dropped, traced, more, tmp_path):
    # GIVEN a session with its trace, with a part of it, or without
    session = READER(tmp_path / "logs") if traced else without_trace(READER(tmp_path / "logs"))
    if dropped:
        segments = len(session.events)
        counts = {"segments": segments, "events_dropped": dropped}
        session = changed(lambda _: session, counts=counts)(tmp_path)

    # WHEN
    log, left_out = exported(tmp_path, session)

    # THEN
    assert left_out == (*ALWAYS_LEFT_OUT, *more)
    again = open_session(import_darshan(log, tmp_path / "again").path)
    assert bool(len(again.events)) == traced


@pytest.mark.usefixtures("pydarshan")
def test_what_no_log_has_is_not_there_when_it_is_read_again(tmp_path):
    session = SESSIONS["asked again and again"](tmp_path / "logs")
    log, _ = exported(tmp_path, session)

    again = open_session(import_darshan(log, tmp_path / "again").path)

    assert ALWAYS_LEFT_OUT == (
        "segments of other calls than POSIX reads and writes, and their threads and kinds of call",
        "failed calls",
        "copies inside the kernel, unlinks, truncates and the length of mappings",
        "the kernel's own figures",
    )
    before, after = (set(one.events["operation"].astype(str)) for one in (session, again))
    assert {"stat", "open", "pread"} <= before
    assert after == {"read"}
    # The file itself still counts opens and stats.
    assert again.files["POSIX_OPENS"].sum() == session.files["POSIX_OPENS"].sum()
    assert not again.meta[0]["kernel"]["valid"]


NEVER = [
    "failed calls: nor unlinks, truncates, the length of mappings, copies inside the kernel",
    "file sizes: nor stats that Darshan's version does not hook",
    "wall-clock times: of opens, stats, closes and STDIO calls",
    "coverage: nothing says what the kernel charged, and so how much the log did not see",
]
OTHER_SEGMENTS = "other segments: of calls that are no POSIX reads or writes; nor a segment's kind"
NO_DXT = "segments: the log has no DXT_POSIX records, so no reads of nothing either"
NO_THREADS = "threads: the log's segments do not tell them apart"
OF_SHARED = "ranks of shared files: these are process -1 of the session"


@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.usefixtures("pydarshan")
def test_an_imported_log_says_what_it_does_not_know(traced, tmp_path):
    session = READER(tmp_path / "logs")
    log, _ = exported(tmp_path, session if traced else without_trace(session))

    imported = open_session(import_darshan(log, tmp_path / "again").path)

    notes = imported.meta[0]["darshan"]["not_known"]
    first = [OTHER_SEGMENTS, NO_THREADS] if traced else [NO_DXT]
    assert notes[: len(first) + len(NEVER)] == [*first, *NEVER]
    text = printed("summary", str(imported.path), "-v")
    for words in [*first, *NEVER]:
        assert words.partition(":")[0] in text
    # They are not known indeed.
    assert imported.files["size_bytes"].eq(-1).all()
    assert imported.meta[0]["time"]["meta_ns"] is None
    assert (len(imported.events) > 0) == traced


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("rank", [0, SHARED])
def test_threads_and_shared_files_are_said_to_be_what_they_are(threads, rank):
    # GIVEN segments that name threads or do not, and a process that stands for all ranks or does not
    segments = SimpleNamespace(thread=np.arange(threads))
    log = SimpleNamespace(layers={})
    source = SimpleNamespace(segments=segments, log=log, content=SimpleNamespace(other_modules=[]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tfdarshan.formats.importing.process_meta.shown_layers", lambda _: [])
        notes = not_known(cast(Any, source), cast(Any, [SimpleNamespace(rank=rank)]))

    assert (NO_THREADS in notes) == (threads == 0)
    assert (OF_SHARED in notes) == (rank == SHARED)


@pytest.mark.parametrize("lost", [0, 1200])
def test_segments_without_a_record_are_counted(lost):
    log, content = SimpleNamespace(partial=()), SimpleNamespace(mixed=0)
    source = SimpleNamespace(log=cast(LogRegions, log), content=content)

    bounds = darshan_log._bounds(cast(Any, source), cast(Any, SimpleNamespace(is_merged=False)), lost)

    assert bounds == (["1,200 segments have no POSIX record and were left out"] if lost else [])


@pytest.mark.parametrize("dropped", [0, 7])
def test_a_trace_is_said_to_lack_calls_if_a_bound_dropped_some(dropped, tmp_path):
    session = READER(tmp_path / "logs")
    if dropped:
        session = cut_short(session, dropped)
    calls = len(session.events)
    out = tmp_path / "trace.json"

    text = printed("export", "--trace", str(out), str(session.path))

    assert f"wrote {out}: {calls:,} calls of " in text
    assert "; open it at https://ui.perfetto.dev or in chrome://tracing" in text
    assert ("Bandwidth counters are those of the calls in the trace, without 7 others." in text) == bool(
        dropped
    )


def test_an_exported_log_says_how_to_see_it(tmp_path):
    session, out = READER(tmp_path / "logs"), tmp_path / "out.darshan"

    text = printed("export", "--darshan", str(out), str(session.path))

    files = session.files["path"].nunique()
    assert f"wrote {out}: 1 process, {files} files; see it with: python -m darshan summary {out}" in text
    for part in ALWAYS_LEFT_OUT:
        assert f" not in it: {part}" in text
    assert NO_SEGMENTS not in text


def test_calls_that_are_in_no_table_are_said_to_be_missing(tmp_path, monkeypatch):
    # GIVEN a session whose bandwidth has calls that its trace lacks
    lacking = ChromeTrace(tmp_path / "trace.json", calls=3, faults=0, threads=1, complete=False, sample="")
    monkeypatch.setattr(chrome_trace, "export_chrome_trace", lambda *_given, **_options: lacking)

    text = printed("export", "--trace", str(lacking.path), str(READER(tmp_path / "logs").path))

    assert "not in it: calls whose segments a bound dropped" in text
