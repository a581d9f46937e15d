"""With mapped="auto" a session watches large mappings, where that changes nothing for the process."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.integration.mapped.touched_files import ALL, must_be_seen
from tests.integration.mapped.touched_pages import CANNOT_REFUSE, PERF_EVENT_OPEN

LARGE, SMALL = 64 << 20, (64 << 20) - 4096
ROOT = Path(__file__).parents[3]
SCRIPT = """
    import json, mmap, os, sys, threading
    import tfdarshan
    path, logdir, threads, refused, before = sys.argv[1:]
    done = threading.Event()
    for _ in range(int(threads) - 1):
        threading.Thread(target=done.wait).start()
    if int(refused):
        from tests.integration.mapped.touched_pages import refuse_perf
        refuse_perf()
    file = open(path, "rb")
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) if int(before) else None
    with tfdarshan.profile(logdir, mapped="auto") as session:
        mapped = mapped or mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        mapped[0], mapped[len(mapped) - 1]
        tasks = os.listdir("/proc/self/task")
        names = [open(f"/proc/self/task/{task}/comm").read().strip() for task in tasks]
    done.set()
    from tfdarshan.analysis.summary_data import summarize
    summary = summarize(session.session)
    reads, known = summary.mapped, summary.coverage.read.mapped is not None
    print(json.dumps({"watched": "tfd-mapping" in names, "files": reads.files, "faults": reads.faults,
                      "asked": reads.asked, "known": known, "notes": reads.notes}))
"""


def recorded(folder, *, data=None, size=LARGE, threads=2, refused=0, before=0):
    """Map a file in a session; return what came of it."""
    path = (data or folder) / f"{os.getpid()}.bin"
    with path.open("wb") as file:
        file.truncate(size)
    try:
        ran = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(SCRIPT), path, folder / "logs", str(threads), str(refused),
             str(before)],
            env={**os.environ, **ALL, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )  # fmt: skip
    finally:
        path.unlink()
    if ran.returncode == CANNOT_REFUSE:
        pytest.skip("no system call filter can be set here")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("before", [0, 1])
def test_a_large_mapping_of_a_job_with_threads_is_watched(tmp_path, before):
    told = recorded(tmp_path, before=before)

    assert (told["files"], told["watched"]) == (1, True)
    if told["faults"] is None:
        must_be_seen(told["notes"])
    assert told["faults"] == 2
    assert told["known"]


@pytest.mark.parametrize(
    "job",
    [
        pytest.param({"size": SMALL}, id="a small mapping"),
        pytest.param({"threads": 1}, id="a process of one thread"),
        pytest.param({"threads": 1, "before": 1}, id="a process of one thread, mapped before"),
        pytest.param({"data": Path("/dev/shm")}, id="a file in memory"),
        pytest.param(
            {"refused": 1},
            id="a system call filter",
            marks=pytest.mark.skipif(PERF_EVENT_OPEN is None, reason="its number is not known here"),
        ),
    ],
)
def test_where_it_would_change_something_or_tell_nothing_it_is_not_watched(tmp_path, job):
    told = recorded(tmp_path, **job)

    # THEN there is no thread more, and what came in is unknown, not 0
    assert not told["watched"]
    assert (told["files"], told["asked"]) == (0, False)
    assert told["known"] == bool(job.get("before"))
