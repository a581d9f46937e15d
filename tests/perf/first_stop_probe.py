"""One process: waits for a line, then does its first stop, or imports Arrow alone. Prints what that took."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import tfdarshan


def main(logdir: Path, action: str, *preloaded: str) -> None:
    """Prints CPU and wall seconds; `action` is "stop" or "import"."""
    for module in preloaded:
        import_module(module)
    act = _first_stop(logdir) if action == "stop" else lambda: import_module("pyarrow")
    print("ready", flush=True)
    sys.stdin.readline()
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    act()
    took = {"cpu_s": time.process_time() - cpu_s, "wall_s": time.perf_counter() - wall_s}
    print(json.dumps(took), flush=True)


def _first_stop(logdir: Path) -> Callable[[], object]:
    session = tfdarshan.profile(logdir).start()
    Path(__file__).read_bytes()
    return session.stop


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
