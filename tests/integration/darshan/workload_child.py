"""Runs workloads of the oracle with the darshan engine and prints what verify said of each.

    python -m tests.integration.darshan.workload_child GROUP DIRECTORY TIMES THREADS

With several threads each does the whole workload in a folder of its own, all at the same time.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tfdarshan
from tests.integration.oracle.workloads import GROUPS, load

# These use descriptors by number, and expect that nobody else takes or closes them meanwhile.
ALONE = {"duplicates", "reused_numbers", "c_calls", "c_streams", "c_streams_loaded_late"}


def workloads(group: str, threads: int) -> list[str]:
    return [name for name in GROUPS[group] if threads == 1 or name not in ALONE]


def run(name: str, home: Path, threads: int) -> dict[str, object]:
    data = home / "data"
    folders = [data / str(number) for number in range(threads)] if threads > 1 else [data]
    prepare, workload = load(name)
    for folder in folders:
        folder.mkdir(parents=True)
        prepare(folder)
    tempfile.tempdir = os.environ["TMPDIR"] = str(data)
    session = tfdarshan.profile(home / "logs", spool_dir=home, engine="darshan", include=[f"{data}/"])
    try:
        with session, ThreadPoolExecutor(threads) as pool:
            list(pool.map(workload, folders))
    finally:
        tempfile.tempdir = os.environ["TMPDIR"] = str(home)
    meta = session.meta[0]
    return {"name": name, "engine": meta["engine"], "verify": meta["verify"], "bounds": meta["bounds"]}


def main(group: str, directory: Path, times: int, threads: int) -> None:
    os.environ["TFD_ORACLE_LIBRARIES"] = str(directory / "libraries")
    for turn in range(times):
        for name in workloads(group, threads):
            print(json.dumps(run(name, directory / f"{turn}" / name, threads)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
