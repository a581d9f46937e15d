"""Makes a session of 10 events a file and 2,000 steps, or finds all of it, and prints what that took."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import tfdarshan
from tests.made_up_session import image_job, write_session
from tests.perf.peak_memory import peak_mib
from tfdarshan.findings import diagnosis
from tfdarshan.findings.all_findings import CAUSES
from tfdarshan.findings.measurement import measure

EPOCHS, THREADS, STEPS = 2, 8, 2_000


def main() -> None:
    """Do the one or the other."""
    task, folder = sys.argv[1], Path(sys.argv[2])
    if task == "make":
        _make(folder, int(sys.argv[3]))
        print("{}")
        return
    taken: dict[str, float] = {}
    causes = tuple(
        SimpleNamespace(NAME=one.NAME, ABOUT=one.ABOUT, find=_timed(one.NAME, one.find, taken))
        for one in CAUSES
    )
    session = tfdarshan.open_session(folder)
    before = time.perf_counter()
    measures = measure(session)
    measured_s = time.perf_counter() - before
    with mock.patch.object(diagnosis, "CAUSES", causes):
        found = diagnosis.diagnosis_of(measures)
    wall_s = time.perf_counter() - before
    print(
        json.dumps(
            {
                "wall_s": wall_s,
                "measure_s": measured_s,
                "rules_s": taken,
                "findings": len(found.findings),
                "peak_mib": peak_mib(),
            }
        )
    )


def _make(folder: Path, files: int) -> None:
    """Half of each step is waiting; the machine has room for all of it in memory."""
    job = image_job(files, EPOCHS, THREADS)
    session = write_session(folder, job)
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    step_ns, origin_ns = job.duration_ns // STEPS, meta["origin_realtime_ns"]
    rows = [
        [n, origin_ns + n * step_ns, origin_ns + (n + 1) * step_ns, step_ns // 2, "step()"]
        for n in range(STEPS)
    ]
    machine = {"cpus": 8, "memory_bytes": 1 << 40, "cpu_s": job.duration_ns / 1e9}
    path.write_text(json.dumps(meta | {"steps": {"rows": rows, "left_out": 0}, "machine": machine}))


def _timed(name, rule, taken):
    def find(measures):
        before = time.perf_counter()
        found = rule(measures)
        taken[name] = time.perf_counter() - before
        return found

    return find


if __name__ == "__main__":
    main()
