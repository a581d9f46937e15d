"""One process: waits for a line, then does its first stop, or imports Arrow alone. Prints what it took."""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from pathlib import Path

import tfdarshan


def main(logdir: Path, action: str, *preloaded: str) -> None:
    """Print seconds of processor time and wall clock; `action` is "stop" or "import"."""
    for module in preloaded:
        import_module(module)
    cpu_s = time.process_time()
    session = tfdarshan.profile(logdir).start() if action == "stop" else None
    start_cpu_s = time.process_time() - cpu_s
    Path(__file__).read_bytes()
    print("ready", flush=True)
    sys.stdin.readline()
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    if session is None:
        import_module("pyarrow")
    else:
        session.stop()
    cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
    if session is not None and len(session.files) == 0:
        raise RuntimeError("the session has no file")
    print(json.dumps({"start_cpu_s": start_cpu_s, "cpu_s": cpu_s, "wall_s": wall_s}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
