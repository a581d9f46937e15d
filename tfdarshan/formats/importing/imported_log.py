"""A Darshan log, read: what the tables and the metadata of its session are made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.dxt_segments import DxtSegments
from tfdarshan.formats.importing.log_regions import LogRegions
from tfdarshan.formats.importing.pydarshan import LogContent


@dataclass(frozen=True)
class ImportedLog:
    """A log, read; `no_files` are records of FIFOs and sockets, as rows of the layers table."""

    path: Path
    log: LogRegions
    content: LogContent
    segments: DxtSegments | None
    no_files: tuple[dict[str, Any], ...] = ()

    @cached_property
    def duration_ns(self) -> int:
        """The job's duration: at least until the last timestamp, for logs in whole seconds end early."""
        content = self.content
        latest = [content.end_realtime_ns - content.start_realtime_ns]
        for part in content.records.values():
            latest += [
                round(float(values.max(initial=0)) * 1e9)
                for name, values in part.f_counters.items()
                if name.endswith("_TIMESTAMP")
            ]
        if self.segments is not None:
            latest.append(int(self.segments.end_ns.max(initial=0)))
        return max(latest)

    @cached_property
    def mounts(self) -> list[tuple[str, str]]:
        """The job's mounts, longest point first."""
        return sorted(set(self.content.mounts), key=lambda mount: -len(mount[0]))

    def host_of(self, rank: int) -> str:
        """The host of a rank, where its segments say it."""
        known = {} if self.segments is None else self.segments.hosts
        return (known.get(rank) or self._host).replace("/", "_")

    def hosts_of(self, ranks: Iterable[int]) -> dict[str, list[int]]:
        """The ranks on each host."""
        found: dict[str, list[int]] = {}
        for rank in ranks:
            found.setdefault(self.host_of(rank), []).append(rank)
        return found

    @cached_property
    def _host(self) -> str:
        """Where segments say nothing: the only host they name, or the one that the job names."""
        named = set() if self.segments is None else set(self.segments.hosts.values())
        only = next(iter(named)) if len(named) == 1 else ""
        return only or self.content.metadata.get(darshan_format.ONLY_HOST, darshan_format.UNKNOWN_HOST)
