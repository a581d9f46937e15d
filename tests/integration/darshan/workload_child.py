"""Runs workloads of the oracle with the darshan engine and prints what verify said of each."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import tfdarshan
from tests.integration.oracle.workloads import GROUPS, load


def run(name: str, home: Path) -> dict[str, object]:
    data = home / "data"
    data.mkdir(parents=True)
    prepare, workload = load(name)
    prepare(data)
    tempfile.tempdir = os.environ["TMPDIR"] = str(data)
    session = tfdarshan.profile(home / "logs", spool_dir=home, engine="darshan", include=[f"{data}/"])
    try:
        with session:
            workload(data)
    finally:
        tempfile.tempdir = os.environ["TMPDIR"] = str(home)
    meta = session.meta[0]
    return {"name": name, "engine": meta["engine"], "verify": meta["verify"], "bounds": meta["bounds"]}


def main(group: str, directory: Path, times: int) -> None:
    os.environ["TFD_ORACLE_LIBRARIES"] = str(directory / "libraries")
    for turn in range(times):
        for name in GROUPS[group]:
            print(json.dumps(run(name, directory / f"{turn}" / name)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
