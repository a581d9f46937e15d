"""One process: loads TensorFlow, then attaches and detaches. Prints what that took."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import tfdarshan


def attach(logdir: Path) -> dict[str, float]:
    """Start and stop a session; milliseconds and the slots patched."""
    session = tfdarshan.profile(logdir, tf_profiler=False)
    begin = time.perf_counter()
    session.start()
    started_ms = (time.perf_counter() - begin) * 1e3
    session.stop()
    reports = session.meta[0]["attach"]
    return {
        "attach_ms": reports["start"]["elapsed_ns"] / 1e6,
        "detach_ms": reports["stop"]["elapsed_ns"] / 1e6,
        "start_ms": started_ms,
        "slots": reports["start"]["slots_patched"],
        "objects": reports["start"]["objects_scanned"],
        "relocations": reports["start"]["relocations_scanned"],
    }


def main(logdir: Path, later: int) -> None:
    """Print the first and `later` later ones."""
    import tensorflow  # noqa: F401

    print(json.dumps([attach(logdir) for _ in range(1 + later)]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
