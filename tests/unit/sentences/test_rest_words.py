"""What plans, lists, what-if, probes and compare say besides, where it is so and where it is not."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.integration.staging.tree import make_files, plan_of
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.sentences.changed_meta import changed
from tests.unit.sentences.made_up_advice import ALIKE, advised
from tests.unit.sentences.other_sessions import poor, slow
from tests.unit.sentences.rows import texts_in
from tests.unit.sentences.sessions import KB, SESSIONS
from tests.unit.sentences.shown import page_text, printed
from tests.unit.sentences.staged_files import COUNT
from tfdarshan.analysis.calls.time_windows import EVER_NS, TimeWindow
from tfdarshan.comparison.change import compare
from tfdarshan.comparison.measured_run import Side
from tfdarshan.recording.redirect import StagedFiles
from tfdarshan.reports.text.brief_text import _more_of_a_log
from tfdarshan.reports.text.comparison_text import headline, render_side, sentence_of
from tfdarshan.reports.views.comparison_view import NOISE_NOTE, compare_view
from tfdarshan.reports.views.timeline_view import Window, timeline_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import Session
from tfdarshan.sessions.catalogue import list_sessions
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.assumed_tier import ASSUMED_TIERS, assumed_tier
from tfdarshan.staging.plan_file import Plan, PlannedFile, write_plan
from tfdarshan.staging.plan_formats import FORMATS, emit
from tfdarshan.staging.probe import _how
from tfdarshan.staging.undo import undo_plan
from tfdarshan.staging.verify import verify_plan
from tfdarshan.storage_probe.probe_result import _why_not
from tfdarshan.terminal.paint import Paint
from tfdarshan.units import human_bytes, human_seconds


def remove_copy(slow_copy: Path, fast_copy: Path) -> None:
    """Leave no copy."""
    fast_copy.unlink()


def change_original(slow_copy: Path, fast_copy: Path) -> None:
    """Write the original anew."""
    slow_copy.write_bytes(b"new content")
    os.utime(slow_copy, (1, 1))


def remove_original(slow_copy: Path, fast_copy: Path) -> None:
    """Leave no original."""
    slow_copy.unlink()


def damage_copy(slow_copy: Path, fast_copy: Path) -> None:
    """Write the copy anew."""
    fast_copy.write_bytes(b"short")


VERIFIED: dict[str, Callable[[Path, Path], None]] = {
    "has no copy": remove_copy,
    "was changed since it was copied": change_original,
    "its copy is not what was copied": damage_copy,
    "the original is not there any more": remove_original,
}


@pytest.mark.parametrize("words", VERIFIED)
def test_verify_says_of_a_copy_what_is_wrong_with_it(words, staged, tmp_path):
    # GIVEN one file of six that something happened to
    plan, slow_root, fast_root = staged
    name = plan.files[0].name
    VERIFIED[words](slow_root / name, fast_root / name)
    write_plan(plan, tmp_path / "plan.json")

    # WHEN
    text = printed("stage", "verify", str(tmp_path / "plan.json"))

    # THEN it is said of that one, and nothing else of any
    assert verify_plan(plan).good == COUNT - 1
    assert text.count(words) == 1, text
    assert [other for other in (*VERIFIED, FOREIGN) if other != words and other in text] == []


FOREIGN = "what has its name on the fast tier was not staged"
LEFT = "is on the fast tier already and was not staged: left as it is"


def test_a_file_of_somebody_else_is_said_to_be(tmp_path):
    # GIVEN a name of the plan that is there already
    make_files(tmp_path / "slow", COUNT, largest=1000)
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")
    name = plan.files[0].name
    (tmp_path / "fast" / name).parent.mkdir(parents=True)
    (tmp_path / "fast" / name).write_bytes(b"theirs")

    # THEN it is left alone, and is no copy
    assert apply_plan(plan, ApplyOptions()).problems == {name: LEFT}
    assert verify_plan(plan).wrong == {name: "foreign"}
    assert (tmp_path / "fast" / name).read_bytes() == b"theirs"


@pytest.mark.parametrize("is_changed", [True, False])
def test_undo_says_what_it_leaves(is_changed, staged):
    plan, _, fast_root = staged
    name = plan.files[0].name
    if is_changed:
        (fast_root / name).write_bytes(b"somebody else's")

    undone = undo_plan(plan)

    assert undone.kept == ({name: "was changed or replaced since it was staged"} if is_changed else {})


@pytest.mark.parametrize("room", [True, False])
def test_a_fast_tier_without_room_is_said_to_have_none(room, tmp_path):
    # GIVEN a plan that leaves so much free as there cannot be, or nothing
    make_files(tmp_path / "slow", COUNT, largest=1000)
    plan = plan_of(tmp_path / "slow", tmp_path / "fast", reserve_bytes=0 if room else 1 << 60)

    stopped = apply_plan(plan, ApplyOptions()).stopped

    words = f" free, of which {human_bytes(1 << 60)} must stay free, and the next files take "
    assert (words in (stopped or "")) != room
    assert ((stopped or "").endswith(": remove other files there and run this command again")) != room


@pytest.mark.parametrize("copies", [0, 1, 2, COUNT])
def test_a_plan_that_is_not_applied_is_said_to_be(copies, staged):
    # GIVEN so many copies of six
    plan, _, fast_root = staged
    there = StagedFiles(plan)
    there.count = copies
    words = there._not_applied()

    have = "has" if copies == 1 else "have"
    assert words == (
        f"the plan is applied in part: {copies} of its {COUNT} files {have} a copy in {fast_root}. "
        "`tfdarshan stage apply PLAN` makes the others"
        if copies
        else f"the plan is not applied: none of its {COUNT} files has a copy in {fast_root}, and the job "
        "reads the originals. `tfdarshan stage apply PLAN` makes the copies"
    )


@pytest.mark.parametrize("name", ASSUMED_TIERS)
def test_an_assumed_tier_is_said_to_be_assumed(name):
    words, model = ASSUMED_TIERS[name]

    assert assumed_tier(name, 1.0).note == f"assumed, not measured: {words}, {model.about}"


def test_a_window_is_called_by_its_ends():
    assert TimeWindow(-EVER_NS, 1_500_000_000, (), ()).name == "calls from the start to 1.500 s"
    assert TimeWindow(1_500_000_000, EVER_NS, (), ()).name == "calls from 1.500 s to the end"


def test_a_probe_of_failed_reads_says_so():
    read = SimpleNamespace()
    probing: Any = SimpleNamespace(blind=0, cached=0, error=None, opened=3, cells=[read])

    assert _why_not(probing) == "the reads that succeeded are too few to say anything"


def sides(folder: Path, *makers: Callable[[Path], Session]) -> list[Side]:
    """Return sides A, B ... of one run each."""
    return [Side(label, [Source(maker(folder / label))]) for label, maker in zip("ABC", makers, strict=False)]


@pytest.mark.parametrize(
    ("makers", "said_of_it"),
    [
        ((slow(1), slow(2)), "Comparable: yes."),
        ((poor, changed(poor, host="node7")), "Comparable: with care, conditions differ (host)."),
        ((poor, SESSIONS["one reader"]), "Comparable: no, the work differs ("),
    ],
    ids=["yes", "with care", "no"],
)  # fmt: skip
def test_a_comparison_says_whether_it_is_fair(makers, said_of_it, tmp_path):
    both = compare(*sides(tmp_path, *makers))
    panels = compare_view(*(Source(maker(tmp_path / str(n))) for n, maker in enumerate(makers)))
    shown = texts_in(panels)

    assert sentence_of(both.comparable, both.checks).startswith(said_of_it)
    assert any(text.startswith(said_of_it) for text in shown)
    assert {"Can they be compared?", NOISE_NOTE,
            "Green: better. Red and hatched: worse. Grey: neither, or within noise.",
            "second session over first"} <= shown  # fmt: skip
    assert NOISE_NOTE == (
        "Noise: how much a time may differ though nothing has changed, judged by how even each session was."
    )


@pytest.mark.parametrize("runs", [1, 3])
def test_medians_of_several_runs_are_called_so(runs, tmp_path):
    # GIVEN runs whose steps take 10, 20 and 30 ms
    sessions = [Source(slow(n + 1)(tmp_path / str(n))) for n in range(runs)]
    side = Side("B", sessions)

    both = compare(Side("A", sessions[:1]), side)

    assert (", medians of 3 sessions: " in render_side(side)) == (runs == 3)
    after = human_seconds({1: 0.01, 3: 0.02}[runs])
    assert f"a step takes {after} (before: {human_seconds(0.01)})" in headline(both.comparable, both.changes)


def test_of_a_run_that_does_not_say_how_long_it_took_nothing_is_said(tmp_path):
    one, two = sides(tmp_path, poor, poor)
    both = compare(one, two)
    unknown = [dataclasses.replace(change, before=None) for change in both.changes]

    assert headline(both.comparable, unknown) == (
        "Which of the runs is faster is not known: one does not say how long it took."
    )
    assert headline(both.comparable, both.changes).startswith("As fast as before: the session took ")


@pytest.mark.parametrize(
    ("state", "words"),
    [("interrupted", "interrupted"), ("complete", "")],
)
def test_a_list_says_of_a_session_what_state_it_is_in(state, words, tmp_path):
    from tfdarshan.reports.text.list_text import STATES, why

    (listed,) = list_sessions(poor(tmp_path).path.parents[2])
    listed = dataclasses.replace(listed, state=state)

    assert STATES.get(state, "") == words
    assert why(listed, None).startswith(words or "not looked at yet")


PLANNED = {
    "rsync": "rsync -a --from0 --files-from=FILE /slow/ /fast/",
    "tar": "tar -C /slow --null --verbatim-files-from -T FILE -cf - | tar -C /fast -xf -",
    "juicefs": "juicefs warmup --file FILE",
    "list": "",
}


@pytest.mark.parametrize("name", PLANNED)
def test_a_list_of_files_says_what_takes_it(name):
    assert set(PLANNED) == set(FORMATS)
    assert emit(Plan("/slow", "/fast", (PlannedFile("a", 1, 1),)), name).usage == PLANNED[name]


@pytest.mark.parametrize("direct", [True, False])
def test_a_tier_says_how_it_was_measured(direct):
    way = "past the page cache" if direct else "after dropping its pages, which not every file system does"

    assert _how(24, 2, direct=direct) == f"measured on 24 files by 2 threads, {way}"


@pytest.mark.parametrize("mirror", [True, False])
def test_a_mirror_that_cannot_be_made_is_said_to(mirror, tmp_path, monkeypatch):
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/fast/link")

    monkeypatch.setattr("tfdarshan.staging.apply.mirror_links", refused)
    make_files(tmp_path / "slow", COUNT, largest=1000)
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")

    stopped = apply_plan(plan, ApplyOptions(mirror=mirror)).stopped

    assert stopped == ("the mirror is not complete: /fast/link: Permission denied" if mirror else "")


@pytest.mark.parametrize("number", [28, 13])
def test_a_fast_tier_that_became_full_is_said_to_be(number, tmp_path, monkeypatch):
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("tfdarshan.staging.apply.copy_file", refused)
    make_files(tmp_path / "slow", COUNT, largest=1000)
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")

    stopped = apply_plan(plan, ApplyOptions()).stopped

    full = f"{tmp_path / 'fast'} is full: remove other files there and run this command again"
    assert stopped == (full if number == 28 else "")


def test_a_plot_is_called_what_it_shows(tmp_path):
    from tfdarshan.reports.capacity_plot import write_plot

    write_plot(advised(ALIKE), tmp_path / "plot.html")

    page = (tmp_path / "plot.html").read_text(encoding="utf-8")
    assert "What staging to \\u002ffast saves" in page or "What staging to /fast saves" in page
    assert "of what staging every file saves (%)" in page


def in_folders(folder: Path, count: int) -> Session:
    """Return as many slow files of 10 MB as folders."""
    calls = [
        (100 * n + 20 * k, 100 * n + 20 * k + 19, 1, "pread", n, 500 * KB, k * 500 * KB)
        for n in range(count)
        for k in range(5)
    ]
    paths = [f"/data/{n}/a" for n in range(count)]
    steps = epochs_of_steps(count, 100, 95)
    return training(folder, calls, steps, paths=paths, sizes=[2500 * KB] * count)


@pytest.mark.parametrize("count", [10, 25])
def test_folders_that_are_not_listed_are_counted(count, tmp_path):
    text = page_text(in_folders(tmp_path, count))

    assert (f"the slowest 20 of {count} folders" in text) == (count > 20)
    assert (f"the 20 with most to copy, of {count}" in text) == (count > 20)


@pytest.mark.parametrize(
    ("measure_by", "words"), [("operations", "calls per second"), ("busy", "busy: share of time in calls")]
)
def test_a_timeline_is_called_what_it_measures(measure_by, words, tmp_path):
    source = Source(SESSIONS["one reader"](tmp_path))

    shown = texts_in(timeline_view(source, Window(measure=measure_by)))
    other = texts_in(timeline_view(source, Window(measure="bandwidth")))

    assert any(words in text for text in shown)
    assert not any(words in text for text in other)


BOUND = "the trace was cut"
PROBLEM = "process 9: its file is damaged"
UNTOLD = "cannot tell whether it waits for files"


@pytest.mark.parametrize("limited", [True, False])
def test_what_limits_a_session_comes_first(limited, tmp_path):
    meta = {"bounds": [BOUND], "children": {"unreadable": [PROBLEM]}} if limited else {}
    session = changed(poor, stopped=not limited, owner=True, **meta)(tmp_path)

    shown, text = page_text(session, "overview"), printed("summary", str(session.path), "-v")
    brief = printed("summary", str(session.path))

    until = "The process ended without stopping the session: this is what it had recorded until then."
    for words, where in (
        ("Bounds and problems", shown), (f"{BOUND}.", shown), (PROBLEM, shown), (until, shown),
        (f"Bounds reached {BOUND}.", text), (f"Not read {PROBLEM}", text), (until, text), (until, brief),
    ):  # fmt: skip
        assert (words in where) == limited, words


def test_a_list_says_what_stands_out_where_it_cannot_tell(tmp_path):
    from tfdarshan.findings.diagnosis import diagnose
    from tfdarshan.findings.kept_verdicts import kept_verdict
    from tfdarshan.reports.text.list_text import why

    for name, words in (
        ("no steps", f"{UNTOLD}; what stands out: "), ("no call", UNTOLD), ("one reader", ""),
    ):  # fmt: skip
        session = SESSIONS[name](tmp_path / name)
        (listed,) = list_sessions(tmp_path / name)
        found = diagnose(session)
        text = why(listed, kept_verdict(found))
        assert text.startswith(words)
        if name == "one reader":
            assert text == found.problems[0].title
        if name == "no steps":
            assert text == f"{UNTOLD}; what stands out: {found.named.title}"


def test_modules_that_no_finding_is_about_have_a_panel(tmp_path):
    from tests.made_up_session import write_session
    from tests.unit.findings.made_up_imports import imports

    many, none = write_session(tmp_path / "a", imports(100, 400)), SESSIONS["one reader"](tmp_path / "b")

    assert "What no finding is about" in page_text(many)
    assert "What no finding is about" not in page_text(none)


def test_a_log_that_is_no_session_can_be_made_one():
    text = " ".join(_more_of_a_log("/data/a.darshan", Paint(width=200)))

    assert "tfdarshan import /data/a.darshan  a session of it, for all other verbs" in text


@pytest.mark.parametrize("damaged", [True, False])
def test_a_fleet_of_no_jobs_says_so(damaged, tmp_path):
    (tmp_path / "logs").mkdir()
    if damaged:
        (tmp_path / "logs/torn.darshan").write_bytes(b"3.41")
    where = ("--catalogue", str(tmp_path / "c"), "--findings", "0", "--processes", "1")

    printed("fleet", str(tmp_path / "logs"), *where, "--html", str(tmp_path / "a.html"))

    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "No job could be read." in page
    assert "tfdarshan: fleet of 0 jobs" in page
    assert ("Left out of all that is below" in page) == damaged


def test_writes_without_steps_are_no_checkpoints(tmp_path):
    from tests.unit.sentences.other_sessions import saved

    shown = {marked: page_text(saved(tmp_path / str(marked), marked=marked)) for marked in (True, False)}

    for words in ("Bursts of writes, one by one", "file with most bytes"):
        assert words not in shown[True]
        assert words in shown[False]
