"""Asks DFTracer's analyzer about a session's calls, and prints what that took as JSON.

`analyzer_probe FOLDER SCRATCH`. It reads DFTracer's traces alone, so the calls are written as one first. It
runs in the environment whose Python ANALYZER_PYTHON names; its Dask workers end before it does.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

from tests.perf.dftracer_trace import write_trace

PACKAGE = "dftracer-analyzer"
OPTIONS = ("analyzer=dftracer", "cluster=local", "cluster.n_workers=2")
VERSION = f"import importlib.metadata as m; print(m.version({PACKAGE!r}))"


def main(session: Path, scratch: Path) -> None:
    """Print seconds by the clock and of processors, MiB of its largest process, and the calls it counted."""
    python = os.environ.get("ANALYZER_PYTHON", sys.executable)
    version = subprocess.check_output([python, "-c", VERSION], text=True).strip()
    trace = write_trace(session, scratch / "trace")
    before = time.perf_counter()
    ran = subprocess.run(
        [python, "-m", "dftracer.analyzer", *OPTIONS, f"trace_path={trace}", f"hydra.run.dir={scratch}/run"],
        env={"USER": "somebody", **os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    wall_s = time.perf_counter() - before
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    counted = re.search(r"Trace Count\W+count\W+([\d,]+)", ran.stdout)
    if ran.returncode or counted is None:
        raise RuntimeError(ran.stderr.strip() or ran.stdout.strip() or f"it ended with {ran.returncode}")
    took = {
        "wall_s": wall_s,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_mib": used.ru_maxrss / 1024,
        "calls": int(counted[1].replace(",", "")),
    }
    print(json.dumps({"version": version, **took}))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
