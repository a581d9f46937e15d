"""One process: many files and many operations under the default bounds. Prints what was counted and the memory.

Half of the operations that are not on the many files are reads from several threads at one file. What the job
did is printed beside what the session says; nothing is compared here.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import tfdarshan
from tests.perf.known_job import KnownJobs, link_files, linked_path

THREADS = 4
CALLS_PER_FILE = 4


def main(folder: Path, logdir: Path, files: int, operations: int) -> None:
    """Prints the figures."""
    data = folder / "many"
    link_files(data, files)
    jobs = KnownJobs(folder)
    session = tfdarshan.profile(logdir)
    memory = {"before": peak_memory_bytes()}
    session.start()
    begin = time.perf_counter()
    each = jobs.read_files(data, files, THREADS)
    hot = jobs.read_one_byte(linked_path(data, 0), operations - CALLS_PER_FILE * files - 2, THREADS)
    seconds = {"job": time.perf_counter() - begin}
    memory["recording"] = peak_memory_bytes()
    begin = time.perf_counter()
    session.stop()
    seconds["stop"] = time.perf_counter() - begin
    memory["stopping"] = peak_memory_bytes()
    done = {
        "opens": each.opens + hot.opens,
        "reads": each.reads + hot.reads,
        "bytes_read": each.bytes_read + hot.bytes_read,
    }
    found = {"done": done, "counted": counted(session, data), "memory": memory, "seconds": seconds}
    meta = session.meta[0]
    print(
        json.dumps(
            found
            | {"session": str(session.path), **{key: meta[key] for key in ("counts", "bounds", "options")}}
        )
    )


def counted(session: tfdarshan.profiler.Profile, data: Path) -> dict[str, int]:
    """Sums the counters over the files below `data`, and over the row that stands for files beyond the cap."""
    files = session.files
    mine = files[files["path"].str.startswith(f"{data}/")]
    return {
        "files": len(mine),
        "opens": int(mine["POSIX_OPENS"].sum()),
        "reads": int(mine["POSIX_READS"].sum()),
        "bytes_read": int(mine["POSIX_BYTES_READ"].sum()),
    }


def peak_memory_bytes() -> int:
    """Gives the most memory this process had, its part of the spool with it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) << 10


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("logdir", type=Path)
    parser.add_argument("files", type=int)
    parser.add_argument("operations", type=int)
    main(**vars(parser.parse_args()))
