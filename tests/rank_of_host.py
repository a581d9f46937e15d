"""One rank, for tests of several hosts: records reads until all ranks have begun, and ends with all.

Called as `rank_of_host LOGDIR MEETING DATA`: MEETING is a folder in which ranks say how far they are. A rank
that RANK_IS_KILLED names dies in its session, when it has asked for the clock of the first.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import tfdarshan

LONGEST_WAIT_S = 900


def meet(folder: Path, what: str) -> None:
    """Wait until all ranks have said so."""
    (folder / f"{what}-{os.environ['TFDARSHAN_RANK']}").touch()
    until_s = time.monotonic() + LONGEST_WAIT_S
    while len(list(folder.glob(f"{what}-*"))) < int(os.environ["TFDARSHAN_WORLD_SIZE"]):
        if time.monotonic() > until_s:
            raise SystemExit(f"not all ranks have {what}")
        time.sleep(0.1)


def die(meeting: Path) -> None:
    """Wait until each rank knows what its clock is off, and dies."""
    until_s = time.monotonic() + LONGEST_WAIT_S
    spools = Path(os.environ["TFDARSHAN_SPOOL_DIR"])
    while len(list(spools.glob("*/clock.json"))) < int(os.environ["TFDARSHAN_WORLD_SIZE"]):
        if time.monotonic() > until_s:
            raise SystemExit("no clock was asked for")
        time.sleep(0.1)
    (meeting / f"ended-{os.environ['TFDARSHAN_RANK']}").touch()
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Record."""
    logdir, meeting, data = map(Path, sys.argv[1:])
    with tfdarshan.profile(logdir, exclude=[f"{meeting}/"]):
        for _ in range(3):
            data.read_bytes()
        meet(meeting, "begun")
        # All clocks drift by then.
        time.sleep(1)
        data.read_bytes()
        if os.environ.get("RANK_IS_KILLED") == os.environ["TFDARSHAN_RANK"]:
            die(meeting)
    meet(meeting, "ended")


if __name__ == "__main__":
    main()
