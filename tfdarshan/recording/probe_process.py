"""Probes the storage that a session read from, once it is written, in a process of its own.

There no session records, no thread holds it up, and a mount that hangs keeps nobody waiting for long.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tfdarshan.notice import warn

# A probe ends after 5 s; what is more than starting Python takes is a mount that hangs.
LONGEST_S = 60.0
PACKAGE_PARENT = Path(__file__).parents[2]
INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)


def probe_storage_of(session: Path) -> None:
    """Has the storage under a session's input measured, and kept in the session; says why if it cannot be."""
    paths = [str(PACKAGE_PARENT), *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        done = subprocess.run(
            [sys.executable or "python3", "-m", "tfdarshan", "probe", "--logdir", str(session)],
            # Where no module of the job's stands for one of Python's.
            cwd="/",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=LONGEST_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        warn(f"the storage was not probed: {str(error).rstrip('.')}; {_later(session)}.")
        return
    if done.returncode and done.returncode not in INTERRUPTED:
        lines = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines() or [
            "no reason was given"
        ]
        why = lines[-1].removeprefix("tfdarshan: ").rstrip(".")
        warn(f"the storage was not probed: {why}; {_later(session)}.")


def _later(session: Path) -> str:
    return f"to try again: tfdarshan probe --logdir {session}"
