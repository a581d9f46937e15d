"""Times what it takes to begin to watch: a session's first mapping, and processor time until its end.

In a process with TensorFlow and its threads; prints the pairs as JSON, and the number of threads.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
import time
from pathlib import Path

import tensorflow as tf

import tfdarshan
from tests.perf.timing import Timing

# So that what watches has its first ticks, of 20 ms each.
REST_S = 0.1


def first_mapping(file: Path, logdir: Path, *, mapped: bool) -> Timing:
    """Map a file of a page once in a session, read it, and rest."""
    with tfdarshan.profile(logdir, mapped=mapped):
        cpu_ns, wall_ns = time.process_time_ns(), time.perf_counter_ns()
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as pages:
            assert not pages[0]
        wall_ns = time.perf_counter_ns() - wall_ns
        time.sleep(REST_S)
        cpu_ns = time.process_time_ns() - cpu_ns
    return Timing(wall_ns, cpu_ns)


def main() -> None:
    """Measure in the folder of the first argument, as many pairs as the second says."""
    folder, pairs = Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True)
    file = folder / "page"
    file.write_bytes(bytes(mmap.PAGESIZE))
    # Its threads are there from the first data set on.
    for _ in tf.data.Dataset.range(64).map(lambda number: number, num_parallel_calls=4).prefetch(2):
        pass
    measured = []
    for number in range(pairs):
        found = {
            mapped: first_mapping(file, folder / f"{number}-{mapped}", mapped=mapped)
            for mapped in (number % 2 == 0, number % 2 == 1)
        }
        measured.append([[found[mapped].wall_ns, found[mapped].cpu_ns] for mapped in (False, True)])
    print(json.dumps({"pairs": measured, "threads": len(os.listdir("/proc/self/task"))}))


if __name__ == "__main__":
    main()
