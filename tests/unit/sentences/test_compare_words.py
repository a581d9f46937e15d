"""What `compare` says of two runs: every figure by the raw tables, every check where it is so and not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.joint_training import MadeUpRank, joint_training
from tests.scenario_sessions import SKETCHES, fetched, sketched
from tests.unit.findings.made_up_ranks import shards
from tests.unit.findings.made_up_training import training
from tests.unit.golden.golden_file import Golden, besides_first
from tests.unit.sentences.other_sessions import poor, slow
from tests.unit.sentences.raw_figures import Raw, raw
from tests.unit.sentences.rows import Maker
from tests.unit.sentences.sessions import MB, SESSIONS, partly_cached
from tfdarshan.comparison.change import compare
from tfdarshan.comparison.measured_run import Side
from tfdarshan.comparison.metric import METRICS, find_metric
from tfdarshan.reports.text.comparison_text import headline, render, sentence_of
from tfdarshan.reports.views.comparison_view import compare_view
from tfdarshan.reports.views.panel import Table
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import Session, open_session
from tfdarshan.units import human_seconds

RICH = replace(
    SKETCHES["checkpoints"], before=5, stats=2, epochs=2, empty_ms=0.01, kernel=fetched(9 * MB, 5 * MB),
    writes=[("write", 4 * MB, 20.0), ("fsync", 0, 5.0)],
)  # fmt: skip
FAILED = [{"error": 2, "name": "ENOENT", "operation": "open", "calls": 7}]


def rich(folder: Path) -> Session:
    """Return a job that makes calls of all kinds, of which seven opens failed."""
    session = sketched(folder, RICH)
    (path,) = session.path.glob("*.meta.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"failures": FAILED}))
    return open_session(session.path)


WRITES = ("write", "fsync")
META = ("open", "close", "stat")


def _seconds(*names: str) -> Callable[[Raw], float]:
    return lambda found: found.union_s(found.calls(*names)) if len(found.calls(*names)) else 0.0


def _count(*names: str) -> Callable[[Raw], float]:
    return lambda found: len(found.calls(*names))


def _moved(*names: str) -> Callable[[Raw], float]:
    return lambda found: int(found.calls(*names)["length"].sum())


def _summed(found: Raw) -> float:
    return float((found.events["end_ns"] - found.events["start_ns"]).sum()) / 1e9


def _of_steps(figure: Callable[[Raw], float]) -> Callable[[Raw], float | None]:
    return lambda found: figure(found) if len(found.steps) else None


def _rate(*names: str, kinds: tuple[str, ...]) -> Callable[[Raw], float | None]:
    return lambda found: _moved(*names)(found) / _seconds(*kinds)(found) if len(found.calls(*kinds)) else None


def _passes(found: Raw) -> float | None:
    read = found.files[found.files["POSIX_BYTES_READ"] > 0]
    return read["POSIX_BYTES_READ"].sum() / read["size_bytes"].sum() if len(read) else None


# By name: what it is said to be, and what the raw tables say. "duration" and what the kernel or a failure
# says are in the metadata alone, of `rich` and of `poor`.
FIGURES: dict[str, tuple[str, Callable[[Raw], float | None]]] = {
    "step_time": ("from the first step's start to the last one's end, over their number", _of_steps(
        lambda found: (found.steps["end"].max() - found.steps["start"].min()) / 1e9 / len(found.steps))),
    "input_wait": ("mean time a step waited for its batch", _of_steps(
        lambda found: found.steps["wait"].mean() / 1e9)),
    "input_wait_share": ("time waiting for input over step time, 0 to 1", _of_steps(
        lambda found: found.wait_share)),
    "io_time": ("wall clock: at least one call was running", lambda found: found.union_s(found.events)),
    "read_time": ("wall clock: at least one read was running", _seconds("pread", "read")),
    "write_time": ("wall clock: at least one write or sync was running", _seconds(*WRITES)),
    "metadata_time": ("wall clock: at least one such call was running", _seconds(*META)),
    "thread_time": ("the durations of all calls, added up over threads", _summed),
    "queue_depth": ("thread time over time in I/O",
                    lambda found: _summed(found) / found.union_s(found.events)),
    "bytes_read": ("what reads and copies returned", _moved("pread", "read")),
    "bytes_written": ("what writes and copies took", _moved("write")),
    "read_bandwidth": ("bytes read over time in reads", _rate("pread", "read", kinds=("pread", "read"))),
    "write_bandwidth": ("bytes written over time in writes", _rate("write", kinds=WRITES)),
    "files": ("files with at least one call", lambda found: found.files["path"].nunique()),
    "calls": ("all recorded calls", lambda found: len(found.events)),
    "opens": ("opens that succeeded", _count("open")),
    "reads": ("read calls", _count("pread", "read")),
    "zero_length_reads": ("reads that returned nothing: probes for the end of a file",
                          lambda found: len(found.empty_reads)),
    "writes": ("write calls", _count("write")),
    "stats": ("stat and its like", _count("stat")),
    "syncs": ("fsync, fflush", _count("fsync")),
    "passes": ("bytes read over the size of the files read", _passes),
}  # fmt: skip
TOLD: dict[str, tuple[str, dict[Maker, float | None]]] = {
    "duration": ("from the session's start to its end", {poor: 0.998}),
    "failures": ("calls that returned an error", {rich: 7, poor: 0}),
    "storage_bytes_read": ("what the kernel fetched from the machine's own storage meanwhile",
                           {rich: 5 * MB, poor: None}),
}  # fmt: skip
# Labels say what a figure is of.
LABELS = {
    "input_wait": "input wait of a step", "input_wait_share": "input wait, of step time",
    "metadata_time": "time in open, stat, close", "write_time": "time in writes",
    "syncs": "syncs and flushes",
    "read_time": "time in reads", "step_time": "time of a step",
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Maker], Session]:
    """Return sessions, each made once."""
    return cache(lambda maker: maker(tmp_path_factory.mktemp("session")))


def test_every_figure_is_checked():
    assert sorted([*FIGURES, *TOLD]) == sorted(metric.name for metric in METRICS)


@pytest.mark.parametrize("maker", [rich, poor])
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_what_it_is_said_to_be(name, maker, made):
    about, figure = FIGURES[name]
    session = made(maker)

    assert find_metric(name).about == about
    expected, value = figure(raw(session)), find_metric(name).value(Source(session))
    assert value is None if expected is None else value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", FIGURES)
def test_no_figure_is_the_same_whatever_was_done(name, made):
    values = [find_metric(name).value(Source(made(maker))) for maker in (rich, poor)]

    assert values[0] != values[1]


@pytest.mark.parametrize("name", TOLD)
def test_a_figure_of_the_metadata_is_what_it_is_said_to_be(name, made):
    about, values = TOLD[name]

    assert find_metric(name).about == about
    for maker, value in values.items():
        assert find_metric(name).value(Source(made(maker))) == value


@pytest.mark.parametrize("name", LABELS)
def test_a_figure_is_called_what_it_is(name):
    assert find_metric(name).label == LABELS[name]


def changed(maker: Maker, **meta) -> Maker:
    """Return what makes a session with other entries in its metadata."""

    def made_so(folder: Path) -> Session:
        session = maker(folder)
        for path in session.path.glob("*.meta.json"):
            content = json.loads(path.read_text())
            path.write_text(json.dumps(content | {
                name: content.get(name, {}) | value if isinstance(value, dict) else value
                for name, value in meta.items()
            }))  # fmt: skip
        return open_session(session.path)

    return made_so


def unreadable(folder: Path) -> Session:
    """Return a session of which one process could not be read."""
    return changed(poor, children={"silent": 0, "unreadable": ["process 9: its file is damaged"]})(folder)


crowded = changed(poor, counts={"files_over_cap": 12})
of_tensorflow = changed(poor, versions={"tensorflow": "2.20"})


def cached(stored: int) -> Maker:
    """Return what makes a job that read 25 MB, for which the kernel fetched so much."""
    return lambda folder: partly_cached(folder, stored, 25 * MB)


READER = SESSIONS["one reader"]


def longer(folder: Path) -> Session:
    """Return one call of 300 ms in a session of 400."""
    return training(folder, [(0, 300, 1, "read", 0, 10)], sizes=[10], duration_ms=400)


interrupted, elsewhere = changed(poor, stopped=False, owner=True), changed(poor, host="node7")
RUNS: dict[str, tuple[Maker, Maker]] = {
    "one reader, twice": (READER, READER),
    "only writes, twice": (poor, poor),
    "only writes after one reader": (READER, poor),
    "one reader after only writes": (poor, READER),
    "the cache is known of A": (cached(MB), poor),
    "the cache is known of B": (poor, cached(MB)),
    "the cache is known": (cached(6 * MB), cached(6 * MB)),
    "A found more cached": (cached(6 * MB), cached(25 * MB)),
    "A has an unreadable process": (unreadable, poor),
    "B was interrupted": (poor, interrupted),
    "A has files beyond the cap": (crowded, poor),
    "A lacks calls": (SESSIONS["a trace cut short"], poor),
    "B is of another host": (poor, elsewhere),
    "B is of TensorFlow": (poor, of_tensorflow),
    "faster": (slow(2), slow(1)),
    "slower": (slow(1), slow(2)),
    "within noise": (slow(1), slow(1.01)),
    "as fast": (slow(1), slow(1)),
    "of unknown noise": (SESSIONS["one call"], longer),
}


def test_comparisons_say_how_two_runs_differ(golden: Golden, tmp_path: Path):
    # GIVEN two runs each
    found = {}
    for name, makers in RUNS.items():
        runs = zip("AB", makers, strict=True)
        both = compare(*(Side(label, [Source(make(tmp_path / name / label))]) for label, make in runs))

        # WHEN they are compared
        checks = (f"{check.name}: {check.sentence}" for check in both.checks)
        heads = headline(both.comparable, both.changes), sentence_of(both.comparable, both.checks)
        found[name] = "\n".join((*heads, *checks))

    # THEN
    golden("comparisons.txt", besides_first(found))


def ranks(folder: Path, *, times: float = 1.0, waits: bool = True, marked: bool = True) -> Session:
    """Return a job of three ranks, the last of which takes so many times as long for its calls."""
    made = [MadeUpRank(steps, "n0", each) for steps, each in zip(shards(3, 4), (1, 1, times), strict=True)]
    session = joint_training(folder, made, noise=0.0, marked=marked)
    for path in session.path.rglob("*.meta.json") if marked and not waits else ():
        meta = json.loads(path.read_text())
        meta["steps"]["rows"] = [[*row[:3], -1, row[4]] for row in meta["steps"]["rows"]]
        path.write_text(json.dumps(meta))
    return open_session(session.path)


@pytest.mark.parametrize(
    ("waits", "marked", "said"),
    [(True, True, "wait for input, a step"), (False, True, "calls on input, a step"),
     (False, False, "calls on input")],
)  # fmt: skip
def test_ranks_are_compared_by_what_all_of_them_say(waits, marked, said, tmp_path):
    # GIVEN two runs, in the second of which one rank takes twice as long
    runs = [ranks(tmp_path / str(times), times=times, waits=waits, marked=marked) for times in (1.0, 2.0)]
    found = [raw(run) for run in runs]

    # WHEN
    text = render(compare(*(Side(name, [Source(run)]) for name, run in zip("AB", runs, strict=True))))
    panels = compare_view(*map(Source, runs))

    # THEN
    assert f"Ranks that changed most: {said}\n" in text
    (table,) = [panel for panel in panels if isinstance(panel, Table) and panel.key == "compare-ranks"]
    assert table.title == f"Ranks: {said}"
    assert table.note == "The 3 of 3 ranks whose seconds changed most."
    (row,) = [line.split() for line in text.splitlines() if line.split()[:2] == ["2", "n0"]]
    own_s = [_of_rank(one, 2, waits=waits, per_step=marked) for one in found]
    assert " ".join(row[2:6]) == " ".join(map(human_seconds, own_s))


def _of_rank(found: Raw, rank: int, *, waits: bool, per_step: bool) -> float:
    """Return what a rank's steps wait, or its calls on input take, in seconds."""
    steps = found.steps[found.steps["rank"] == rank]
    if waits:
        return float(steps["wait"].mean()) / 1e9
    calls = found.calls("open", "read")
    whole_s = float(calls[calls["rank"] == rank]["seconds"].sum())
    return whole_s / len(steps) if per_step else whole_s
