"""summary and fleet say the same whoever reads."""

import json
import sys

import pytest

from tests.made_up_session import image_job, job_of, write_session
from tfdarshan.commands import main


@pytest.fixture
def ask(capsys):
    def run(*arguments):
        assert main([*map(str, arguments), "--json"]) == 0, capsys.readouterr()
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def logdirs(tmp_path):
    """Gives two logdirs: a session of one process, and one of three."""
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


@pytest.mark.long
def test_a_pool_says_what_one_process_says(ask, logdirs):
    # WHEN
    alone, pool = (ask("summary", *logdirs, "--processes", n) for n in (1, 2))
    (of_one, of_two) = (ask("summary", logdirs[1], "--processes", n) for n in (1, 2))

    # THEN
    assert alone == pool
    assert of_one == of_two
    assert of_one["wall_clock"]["io_s"] == pytest.approx(10_000e-9, abs=1e-12)


@pytest.mark.long
def test_a_cluster_says_what_one_process_says(ask, logdirs, tmp_path):
    # GIVEN
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        given = ("--cluster", cluster.scheduler_address)

        # WHEN / THEN
        assert ask("summary", *logdirs, *given) == ask("summary", *logdirs)
        assert ask("summary", logdirs[1], *given) == ask("summary", logdirs[1])
        alone = fleet(ask, tmp_path, tmp_path / "c1", "--processes", "1")
        assert fleet(ask, tmp_path, tmp_path / "c2", *given) == alone


def test_without_dask_it_is_said_what_to_install(monkeypatch, capsys, logdirs):
    monkeypatch.setitem(sys.modules, "distributed", None)

    assert main(["summary", str(logdirs[0]), "--cluster", "local:2"]) == 2

    assert "pip install 'tfdarshan[dask]'" in capsys.readouterr().err


def test_two_ways_to_read_at_once_are_refused(capsys, logdirs):
    assert main(["summary", str(logdirs[0]), "--cluster", "local:2", "--processes", "2"]) == 2
    assert "exclude each other" in capsys.readouterr().err
