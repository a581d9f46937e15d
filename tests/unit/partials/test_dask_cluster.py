"""The same questions on a Dask cluster of this machine; workers that are killed."""

import os
from typing import Any, cast

import pytest

from tests.made_up_session import job_of, write_session
from tests.unit.partials.lethal_unions import DeadlyRunner
from tests.unit.partials.made_up_question import Number, Sum, SumPartial
from tfdarshan.analysis.calls import wall_clock
from tfdarshan.analysis.calls.call_unions import CallUnions
from tfdarshan.analysis.calls.time_windows import time_windows
from tfdarshan.analysis.calls.wall_clock import measure_wall_clock
from tfdarshan.errors import ConfigurationError, SessionDataError
from tfdarshan.partials.dask_cluster import DASKS_TRIM, MMAP, OUR_TRIM, TRIM, DaskCluster, dask_cluster
from tfdarshan.partials.serial import SERIAL, Done, Lost, gather
from tfdarshan.sessions import schema

MS = 1_000_000
distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.fixture(scope="module")
def cluster():
    # Dask leaves what its workers' environment has in that of who starts them.
    with pytest.MonkeyPatch.context() as patch:
        for name in (TRIM, MMAP):
            patch.setenv(name, "")
            patch.delenv(name)
        with dask_cluster("local:2") as found:
            yield found


def test_all_tasks_are_in_the_result(cluster):
    gathered = gather(Sum(), [Number(n) for n in range(70)], cluster)

    assert (gathered.partial, gathered.lost) == (SumPartial(70, 2415), ())


def test_of_no_task_there_is_the_empty_partial(cluster):
    assert gather(Sum(), [], cluster).partial == SumPartial()


def test_damaged_data_ends_it(cluster):
    with pytest.raises(SessionDataError, match="number 3 is damaged"):
        gather(Sum(), [Number(n, damaged=n == 3) for n in range(5)], cluster)


def test_a_partial_of_another_version_is_refused(cluster):
    with pytest.raises(SessionDataError, match="another version of tfdarshan"):
        gather(Sum(version=2), [Number(1)], cluster)


def test_results_can_be_left_halfway(cluster):
    results = cluster.each(Sum().map, [Number(n) for n in range(300)])
    assert isinstance(next(results), Done)
    results.close()
    assert gather(Sum(), [Number(7)], cluster).partial == SumPartial(1, 7)


@pytest.mark.long
def test_tasks_of_killed_workers_are_tried_again_or_named(cluster, tmp_path):
    # GIVEN a task that ends one worker, and one that ends all that have it
    tasks = [Number(n, str(tmp_path), kills={2: 1, 5: 99}.get(n, 0)) for n in range(8)]

    # WHEN
    gathered = gather(Sum(), tasks, cluster)

    # THEN
    assert gathered.lost == ("number 5",)
    assert gathered.partial == SumPartial(7, 23)


def three_processes(folder):
    """Return a session of three processes of 100 calls each, and windows of about 64 calls."""
    calls = [(at, at + 7 * MS, 1, "pread", 0, 5) for at in range(0, 1000 * MS, 10 * MS)]
    made = [
        job_of(
            [(start + n * MS, end + n * MS, *rest) for start, end, *rest in calls], ["/a"], [5], pid=100 + n
        )
        for n in range(3)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "EVENTS_ROW_GROUP", 32)
        session = write_session(folder, *made)
    return session, time_windows(session.processes, 64)


def test_the_union_of_a_session_is_the_one_that_is_taken_here(cluster, tmp_path):
    # GIVEN
    session, windows = three_processes(tmp_path)
    question = CallUnions((0, 2))

    # WHEN
    gathered = gather(question, windows, cluster)

    # THEN
    assert len(windows) > 2
    assert gathered == gather(question, windows, SERIAL)
    assert gathered.partial.together_ns[0] == 100 * 9 * MS
    assert measure_wall_clock(session.processes, runner=cluster) == measure_wall_clock(session.processes)


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_damaged_table_is_named(cluster, tmp_path, damage):
    # GIVEN
    session, _ = three_processes(tmp_path)
    table = session.processes[1].table_path("events")
    table.unlink() if damage == "missing" else table.write_bytes(table.read_bytes()[:100])

    # THEN
    with pytest.raises(SessionDataError, match=table.name):
        measure_wall_clock(session.processes, runner=cluster)


@pytest.mark.long
def test_workers_that_end_over_a_window_leave_the_time_unknown(cluster, tmp_path, monkeypatch):
    # GIVEN
    session, windows = three_processes(tmp_path)
    monkeypatch.setattr(wall_clock, "time_windows", lambda _processes: windows)

    # WHEN
    clock = measure_wall_clock(session.processes, runner=cast(Any, DeadlyRunner(cluster, windows[1].name)))

    # THEN
    assert clock.io_s is None
    assert clock.left_out == (
        f"the time in calls is not known: each process that read {windows[1].name} ended",
    )


def test_workers_of_ours_keep_their_memory(cluster):
    assert cluster.hint == ""
    assert set(cluster._client.run(os.environ.get, TRIM).values()) == {str(OUR_TRIM)}


@pytest.mark.long
def test_other_workers_get_a_hint_and_all_is_lost_when_they_are_gone(monkeypatch):
    # GIVEN a scheduler that somebody else started, with one worker
    monkeypatch.setenv(TRIM, DASKS_TRIM)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as other:
        with distributed.Client(other.scheduler_address) as client:
            known = DaskCluster(client, grace_s=0.5)
            assert known.hint.startswith("1 of 1 workers give memory back at once")
            results = known.each(Sum().map, [Number(n, lasts_s=100.0 * (n > 0)) for n in range(4)])
            first = next(results)

            # WHEN
            other.scale(0)
            rest = list(results)

    # THEN
    assert first == Done(Number(0), SumPartial(1, 0))
    assert [type(left) for left in rest] == [Lost] * 3


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("local:0", "at least 1"),
        ("slurm:0", "at least 1"),
        ("elsewhere", "is not tcp://HOST:PORT"),
        ("local:x", "at least 1"),
    ],
)
def test_what_is_no_cluster_is_refused(where, said):
    with pytest.raises(ConfigurationError, match=said), dask_cluster(where):
        pass


def test_a_scheduler_that_does_not_answer_is_said(monkeypatch):
    monkeypatch.setattr("tfdarshan.partials.dask_cluster.CONNECT_S", 0.2)
    with (
        pytest.raises(ConfigurationError, match="no Dask scheduler answers"),
        dask_cluster("tcp://127.0.0.1:9"),
    ):
        pass
