"""Parts of pages, fleets, plans and probes that say what they are of, with their own figures."""

from __future__ import annotations

import dataclasses
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.integration.staging.tree import make_files, plan_of
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.sentences.counters_only import as_log, with_counters
from tests.unit.sentences.other_sessions import mapped
from tests.unit.sentences.sessions import MB, SESSIONS
from tests.unit.sentences.shown import page_text, printed
from tfdarshan.errors import ConfigurationError
from tfdarshan.fleet.breakdown import StepPart
from tfdarshan.fleet.job_groups import JobGroup
from tfdarshan.reports.figures.treemap import FILE, Box, treemap_figure
from tfdarshan.reports.text.fleet_text import _breakdown_lines
from tfdarshan.reports.views.files_view import FileQuery, file_page, files_table
from tfdarshan.reports.views.fleet_views import MOST_ROWS, _groups, _part_tile
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.panel import Tiles
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import Session
from tfdarshan.staging.check import _promise
from tfdarshan.storage_probe.probe_result import StorageProbe
from tfdarshan.terminal.paint import Paint
from tfdarshan.units import human_bytes, human_seconds, percent


@pytest.mark.parametrize(
    ("promise", "why"),
    [({}, "nothing that could be checked:"), ({"saved_s": "x"}, "nothing that could be checked (")],
)
def test_a_plan_without_a_promise_says_so(promise, why, tmp_path):
    make_files(tmp_path / "slow", 1)
    plan = plan_of(tmp_path / "slow", tmp_path / "fast", promise=promise)

    with pytest.raises(ConfigurationError, match=re.escape(f"the plan promises {why}")):
        _promise(plan)


def test_a_plan_is_a_file_of_its_own_kind(tmp_path):
    make_files(tmp_path / "slow", 1)

    assert plan_of(tmp_path / "slow", tmp_path / "fast").as_json()["format"] == "tfdarshan staging plan"


def test_a_probe_is_called_by_where_and_when():
    probe = StorageProbe("/data", "/data", "nfs", "node7", 0, 2.4, 1, 1, 0, True, True, 1)
    seconds, when = 2, time.strftime("%Y-%m-%d %H:%M", time.localtime(0))

    assert probe.words == f"a probe of {probe.folder} on {probe.host}, {seconds} s, {when}"


@pytest.mark.parametrize("hot", [True, False])
def test_the_staging_view_names_the_knee_of_its_curve(hot, tmp_path):
    # GIVEN 40 files of 1 MB, of which five are read twenty times, or all are read alike
    order = [n for n in range(40) for _ in range(20 if hot and n < 5 else 2)]
    calls = [(20 * at, 20 * at + 18, 1, "pread", n, MB, 0) for at, n in enumerate(order)]
    steps = epochs_of_steps(len(order) // 5, 100, 95)
    paths = [f"/data/{n}" for n in range(40)]
    session = training(tmp_path, calls, steps, paths=paths, sizes=[MB] * 40)

    text = page_text(session, "staging")

    knee = f"Beyond the knee, {human_bytes(5 * MB)}, a byte saves less than on average."
    assert (knee in text) == hot
    assert ("Beyond the knee" in text) == hot


@pytest.mark.parametrize(
    ("processes", "files", "note"),
    [
        (1, 1, "50.0 % of the session"),
        (1, 2, "added up over files"),
        (3, 1, "of all processes"),
        (3, 2, "of all processes"),
    ],
)
def test_page_faults_of_several_processes_and_files_are_no_share(processes, files, note, tmp_path):
    source = Source(mapped(tmp_path))
    faults = dataclasses.replace(source.summary.mapped, files=files)
    source.__dict__["summary"] = dataclasses.replace(source.summary, processes=processes, mapped=faults)

    tiles = next(panel for panel in overview_view(source) if isinstance(panel, Tiles))
    (tile,) = [tile for tile in tiles.items if tile.label == "In page faults"]

    assert tile.note == note


@pytest.mark.parametrize("known", [0, 3])
def test_a_part_of_steps_that_no_job_says_is_unknown(known):
    part = StepPart("T_s", "storage", known, *((2.0, 8.0, 0.5) if known else (None, None, None)))

    tile = _part_tile(part)
    head, line = _breakdown_lines([part], Paint(width=100))

    assert tile.note == ("of step time, 2.0 h, known of 3 jobs" if known else "no job says it")
    assert tile.value.text == (percent(2.0, 8.0) if known else "unknown")
    assert head.split("of step time")[1].split("known jobs")[0].strip() == "mean of the jobs"
    assert ("unknown" in line) != bool(known)


@pytest.mark.parametrize("more", [0, 7])
def test_a_groups_table_says_how_many_are_not_shown(more):
    names = [field.name for field in dataclasses.fields(JobGroup)]
    values: dict[str, Any] = dict.fromkeys(names, 0) | {"name": "u"}
    group = JobGroup(**values)

    table = _groups("user", "Users", [group] * (MOST_ROWS + more))

    assert len(table.rows) == MOST_ROWS
    left = f" {more} more are not shown." if more else ""
    assert table.note == f"Hours are of processes, added up.{left}"


@pytest.mark.parametrize("traced", [True, False])
def test_a_log_with_all_writes_tells_their_wall_clock(traced, tmp_path):
    # GIVEN a log whose trace has all of its writes, so that its metadata tells the time in them, or not
    session = SESSIONS["only writes"](tmp_path)
    time_ns = {"write_ns": 800_000_000} if traced else {}
    logged = as_log(session)
    _set_time(logged.path, time_ns)

    text = printed("summary", str(logged.path), "-v")

    row = f"writes, wall clock {human_seconds(0.8)} {percent(0.8, 0.998)}"
    assert (row in text) == traced


def _set_time(folder: Path, time_ns: dict[str, int]) -> None:
    import json

    (path,) = folder.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["time"] |= time_ns
    path.write_text(json.dumps(meta))


def one_file(folder: Path) -> Session:
    """Return a session with a read of one file."""
    return training(folder, [(0, 10, 1, "pread", 0, MB, 0)], paths=["/data/a"], sizes=[MB])


def listed(session: Session) -> list[str]:
    """Return the words of what `tfdarshan files` lists below its heads."""
    return printed("files", str(session.path)).partition(" path ")[2].split()


def test_reads_of_nothing_that_no_log_counts_are_shown_as_unknown(tmp_path):
    # GIVEN a log without a trace, which does not say how many reads were of no bytes
    session = with_counters(as_log(one_file(tmp_path)), "/data/a", TFD_ZERO_READS=None)
    source = Source(session)

    # WHEN
    table, _ = files_table(source, FileQuery())
    _, tiles, *_ = file_page(source, "/data/a")

    # THEN
    assert [row[4].text for row in table.rows] == ["-"]
    assert [tile.note for tile in tiles.items if tile.label == "Reads"] == [""]
    assert listed(session)[4] == "-"


def test_time_on_a_clock_that_was_set_back_takes_nothing_off(tmp_path):
    times = {"POSIX_F_READ_TIME": -5.0, "POSIX_F_WRITE_TIME": 0.25, "POSIX_F_META_TIME": 0.0}
    session = with_counters(as_log(one_file(tmp_path)), "/data/a", "POSIX", **times)

    # THEN
    assert listed(session)[:2] == human_seconds(0.25).split()
    assert files_table(Source(session), FileQuery())[0].rows[0][1].text == human_seconds(0.25)


def test_a_box_of_nearly_nothing_or_nearly_all_is_not_said_to_be_that():
    boxes = [
        Box(id=name, parent="" if name == "/" else "/", name=name, kind=FILE, value=size, seconds=1, files=1)
        for name, size in (("/", 1e9), ("/most", 1e9 - 1), ("/rest", 1.0))
    ]

    (drawn,) = treemap_figure(boxes)["data"]

    assert [about[2] for about in drawn["customdata"]] == ["100.0 %", "> 99.9 %", "< 0.1 %"]
    assert "%{customdata[2]} of all" in drawn["hovertemplate"]
