"""Runs the workloads of groups, each in a session of its own, under the strace of the test.

    python -m tests.integration.oracle.child DIRECTORY GROUP ...

For each workload, DIRECTORY/<name>/ holds `data/`, what the workload used, and `files.pickle`,
its `session.files`. A workload that fails leaves `error.txt` instead, and the next one runs.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from pathlib import Path

import tfdarshan
from tests.integration.oracle.tally import marker
from tests.integration.oracle.workloads import GROUPS, load


def main(directory: Path, groups: list[str]) -> None:
    """Run groups."""
    for name in (name for group in groups for name in GROUPS[group]):
        try:
            _run(name, directory / name)
        except Exception:  # the test shows it
            (directory / name / "error.txt").write_text(traceback.format_exc())


def _run(name: str, home: Path) -> None:
    data = home / "data"
    data.mkdir(parents=True)
    prepare, workload = load(name)
    prepare(data)
    tempfile.tempdir = os.environ["TMPDIR"] = str(data)
    session = tfdarshan.profile(home / "logs", spool_dir=home).start()
    try:
        os.access(marker(name, "begin"), os.F_OK)
        workload(data)
        os.access(marker(name, "end"), os.F_OK)
    finally:
        session.stop()
        tempfile.tempdir = os.environ["TMPDIR"] = str(home)
    session.files.to_pickle(home / "files.pickle")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
