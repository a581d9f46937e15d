"""Runs a script that profiles itself in an interpreter of its own, and opens the session it wrote."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import tfdarshan

ROOT = Path(__file__).parent.parent.parent


def run_profiled(folder: Path, script: str, *arguments: str, timeout_s: float = 100) -> tfdarshan.Session:
    """Run `script` in `folder`, which must write its session to "logs" there; a hang is a failure."""
    (folder / "script.py").write_text(textwrap.dedent(script))
    ran = subprocess.run(
        [sys.executable, "-W", "error", "script.py", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TFDARSHAN_SPOOL_DIR": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return tfdarshan.open_session(folder / "logs")


def counted(session: tfdarshan.Session, path: Path, counter: str) -> int:
    """Return the sum of a counter over the session's processes."""
    rows = session.files[session.files["path"] == str(path)]
    return int(rows[counter].sum())
