"""Where the kernel refuses perf_event_open: what threads wait is a lower bound, and called one everywhere."""

import json

import pytest

from tests.integration.mapped.touched_files import build_touch, open_folder, touched, write_file
from tests.integration.mapped.touched_pages import PERF_EVENT_OPEN
from tests.integration.storage_probe.fuse_storage import make_server, needs_fuse, storage, tried_again
from tfdarshan.commands import main

pytestmark = pytest.mark.skipif(
    PERF_EVENT_OPEN is None, reason="the number of perf_event_open is not known here"
)
LATENCY = {"read_s": 0.003, "concurrency": 64, "page_cache": 1}
AT_LEAST = 0.6
# A look stands for the time since the one before: by chance there may be more of these than waits.
AT_MOST = 1.1
SIZE = 96 << 20
LIMIT = {"TFDARSHAN_MAPPED_COST_PERCENT": "1"}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build_touch(tmp_path_factory.mktemp("touch"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return make_server(tmp_path_factory.mktemp("server"))


def told_by(command, folder, capsys):
    """Return what a verb prints of the session."""
    assert main([*command, str(folder / "logs")]) == 0
    return capsys.readouterr().out


@needs_fuse
@pytest.mark.parametrize(("order", "threads"), [("sequential", 1), ("random", 1), ("random", 4)])
@tried_again
def test_looks_at_threads_see_most_of_the_time(capsys, library, server, tmp_path, order, threads):
    # GIVEN a container that refuses perf_event_open / WHEN
    with open_folder() as folder:
        write_file(tmp_path / "file", SIZE)
        with storage(server, tmp_path, folder / "m", **LATENCY) as mount:
            told = touched(library, mount / "file", order, threads, folder, refuse=True, environment=LIMIT)
        summary = json.loads(told_by(["summary", "--json"], folder, capsys))
        verbose = told_by(["summary", "-v"], folder, capsys)
        files = told_by(["files", "--module", "MMAP"], folder, capsys)

    # THEN the file has most of the time that touches took
    assert AT_LEAST <= told["seen_s"] / told["touch_s"] <= AT_MOST
    assert told["mapping"]["watch"] == "no events"
    assert told["mapping"]["blocked_ns"] == pytest.approx(told["seen_s"] * 1e9, rel=0.01)
    assert told["seen_bytes"] == told["came_in"]

    # and wherever it is shown it is a lower bound, while the number of faults is unknown
    [note] = [note for note in summary["bounds"] if "perf_event_open" in note]
    assert "EPERM" in note
    assert "lower bound" in note
    assert summary["mapped"]["at_least"] is True
    assert summary["mapped"]["faults"] is None
    assert "at least" in next(line for line in verbose.splitlines() if "time in page faults" in line)
    assert ">= " in next(line for line in files.splitlines() if line.endswith("/m/file"))


def test_a_refusal_is_said_once_and_leaves_the_number_of_faults_unknown(capsys, library):
    # GIVEN the same, and a file that memory holds / WHEN
    with open_folder() as folder:
        (folder / "file").write_bytes(bytes(4 << 20))
        told = touched(library, folder / "file", "strided", 1, folder, refuse=True)
        summary = json.loads(told_by(["summary", "--json"], folder, capsys))

    # THEN nothing was waited for, as far as it is known, and the number is not 0
    assert told["seen_faults"] is None
    assert summary["mapped"]["files"] == 1
    assert len([bound for bound in summary["bounds"] if "perf_event_open" in bound]) == 1
