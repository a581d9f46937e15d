"""One process: profiles with many calls, without and with us. Prints how long stop() took."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import tfdarshan
from tests.perf.known_job import KnownJobs, RandomReads


def main(folder: Path, reads: int, rounds: int) -> None:
    """Print the seconds of stop(), and until the session is written, of every round."""
    import tensorflow as tf

    jobs, job = KnownJobs(folder), RandomReads(reads=reads)
    data = folder / "random"
    job.make_files(data)
    jobs.read_at_random(data, job)  # into the page cache
    found = []
    for number in range(rounds + 1):
        times = {}
        for arm in ("tensorflow", "tfdarshan"):
            (tfdarshan.enable if arm == "tfdarshan" else tfdarshan.disable)()
            tf.profiler.experimental.start(str(folder / arm))
            jobs.read_at_random(data, job)
            begin = time.perf_counter()
            tf.profiler.experimental.stop()
            stop_s = time.perf_counter() - begin
            tfdarshan.disable()
            times[arm] = {"stop_s": stop_s, "written_s": time.perf_counter() - begin}
        if number:
            found.append(times)
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
