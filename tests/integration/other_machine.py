"""A Dask cluster of one worker with a temporary folder of its own, as if it ran on another machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

# Shows the worker an empty folder in place of one that the machine has.
HIDE = 'mount -t tmpfs tmpfs "$0" && exec "$@"'
SCHEDULER = """\
import asyncio, sys
from distributed import Scheduler

async def serve():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(serve())
"""
WORKER = """\
import asyncio, sys
from distributed import Worker

async def work():
    async with Worker(sys.argv[1], nthreads=int(sys.argv[2]), local_directory=sys.argv[3]) as worker:
        await worker.finished()

asyncio.run(work())
"""


def can_hide_folders() -> bool:
    """Return whether processes may have mounts of their own here."""
    command = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /tmp"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@contextmanager
def other_machine(hidden: Path, scratch: Path, variables: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield the address of a scheduler whose one worker, of two threads, sees `hidden` as an empty folder.

    Args:
        hidden: The folder.
        scratch: Where the worker may write what Dask writes.
        variables: What both have in their environment.
    """
    with subprocess.Popen(
        [sys.executable, "-c", SCHEDULER], env=variables, text=True, stdout=subprocess.PIPE
    ) as scheduler:
        assert scheduler.stdout is not None
        address = scheduler.stdout.readline().strip()
        hiding = ["unshare", "--mount", "sh", "-c", HIDE, str(hidden)]
        working = [sys.executable, "-c", WORKER, address, "2", str(scratch)]
        worker = subprocess.Popen([*hiding, *working], env=variables)
        try:
            yield address
        finally:
            for process in (worker, scheduler):
                process.kill()
                process.wait()
