"""Adds up the records of a Darshan log with PyDarshan, or those of its session, and prints the cost."""

from __future__ import annotations

import importlib.metadata
import json
import resource
import sys
import time
from pathlib import Path


def with_pydarshan(log: Path) -> dict[str, float]:
    """Add up by PyDarshan's report and its aggregation of records."""
    import darshan
    from darshan.backend.cffi_backend import accumulate_records

    report = darshan.DarshanReport(str(log), read_all=False)
    report.mod_read_all_records("POSIX")
    records = report.records["POSIX"].to_df()
    found = accumulate_records(records, "POSIX", report.metadata["job"]["nprocs"])
    counters = found.summary_record["counters"]
    return {"files": len(records["counters"]), "bytes_read": int(counters["POSIX_BYTES_READ"].iloc[0])}


def with_tfdarshan(folder: Path) -> dict[str, float]:
    """Add up by what a summary says of files."""
    import tfdarshan
    from tfdarshan.analysis.files.file_totals import total_files

    processes = tfdarshan.open_session(folder).processes
    found = total_files(processes, 5)
    files = sum(int(process.meta["tables"]["files"]["rows"]) for process in processes)
    return {"files": files, "bytes_read": found.sums["POSIX_BYTES_READ"]}


def main() -> None:
    """`darshan LOG` or `tfdarshan FOLDER`."""
    tool, path = sys.argv[1], Path(sys.argv[2])
    before = time.perf_counter()
    answer = with_pydarshan(path) if tool == "darshan" else with_tfdarshan(path)
    used = resource.getrusage(resource.RUSAGE_SELF)
    took = {"wall_s": time.perf_counter() - before, "cpu_s": used.ru_utime + used.ru_stime}
    version = importlib.metadata.version(tool)
    print(json.dumps({"version": version, "peak_mib": used.ru_maxrss / 1024, **took, **answer}))


if __name__ == "__main__":
    main()
