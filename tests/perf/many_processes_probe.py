"""One process: starts workers that each read a file, and stops its session. Prints what that took."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import tfdarshan

READ = "import sys; open(sys.argv[1], 'rb').read(); print('read', flush=True); sys.stdin.read()"


def main(logdir: Path, workers: int) -> None:
    """Print seconds of the stop; all workers live until it has ended."""
    session = tfdarshan.profile(logdir).start()
    Path(__file__).read_bytes()
    command = [sys.executable, "-c", READ, __file__]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    started = [subprocess.Popen(command, **pipes) for _ in range(workers)]  # type: ignore[call-overload]
    for worker in started:
        worker.stdout.readline()
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    session.stop()
    took = {"cpu_s": time.process_time() - cpu_s, "wall_s": time.perf_counter() - wall_s}
    for worker in started:
        worker.communicate()
    processes = len(tfdarshan.open_session(logdir).processes)
    if processes != workers + 1:
        raise RuntimeError(f"the session has {processes} processes, not {workers + 1}")
    print(json.dumps(took), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
