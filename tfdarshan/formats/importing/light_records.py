"""A log's job and its POSIX and STDIO records, and nothing else of it, in a few milliseconds.

Records of the newest version are read here, straight from the regions: no other region is decompressed, and
PyDarshan is not needed. Older records are PyDarshan's, which brings them up to the newest version.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.job_text import read_job_text
from tfdarshan.formats.importing.log_regions import OLD_VERSIONS, LogRegions
from tfdarshan.formats.importing.pydarshan import LogContent, Records, read_content
from tfdarshan.sessions import schema


def read_light(path: Path) -> tuple[LogRegions, LogContent]:
    """Read a log's job and its POSIX and STDIO records; `other_modules` stays empty.

    Raises:
        ConfigurationError: The log's records are of an older version, and PyDarshan is not installed.
        SessionDataError: It is no Darshan log, or what is read of it is damaged, or newer than known here.
    """
    log = LogRegions(path)
    if any(log.module_versions[name] < darshan_format.MODULE_VERSIONS[name] for name in log.record_modules):
        return log, read_content(log)
    return log, _content(log)


def _content(log: LogRegions) -> LogContent:
    job = _job(log)
    start_ns = int(job["start_s"]) * 1_000_000_000 + _nanoseconds(job, "start_ns")
    end_ns = int(job["end_s"]) * 1_000_000_000 + _nanoseconds(job, "end_ns")
    log.check_times(start_ns, end_ns)
    command, mounts = read_job_text(log)
    return LogContent(
        user=int(job["uid"]),
        job=int(job["job"]),
        processes=int(job["processes"]),
        start_realtime_ns=start_ns,
        end_realtime_ns=max(start_ns, end_ns),
        command=command,
        mounts=mounts,
        metadata=_metadata(bytes(job["metadata"])),
        records={name: _records(log, name) for name in log.record_modules},
        other_modules=[],
        reader_version="",
    )


def _job(log: LogRegions) -> Any:
    layout = darshan_format.OLD_JOB if log.version in OLD_VERSIONS else darshan_format.JOB
    return np.frombuffer(log.job, layout.newbyteorder(log.order), 1)[0]


def _nanoseconds(job: Any, name: str) -> int:
    return int(job[name]) if name in job.dtype.names else 0


def _metadata(text: bytes) -> dict[str, str]:
    lines = text.split(b"\0")[0].decode("utf-8", "backslashreplace").split("\n")
    return dict(line.split("=", 1) for line in lines if "=" in line)


def _records(log: LogRegions, module: str) -> Records:
    names = [c.name for c in schema.counter_columns() if c.name.startswith(f"{module}_")]
    f_names = [c.name for c in schema.f_counter_columns() if c.name.startswith(f"{module}_")]
    layout = darshan_format.counter_record(len(names), len(f_names))
    found = np.frombuffer(log.content(module), layout.newbyteorder(log.order))
    counters, f_counters = found["counters"], found["f_counters"]
    return Records(
        found["id"].astype(np.uint64),
        found["rank"].astype(np.int64),
        {name: counters[:, place] for place, name in enumerate(names)},
        {name: f_counters[:, place] for place, name in enumerate(f_names)},
    )
