"""Run as `job.py FOLDER SECONDS LIBRARY TRACE_MB`: a job with a session. Print as JSON what the job did.

Run as `job.py FOLDER LIBRARY`, it prints the memory that a library takes which stays loaded.

Two hundred threads that live for some seconds make 5,000 reads a second of files in the page cache. The main
thread trains: each step waits for eight files, which one reader reads from emulated storage. Every second a
child is forked, two programs are started (vfork, posix_spawn) and a library is loaded, called and unloaded.
"""

from __future__ import annotations

import array
import ctypes
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from _ctypes import dlclose
from pathlib import Path
from typing import Any

import tfdarshan

THREADS, FILES, READ_BYTES, READS_AT_ONCE = 200, 64, 4096, 10
PAUSE_S = THREADS * READS_AT_ONCE / 5_000
BATCHES, BATCH, INPUT_BYTES, COMPUTE_S = 12, 8, 50_000, 0.02
CHILD_READS, CHILDREN = 1_000, 50
PARTS = 100
MEMORY_CAP_MB = 64


def anonymous_bytes() -> int:
    """Return the memory of this process that no file backs."""
    (found,) = [line for line in Path("/proc/self/status").open() if line.startswith("RssAnon")]
    return int(found.split()[1]) * 1024


def library_bytes(folder: Path, library: Path, count: int = 200) -> float:
    """Return what a library takes of this process's memory that stays loaded."""
    before, handle = anonymous_bytes(), os.open(library, os.O_RDONLY)
    for number in range(count):
        copy = folder / f"{number}.so"
        shutil.copy(library, copy)
        ctypes.CDLL(str(copy)).read_byte(handle)
        copy.unlink()
    os.close(handle)
    return (anonymous_bytes() - before) / count


class Job:
    """The load, with its own count of reads and bytes."""

    def __init__(self, folder: Path, seconds: float, library: Path) -> None:
        self.seconds, self.library = seconds, library
        self.cached = [folder / f"cached-{number}" for number in range(FILES)]
        self.inputs = [folder / "inputs" / f"{number}" for number in range(BATCHES * BATCH)]
        self.child_file, self.library_file = folder / "child", folder / "library"
        (folder / "inputs").mkdir()
        for path in (*self.cached, self.child_file, self.library_file):
            path.write_bytes(bytes(READ_BYTES))
        for path in self.inputs:
            path.write_bytes(bytes(INPUT_BYTES))
        self.lock, self.reads, self.opens = threading.Lock(), dict.fromkeys(self.cached, 0), 0
        self.rows_of_memory: list[tuple[int, int, int, int]] = []
        self.waited_ns = array.array("q", bytes(8 * (PARTS + 1)))
        self.steps = self.library_calls = self.children = self.started_threads = 0

    def begin(self) -> None:
        """Start the clock."""
        self.start_s = time.monotonic()

    def passed_s(self) -> float:
        """Return the seconds since the beginning."""
        return time.monotonic() - self.start_s

    def part(self) -> int:
        """Return which hundredth of the time it is."""
        return min(int(self.passed_s() * PARTS / self.seconds), PARTS)

    def worker(self) -> None:
        """Read one file for some seconds, then add up."""
        path, life_s = random.choice(self.cached), random.uniform(2, 20)
        moved = 0
        handle, end_s = os.open(path, os.O_RDONLY), min(self.passed_s() + life_s, self.seconds)
        while self.passed_s() < end_s:
            for _ in range(READS_AT_ONCE):
                moved += len(os.pread(handle, READ_BYTES, 0))
            time.sleep(PAUSE_S)
        os.close(handle)
        with self.lock:
            self.reads[path] += moved // READ_BYTES
            self.opens += 1

    def keep_threads(self) -> None:
        """Hold the number of workers until the end, and wait for them."""
        workers: list[threading.Thread] = []
        while self.passed_s() < self.seconds:
            workers = [worker for worker in workers if worker.is_alive()]
            while len(workers) < THREADS:
                workers.append(threading.Thread(target=self.worker))
                workers[-1].start()
                self.started_threads += 1
            time.sleep(0.1)
        for worker in workers:
            worker.join()

    def step(self, number: int) -> None:
        """Wait for a batch that one reader reads, then compute."""
        first = number % BATCHES * BATCH
        with tfdarshan.step() as step:
            with step.input_wait():
                for path in self.inputs[first : first + BATCH]:
                    part, began_ns = self.part(), time.monotonic_ns()
                    handle = os.open(path, os.O_RDONLY)
                    os.read(handle, 2 * INPUT_BYTES)
                    os.close(handle)
                    self.waited_ns[part] += time.monotonic_ns() - began_ns
            time.sleep(COMPUTE_S)
        self.steps += 1

    def fork(self, reads: int) -> None:
        """Fork a child that makes so many reads."""
        child = os.fork()
        if not child:
            handle = os.open(self.child_file, os.O_RDONLY) if reads else -1
            for _ in range(reads):
                os.pread(handle, 1, 0)
            os._exit(0)
        self.children += bool(reads)
        os.waitpid(child, 0)

    def call_library(self, number: int) -> None:
        """Load a copy of the library under a new name, read by it, and unload it."""
        copy = self.library.with_name(f"copy-{number}.so")
        shutil.copy(self.library, copy)
        loaded = ctypes.CDLL(str(copy))
        handle = os.open(self.library_file, os.O_RDONLY)
        self.library_calls += loaded.read_byte(handle)
        os.close(handle)
        dlclose(loaded._handle)
        copy.unlink()

    def disturb(self) -> None:
        """Fork, start programs and load a library every second; let some children record."""
        for number in itertools.count():
            if self.passed_s() >= self.seconds:
                return
            due = self.children < CHILDREN * self.passed_s() / self.seconds
            self.fork(CHILD_READS if due else 0)
            subprocess.run(["/bin/true"], check=True)
            os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
            self.call_library(number)
            time.sleep(1)

    def watch_memory(self) -> None:
        """Note the memory of process, own spool, all spools, and libraries, each hundredth after a minute."""
        spools = Path(os.environ["TFDARSHAN_SPOOL_DIR"])
        warm_s = min(60, self.seconds / 2)
        for place in range(PARTS):
            time.sleep(max(warm_s + (self.seconds - warm_s) * place / PARTS - self.passed_s(), 0))
            used = {path.stem: path.stat().st_blocks * 512 for path in spools.rglob("*.spool")}
            own, libraries = used[str(os.getpid())], self.library_calls
            self.rows_of_memory.append((anonymous_bytes(), own, sum(used.values()), libraries))

    def run(self) -> None:
        """Do all of it until the time is over."""
        self.begin()
        others = [
            threading.Thread(target=work) for work in (self.keep_threads, self.disturb, self.watch_memory)
        ]
        for thread in others:
            thread.start()
        for number in itertools.count():
            if self.passed_s() >= self.seconds:
                break
            self.step(number)
        for thread in others:
            thread.join()

    def told(self) -> dict[str, object]:
        """Return what it did."""
        return {
            "reads": {str(path): count for path, count in self.reads.items()},
            "opens": self.opens,
            "steps": self.steps,
            "children": self.children,
            "library_calls": self.library_calls,
            "threads": self.started_threads,
            "waited_ns": list(self.waited_ns),
            "memory": self.rows_of_memory,
            "rate": sum(self.reads.values()) / self.seconds,
        }


def main(folder: Path, seconds: float, library: Path, trace_mb: int) -> None:
    """Run the job."""
    job = Job(folder, seconds, library)
    options: dict[str, Any] = {"as_if": "lustre", "as_if_paths": [f"{folder}/inputs/"], "tf_profiler": False}
    bounds: dict[str, Any] = {"memory_cap_mb": MEMORY_CAP_MB, "trace_memory_mb": trace_mb}
    with tfdarshan.profile(folder / "logs", engine="builtin", **options, **bounds):
        job.run()
    # In another process: this one has room of threads that ended.
    words = [sys.executable, __file__, str(folder), str(library)]
    floor = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    print(json.dumps(job.told() | {"library_bytes": float(floor)}))


if __name__ == "__main__" and len(sys.argv) == 3:
    print(library_bytes(Path(sys.argv[1]), Path(sys.argv[2])))
elif __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
