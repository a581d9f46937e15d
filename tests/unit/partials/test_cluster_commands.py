"""summary and fleet say the same whoever reads."""

import json
import sys
import types
from functools import partial

import pytest

from tests.made_up_session import image_job, job_of, write_session
from tests.unit.partials.made_up_question import Number, Sum
from tfdarshan.analysis.calls import wall_clock
from tfdarshan.analysis.calls.time_windows import time_windows
from tfdarshan.commands import main
from tfdarshan.partials import dask_cluster
from tfdarshan.partials.process_pool import ProcessPool
from tfdarshan.partials.serial import SERIAL
from tfdarshan.partials.told_runner import ToldRunner
from tfdarshan.sessions import schema


@pytest.fixture
def ask(capsys):
    def run(*arguments):
        assert main([*map(str, arguments), "--json"]) == 0, capsys.readouterr()
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def logdirs(tmp_path):
    """Return two logdirs: a session of one process, and one of three."""
    calls: list = [(at, at + 70, 1, "pread", 0, 50) for at in range(0, 10_000, 100)]
    shifted: list = [(start + 30, end + 30, *rest) for start, end, *rest in calls]
    write_session(tmp_path / "one", image_job(20, 2, 3))
    write_session(
        tmp_path / "three",
        *[job_of(of_one, ["/data/a"], [50], pid=100 + n) for n, of_one in enumerate((calls, shifted, calls))],
    )
    return tmp_path / "one", tmp_path / "three"


def fleet(ask, folder, catalogue, *arguments):
    said = ask("fleet", folder, "--catalogue", catalogue, *arguments)
    assert said.pop("read") == 2
    return said


@pytest.fixture
def asked(monkeypatch):
    """Return the questions that pools and clusters are asked, and of how many tasks, as they come."""
    questions: list = []

    def watch(runner):
        each = runner.each

        def watched(self, work, tasks):
            # Of a question that is mapped: other work is a function.
            if asks := getattr(work, "__self__", None):
                questions.append((runner.__name__, type(asks).__name__, len(tasks)))
            return each(self, work, tasks)

        monkeypatch.setattr(runner, "each", watched)

    watch(ProcessPool)
    watch(dask_cluster.DaskCluster)
    return questions


@pytest.fixture
def in_windows(monkeypatch):
    """Have windows of 64 calls, of row groups of as many."""
    monkeypatch.setattr(schema, "EVENTS_ROW_GROUP", 64)
    monkeypatch.setattr(wall_clock, "time_windows", partial(time_windows, calls=64))


@pytest.mark.long
def test_a_pool_says_what_one_process_says(ask, in_windows, logdirs, asked):
    # WHEN
    alone, pool = (ask("summary", *logdirs, "--processes", n) for n in (1, 2))
    of_one = ask("summary", logdirs[1], "--processes", 1)
    assert asked == []
    of_two = ask("summary", logdirs[1], "--processes", 2)

    # THEN
    assert alone == pool
    assert of_one == of_two
    assert of_one["wall_clock"]["io_s"] == pytest.approx(10_000e-9, abs=1e-12)
    ((runner, question, tasks),) = asked
    assert (runner, question) == ("ProcessPool", "CallUnions")
    assert tasks > 2


@pytest.mark.long
def test_a_cluster_says_what_one_process_says(ask, in_windows, logdirs, asked, tmp_path):
    # GIVEN
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        given = ("--cluster", cluster.scheduler_address)

        # WHEN / THEN
        assert ask("summary", *logdirs, *given) == ask("summary", *logdirs)
        assert asked == []
        assert ask("summary", logdirs[1], *given) == ask("summary", logdirs[1])
        assert [question[:2] for question in asked] == [("DaskCluster", "CallUnions")]
        alone = fleet(ask, tmp_path, tmp_path / "c1", "--processes", "1")
        assert fleet(ask, tmp_path, tmp_path / "c2", *given) == alone


@pytest.mark.long
@pytest.mark.parametrize("verb", ["findings", "whatif"])
def test_what_rests_on_findings_is_read_by_a_pool(ask, in_windows, logdirs, asked, verb):
    assert ask(verb, logdirs[1], "--processes", 2) == ask(verb, logdirs[1])
    assert [question[:2] for question in asked] == [("ProcessPool", "CallUnions")]


@pytest.mark.long
def test_a_large_session_of_several_processes_is_read_by_several(ask, monkeypatch, logdirs, asked):
    # GIVEN sessions of 300 and of 100 calls, of which 200 are many
    alone = ask("summary", logdirs[1])
    monkeypatch.setattr("tfdarshan.analysis.calls.time_windows.WINDOW_CALLS", 200)
    monkeypatch.setattr("tfdarshan.partials.process_pool.usable_processors", lambda: 2)

    # WHEN / THEN
    assert ask("summary", logdirs[1]) == alone
    assert [question[:2] for question in asked] == [("ProcessPool", "CallUnions")]
    ask("summary", logdirs[0])
    assert len(asked) == 1


def test_how_far_a_question_is_is_told():
    told: list = []
    list(ToldRunner(SERIAL, lambda *at: told.append(at)).each(Sum().map, [Number(1), Number(2)]))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize("damage", ["missing", "cut"])
@pytest.mark.parametrize("runner", [(), ("--processes", "2")], ids=["alone", "pool"])
def test_a_damaged_table_is_named_and_the_rest_is_read(ask, capsys, logdirs, runner, damage):
    # GIVEN
    (table,) = logdirs[1].rglob("*.101.events.parquet")
    if damage == "missing":
        table.unlink()
    else:
        table.write_bytes(table.read_bytes()[:100])

    # WHEN / THEN
    assert main(["summary", str(logdirs[1]), *runner]) == 1
    assert table.name in capsys.readouterr().err
    rest = ask("summary", logdirs[1], "--skip-damaged", *runner)
    assert [table.name in problem for problem in rest["problems"]] == [True]
    assert (rest["processes"], rest["calls"]) == (2, 200)
    assert rest["wall_clock"]["io_s"] == pytest.approx(7_000e-9, abs=1e-12)


def test_a_process_of_a_newer_schema_is_named_and_the_rest_is_read(ask, capsys, logdirs):
    # GIVEN
    (meta,) = logdirs[1].rglob("*.101.meta.json")
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"schema_version": 99}))

    # WHEN / THEN
    assert main(["summary", str(logdirs[1])]) == 1
    assert "has schema version 99" in capsys.readouterr().err
    rest = ask("summary", logdirs[1], "--skip-damaged")
    assert ["has schema version 99" in problem for problem in rest["problems"]] == [True]
    assert rest["calls"] == 200


def test_without_dask_it_is_said_what_to_install(monkeypatch, capsys, logdirs):
    monkeypatch.setitem(sys.modules, "distributed", None)

    assert main(["summary", str(logdirs[0]), "--cluster", "local:2"]) == 2

    assert "pip install 'tfdarshan[dask]'" in capsys.readouterr().err


def test_without_dask_jobqueue_it_is_said_what_to_install(monkeypatch, capsys, logdirs):
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)

    assert main(["summary", str(logdirs[0]), "--cluster", "slurm:2"]) == 2

    said = " ".join(capsys.readouterr().err.split())
    assert "--cluster slurm:N needs dask-jobqueue: pip install 'tfdarshan[dask]'" in said


def test_two_ways_to_read_at_once_are_refused(capsys, logdirs):
    assert main(["summary", str(logdirs[0]), "--cluster", "local:2", "--processes", "2"]) == 2
    assert "exclude each other" in capsys.readouterr().err


def test_pods_of_kubernetes_are_started_and_ended(monkeypatch, capsys, logdirs):
    # GIVEN a cluster of Kubernetes that stands for its pods by processes of this machine: none can run here
    from distributed import LocalCluster

    asked, closed = [], []

    class KubeCluster(LocalCluster):
        def __init__(self, *, name, n_workers, env, quiet):
            asked.append((name, n_workers, env, quiet))
            super().__init__(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")

        def close(self, *given):
            closed.append(self)
            return super().close(*given)

    operator = types.ModuleType("dask_kubernetes.operator")
    monkeypatch.setattr(operator, "KubeCluster", KubeCluster, raising=False)
    monkeypatch.setitem(sys.modules, "dask_kubernetes", types.ModuleType("dask_kubernetes"))
    monkeypatch.setitem(sys.modules, "dask_kubernetes.operator", operator)
    assert main(["summary", "--json", str(logdirs[0])]) == 0
    alone = capsys.readouterr().out

    # WHEN
    code = main(["summary", "--json", str(logdirs[0]), "--cluster", "k8s:1"])

    # THEN as many pods were asked for, whose malloc keeps memory, and they were ended
    assert code == 0
    assert capsys.readouterr().out == alone
    ((name, workers, environ, _quiet),) = asked
    assert name.startswith("tfdarshan-")
    assert workers == 1
    assert environ == {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}
    assert closed


def test_without_dask_kubernetes_it_is_said_what_to_install(monkeypatch, capsys, logdirs):
    monkeypatch.setitem(sys.modules, "dask_kubernetes", None)

    assert main(["summary", str(logdirs[0]), "--cluster", "k8s:2"]) == 2
    said = capsys.readouterr().err
    assert "--cluster k8s:N needs dask-kubernetes: pip install dask-kubernetes." in said
