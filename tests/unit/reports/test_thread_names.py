"""What threads are called: by their role where the session tells it, by their id where it does not."""

import dataclasses
import importlib

import pytest

from tests.made_up_session import job_of, write_session
from tests.unit.findings.made_up_training import training
from tfdarshan.reports.views.timeline_view import Window, timeline_view
from tfdarshan.reports.views.view_source import Source

MAIN = 100
READS_FILES = {"pipelines": {"found": [{"stages": [{"name": "map", "does": ["reads"]}]}]}}
READS_NONE = {"pipelines": {"found": [{"stages": [{"name": "from_tensor_slices"}]}]}}


def calls(*threads):
    """A call of each (thread, operation), one after the other, in ms."""
    return [
        (place, place + 0.5, tid, name, 0, 0 if name == "open" else 7, 0)
        for place, (tid, name) in enumerate(threads)
    ]


def rows(panels):
    (heat,) = panels[0].figure["data"]
    return set(heat["y"])


def bars(panels):
    return {name for trace in panels[0].figure["data"] for name in trace["y"]}


@pytest.mark.parametrize(
    ("meta", "readers"),
    [(READS_FILES, {"tf.data pool 1", "tf.data pool 2"}), (READS_NONE, {"8", "9"}), ({}, {"8", "9"})],
)
def test_readers_are_tf_datas_only_if_a_pipeline_reads_files(tmp_path, meta, readers):
    # GIVEN the loop, two readers, a thread that only writes and one that reads and writes, all without names
    made = [(MAIN, "pread"), (9, "pread"), (8, "pread"), (50, "pwrite"), (60, "pread"), (60, "pwrite")]
    names = dict.fromkeys([MAIN, 8, 9, 50, 60], "python")
    source = Source(training(tmp_path, calls(*made), meta=meta, threads=names))

    # WHEN the timeline shows all of the session, and a window with single calls
    whole, near = timeline_view(source), timeline_view(source, Window(window_ns=(0, 10_000_000)))

    # THEN both have the same names
    assert rows(whole) == bars(near) == {"main", *readers, "50", "60"}


def test_names_of_their_own_are_shown(tmp_path):
    pool = "ThreadPoolExecu"
    names = {MAIN: "train.py", 1: "tf_ForEach", 2: pool, 3: pool, 4: "saver", 5: "train.py"}
    source = Source(training(tmp_path, calls(*((tid, "pread") for tid in names)), threads=names))

    assert rows(timeline_view(source)) == {"main", "tf.data pool", "worker 1", "worker 2", "saver", "5"}


def test_rows_come_by_kind_and_number_not_by_how_busy_threads_were(tmp_path):
    # GIVEN twelve readers, of which later ones read longer, and the loop, which is busiest
    readers = range(MAIN + 1, MAIN + 13)
    made = [(0, 0.5 + 0.1 * (tid - MAIN), tid, "pread", 0, 7, 0) for tid in readers]
    made.append((0, 9.0, MAIN, "pread", 0, 7, 0))
    names = dict.fromkeys([MAIN, *readers], "python")
    source = Source(training(tmp_path, made, meta=READS_FILES, threads=names))

    # WHEN
    (heat,) = timeline_view(source)[0].figure["data"]
    near = timeline_view(source, Window(window_ns=(0, 10_000_000)))[0].figure

    # THEN the whole session and a window have the loop first, and pool 2 before pool 10
    in_order = ["main", *(f"tf.data pool {number}" for number in range(1, 13))]
    assert list(heat["y"]) == near["layout"]["yaxis"]["categoryarray"] == in_order
    # ... and each row has its own thread's time
    busy = [sum(row) for row in timeline_view(source, Window(measure="busy"))[0].figure["data"][0]["z"]]
    assert max(busy) == busy[0]
    assert busy[1:] == sorted(busy[1:])


def test_threads_of_several_processes_are_told_apart(tmp_path):
    job = job_of([(0, 1000, MAIN, "pread", 0, 7)], ["/data/a"], [7], threads={MAIN: "python"})
    child = dataclasses.replace(job, pid=101)
    source = Source(write_session(tmp_path, job, child))

    assert rows(timeline_view(source)) == {"main/main", "worker 1/100"}


def test_many_workers_are_in_the_order_of_their_numbers(tmp_path):
    names = dict.fromkeys(range(1, 13), "worker")
    made = [(tid * 1000, tid * 1000 + 500, tid, "pread", 0, 7) for tid in names]
    source = Source(write_session(tmp_path, job_of(made, ["/data/a"], [7], threads=names)))

    near = timeline_view(source, Window(window_ns=(0, 100_000)))

    axis = near[0].figure["layout"]["yaxis"]["categoryarray"]
    assert axis == [f"worker {number}" for number in range(1, 13)]


@pytest.mark.parametrize("window_ns", [None, (0, 100_000_000)])
def test_threads_that_moved_no_bytes_come_last(tmp_path, monkeypatch, window_ns):
    # GIVEN threads of one name, the first of which only open files, and the loop, which opens one, too
    module = importlib.import_module("tfdarshan.reports.views.timeline_view")
    monkeypatch.setattr(module, "MOST_SINGLE_CALLS", 0)
    made = [(MAIN, "open"), (1, "open"), (2, "open"), (3, "pread"), (4, "pread")]
    names = {MAIN: "train.py", **dict.fromkeys([1, 2, 3, 4], "tf_ForEach")}
    source = Source(training(tmp_path, calls(*made), threads=names))

    # WHEN
    (heat,) = timeline_view(source, Window(window_ns=window_ns))[0].figure["data"]

    # THEN those that read are above them, each with its own calls
    pool = [f"tf.data pool {number}" for number in (3, 4, 1, 2)]
    assert list(heat["y"]) == [*pool, "main"]
    moved = [bool(max((value or 0 for value in row), default=0)) for row in heat["z"]]
    assert moved == [True, True, False, False, False]
