"""A job on an emulated tier: threads that read files whole, and decode each for a given time.

`python -m tests.integration.staging.emulated_job DATA ORDER LOGDIR THREADS DECODE_S EPOCHS STEPS`; ORDER is
a JSON file: a list of names below DATA; STEPS is 1 if steps are marked. Prints the seconds of an epoch.
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import tfdarshan

BLOCK = 1 << 20
BATCH = 8
STEP_S = 1e-3


def read_whole(path: str, decode_s: float) -> int:
    """Read a file as tf.io.read_file does: blocks of 1 MiB, then an empty read."""
    handle = os.open(path, os.O_RDONLY)
    count = 0
    while block := os.read(handle, BLOCK):
        count += len(block)
    os.close(handle)
    if decode_s:
        time.sleep(decode_s)
    return count


def main() -> None:
    data, order, logdir, threads, decode_s, epochs, steps = sys.argv[1:]
    marked = tfdarshan.step if int(steps) else nullcontext
    paths = [os.path.join(data, name) for name in json.loads(Path(order).read_text())]
    with ThreadPoolExecutor(int(threads)) as pool:
        list(pool.map(time.sleep, [0.01] * int(threads)))
        with tfdarshan.profile(logdir):
            begin = time.perf_counter()
            for _ in range(int(epochs)):
                samples = pool.map(lambda path: read_whole(path, float(decode_s)), paths)
                while list(islice(samples, BATCH)):
                    with marked():
                        time.sleep(STEP_S)
            seconds = time.perf_counter() - begin
    print(json.dumps(seconds / int(epochs)))


if __name__ == "__main__":
    main()
