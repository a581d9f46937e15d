"""One process: records reads at random places, twice. Prints how long the stops took and what they wrote."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import tfdarshan
from tests.perf.known_job import KnownJobs, RandomReads
from tests.perf.session_size import session_size


def main(folder: Path, logdir: Path, reads: int) -> None:
    """Print the figures of both sessions."""
    jobs, job = KnownJobs(folder), RandomReads(reads=reads)
    data = folder / "random"
    if not data.exists():
        job.make_files(data)
    jobs.read_at_random(data, job)  # into the page cache
    found = []
    for _ in range(2):
        session = tfdarshan.profile(logdir).start()
        jobs.read_at_random(data, job)
        arrow_loaded = "pyarrow" in sys.modules
        begin = time.perf_counter()
        session.stop()
        stop_s = time.perf_counter() - begin
        found.append({"stop_s": stop_s, "arrow_loaded": arrow_loaded, **session_size(session)})
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
