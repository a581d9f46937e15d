"""One process: times the pread loop before and after a session, or after none. Prints CPU times."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path

from tests.perf.contender import HotLoop, Loop, Recorded
from tfdarshan.native import _bridge

LOOP = Loop("pread", "", 300_000)
RUNS = 5


def main(session: bool) -> None:
    """Print the medians before and after, and the slots that still hold wrappers."""
    with tempfile.TemporaryDirectory() as folder:
        loops = HotLoop(Path(folder), threads=1)
        recorded = Recorded("", loops)
        recorded.plain(LOOP, 1)
        before = statistics.median(recorded.plain(LOOP, 1).cpu_ns for _ in range(RUNS))
        if session:
            recorded.recorded(LOOP, 1)
        after = statistics.median(recorded.plain(LOOP, 1).cpu_ns for _ in range(RUNS))
    print(json.dumps({"before": before, "after": after, "slots": _bridge.slots_holding_wrappers()}))


if __name__ == "__main__":
    main(sys.argv[1] == "session")
