"""Probes the storage that a session read from, once it is written, in a process of its own.

There no session records, no thread holds it up, and a mount that hangs keeps nobody waiting for long.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tfdarshan.file_name import shell_word
from tfdarshan.notice import warn

# A probe ends after 5 s; what is more than starting Python takes is a mount that hangs.
LONGEST_S = 60.0
PACKAGE_PARENT = Path(__file__).parents[2]
INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)


def probe_storage_of(session: Path) -> None:
    """Have the storage under a session's input measured, and kept in the session; say why if it cannot be."""
    try:
        code, said = _run(session)
    except Exception as error:  # the job goes on, and its session is written
        code, said = 1, str(error)
    if code and code not in INTERRUPTED:
        lines = said.strip().splitlines() or ["no reason was given"]
        why = lines[-1].removeprefix("tfdarshan: ").rstrip(".")
        command = f"tfdarshan probe --logdir {shell_word(session)}"
        warn(f"the storage was not probed: {why}; to try again: {command}.")


def _run(session: Path) -> tuple[int, str]:
    """Run the probe; return its exit code, and what it says on stderr."""
    import subprocess

    paths = [str(PACKAGE_PARENT), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [sys.executable or "python3", "-m", "tfdarshan", "probe", "--logdir", str(session)],
        # Where no module of the job's stands for one of Python's.
        cwd="/",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        _, said = process.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        # In a call that hangs it does not even end when it is killed: it is not waited for.
        process.kill()
        process.returncode = -signal.SIGKILL
        if process.stderr is not None:
            process.stderr.close()
        return 1, f"it did not end within {LONGEST_S:.0f} s: the mount hangs"
    return process.returncode, said.decode("utf-8", "backslashreplace")
