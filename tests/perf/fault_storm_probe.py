"""Times page faults of other memory, as fast as they come, beside a mapped file, watched and not.

Prints the pairs as JSON.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import resource
import sys
import time
from pathlib import Path
from typing import Any

import tfdarshan
from tests.integration.mapped.touched_files import build_touch
from tests.perf.timing import Timing
from tfdarshan.analysis.files.mapped_reads import mapped_reads

STORM_S, THREADS = 3.0, 2


def storm_timing(storm: Any, file: Path, logdir: Path, *, mapped: bool) -> tuple[Timing, dict[str, Any]]:
    """Return what a million faults take, and what the session says of them."""
    with tfdarshan.profile(logdir, mapped=mapped) as session:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as pages:
            faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            cpu_ns, wall_ns = time.process_time_ns(), time.perf_counter_ns()
            storm(int(STORM_S * 1e9), THREADS)
            cpu_ns, wall_ns = time.process_time_ns() - cpu_ns, time.perf_counter_ns() - wall_ns
            faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
            assert not pages[0]
    share = mapped_reads(session.session.processes).sampled_share
    per_million = 1e6 / faults
    told = {"share": share, "faults_per_s": faults / wall_ns * 1e9}
    return Timing(int(wall_ns * per_million), int(cpu_ns * per_million)), told


def main() -> None:
    """Measure in the folder of the first argument, as many pairs as the second says."""
    folder, pairs = Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True)
    library = ctypes.CDLL(str(build_touch(folder)))
    library.storm.argtypes = [ctypes.c_int64, ctypes.c_int]
    file = folder / "mapped"
    file.write_bytes(bytes(1 << 20))
    last: dict[str, Any] = {}
    measured = []
    for number in range(pairs):
        found = {}
        for mapped in (number % 2 == 0, number % 2 == 1):
            logdir = folder / f"{number}-{mapped}"
            found[mapped], told = storm_timing(library.storm, file, logdir, mapped=mapped)
            last = told if mapped else last
        measured.append([[found[mapped].wall_ns, found[mapped].cpu_ns] for mapped in (False, True)])
    print(json.dumps({"pairs": measured, **last}))


if __name__ == "__main__":
    main()
