"""One process: many files and many operations under a memory cap. Prints what was done and what was counted.

Each file is opened, read, read at its end and closed; the remaining operations are reads of one of the files.
All come from several threads. Nothing is compared here.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import tfdarshan
from tests.perf.known_job import KnownJobs, link_files, linked_path
from tfdarshan.native.spool_reader import PATHS_OF_NO_FILE

THREADS = 4
CALLS_PER_FILE = 4


def main(folder: Path, logdir: Path, files: int, operations: int, options: dict[str, Any]) -> None:
    """Print the figures."""
    data = folder / "many"
    link_files(data, files)
    jobs = KnownJobs(folder)
    session = tfdarshan.profile(logdir, **options)
    memory, seconds = {"before": peak_memory_bytes()}, {}
    session.start()
    begin = time.perf_counter()
    done = run(jobs, data, files, operations)
    seconds["job"] = time.perf_counter() - begin
    memory["recording"] = peak_memory_bytes()
    begin = time.perf_counter()
    session.stop()
    seconds["stop"] = time.perf_counter() - begin
    memory["stopping"] = peak_memory_bytes()
    found = {"done": done, "counted": counted(session, data), "memory": memory, "seconds": seconds}
    meta = session.meta[0]
    print(json.dumps(found | {key: meta[key] for key in ("counts", "bounds", "options")}))


def run(jobs: KnownJobs, data: Path, files: int, operations: int) -> dict[str, int]:
    """Run the job and return its totals."""
    remaining = operations - CALLS_PER_FILE * files - 2  # an open and a close
    each = jobs.read_files(data, files, THREADS)
    one = jobs.read_one_byte(linked_path(data, 0), remaining, THREADS)
    return {
        "opens": each.opens + one.opens,
        "reads": each.reads + one.reads,
        "bytes_read": each.bytes_read + one.bytes_read,
    }


def counted(session: tfdarshan.recording.profiler.Profile, data: Path) -> dict[str, int]:
    """Sum the counters of the files below `data` and of the row for files beyond the cap."""
    files = session.files
    beyond = files["path"] == PATHS_OF_NO_FILE[1]
    mine = files["path"].str.startswith(f"{data}/")
    totals = files[mine | beyond][["POSIX_OPENS", "POSIX_READS", "POSIX_BYTES_READ"]].sum()
    return {
        "rows": int(mine.sum()),
        "opens": int(totals["POSIX_OPENS"]),
        "reads": int(totals["POSIX_READS"]),
        "bytes_read": int(totals["POSIX_BYTES_READ"]),
    }


def peak_memory_bytes() -> int:
    """Return the most memory this process had, its part of the spool with it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) << 10


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("logdir", type=Path)
    parser.add_argument("files", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("options", type=json.loads)
    main(**vars(parser.parse_args()))
