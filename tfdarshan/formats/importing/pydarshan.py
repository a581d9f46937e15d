"""What PyDarshan reads of a log: the job, and POSIX and STDIO records, brought up to their newest version."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tfdarshan.errors import ConfigurationError, SessionDataError, reason
from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.job_text import read_job_text
from tfdarshan.formats.importing.log_regions import LogRegions
from tfdarshan.formats.importing.record_store import stored
from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions import schema
from tfdarshan.units import plural


@dataclass(frozen=True)
class Records:
    """Records of one module: `counters` and `f_counters` have an array for each of the module's counters."""

    record: Array
    rank: Array
    counters: dict[str, Array]
    f_counters: dict[str, Array]


# What Darshan has for what it did not count.
NOT_COUNTED = -1
# Darshan 3.0 counted fopen() and its like in the POSIX records: PyDarshan leaves out records with such calls.
MIXED = ("POSIX", 1)
# Times that PyDarshan 3.5.0 leaves in the log's byte order, if that is not the machine's, and the version of
# POSIX records from which on it does not.
UNSWAPPED = ("POSIX_F_META_TIME", "POSIX_F_MAX_READ_TIME", "POSIX_F_MAX_WRITE_TIME")
ALL_SWAPPED = 4


@dataclass(frozen=True)
class LogContent:
    """A log's job and its records by module; `other_modules` has no place in a session.

    `mixed` is the number of records that are left out because they count POSIX and STDIO calls together.
    """

    user: int
    job: int
    processes: int
    start_realtime_ns: int
    end_realtime_ns: int
    command: str
    mounts: list[tuple[str, str]]
    metadata: dict[str, str]
    records: dict[str, Records]
    other_modules: list[str]
    reader_version: str
    mixed: int = 0


def incomplete(partial: Iterable[str], content: LogContent) -> list[str]:
    """Return a sentence for each kind of record that is missing from a log or from what is read of it.

    Args:
        partial: Modules that ran out of memory or of records.
        content: What is read of the log.
    """
    full = [f"Darshan's {module} module ran out of memory or records: some are missing" for module in partial]
    if content.mixed:
        full.append(
            f"Darshan 3.0 counted POSIX and STDIO calls together in {plural(content.mixed, 'record')} "
            "and PyDarshan reads none of it"
        )
    return full


def believed(content: LogContent) -> LogContent:
    """Return a log's content with "not counted" for what is no number, or no time of a job."""
    records = {
        module: replace(
            part, f_counters={name: _believed(name, values) for name, values in part.f_counters.items()}
        )
        for module, part in content.records.items()
    }
    return replace(content, records=records)


def _believed(name: str, values: Array) -> Array:
    sound = np.abs(values) < schema.limit_of(name)
    return values if sound.all() else np.where(sound, values, NOT_COUNTED)


def read_content(log: LogRegions) -> LogContent:
    """Read a checked log through PyDarshan.

    Raises:
        ConfigurationError: PyDarshan is not installed, or does not work.
        SessionDataError: PyDarshan does not read the log.
    """
    version = load_backend()[1]
    command, mounts = read_job_text(log)
    # PyDarshan gets no region that is damaged.
    counts = {module: log.count(module) for module in log.record_modules}
    with opened_log(log.path) as (backend, handle):
        job = backend.log_get_job(handle)
        start_ns = int(job["start_time_sec"]) * 1_000_000_000 + int(job["start_time_nsec"])
        end_ns = int(job["end_time_sec"]) * 1_000_000_000 + int(job["end_time_nsec"])
        log.check_times(start_ns, end_ns)
        records = {module: _records(backend, handle, log, module, counts[module]) for module in counts}
        return LogContent(
            user=int(job["uid"]),
            job=int(job["jobid"]),
            processes=int(job["nprocs"]),
            start_realtime_ns=start_ns,
            end_realtime_ns=max(start_ns, end_ns),
            command=command,
            mounts=mounts,
            metadata=dict(job["metadata"]),
            records=records,
            other_modules=[
                name for name in backend.log_get_modules(handle) if name not in darshan_format.MODULE_VERSIONS
            ],
            reader_version=version,
            mixed=sum(counts[module] - len(part.record) for module, part in records.items()),
        )


def load_backend() -> tuple[Any, str]:
    """Return the module of PyDarshan's functions, and its version.

    Raises:
        ConfigurationError: PyDarshan is not installed, or does not work.
    """
    try:
        module = importlib.import_module("darshan.backend.cffi_backend")
        return module, str(importlib.import_module("darshan").__version__)
    except ImportError as error:
        if error.name not in ("darshan", "darshan.backend", "darshan.backend.cffi_backend"):
            raise ConfigurationError(f"PyDarshan does not work here: {reason(error)}.") from error
        raise ConfigurationError(
            "Darshan logs are read through PyDarshan, which is not installed: "
            "install it with `pip install 'tfdarshan[darshan]'`."
        ) from error
    except (OSError, RuntimeError, NotImplementedError) as error:
        raise ConfigurationError(f"PyDarshan does not work here: {reason(error)}.") from error


@contextmanager
def opened_log(path: Path) -> Iterator[tuple[Any, Any]]:
    """Open a checked log: return PyDarshan's functions, and its handle of the log.

    Raises:
        ConfigurationError: PyDarshan is not installed, or does not work.
        SessionDataError: PyDarshan does not read the log.
    """
    backend, _version = load_backend()
    # PyDarshan opens by names in UTF-8 only.
    with path.open("rb") as file:
        handle = backend.log_open(f"/proc/self/fd/{file.fileno()}")
    if not handle["handle"]:
        raise SessionDataError(f"PyDarshan cannot open the log {path}.")
    try:
        yield backend, handle
    except (ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
        raise SessionDataError(f"PyDarshan cannot read the log {path}: {reason(error)}.") from error
    finally:
        backend.log_close(handle)


def _records(backend: Any, handle: Any, log: LogRegions, module: str, count: int) -> Records:
    names, f_names = backend.counter_names(module), backend.fcounter_names(module)
    version = log.module_versions[module]
    layout = darshan_format.counter_record(len(names), len(f_names))
    found = stored(_each(backend, handle, module), layout)
    # PyDarshan ends at a record it cannot read.
    whole = len(found) == count or ((module, version) == MIXED and len(found) < count)
    if not whole:
        raise SessionDataError(f"the Darshan log {log.path} is damaged: its {module} records are not whole.")
    f_counters = {name: found["f_counters"][:, place] for place, name in enumerate(f_names)}
    if log.swapped and module == "POSIX" and version < ALL_SWAPPED:
        f_counters |= {name: f_counters[name].byteswap() for name in UNSWAPPED}
    return Records(
        found["id"].copy(),
        found["rank"].copy(),
        {name: found["counters"][:, place] for place, name in enumerate(names)},
        f_counters,
    )


def _each(backend: Any, handle: Any, module: str) -> Iterator[dict[str, Any]]:
    while (record := backend.log_get_generic_record(handle, module, dtype="numpy")) is not None:
        yield record
