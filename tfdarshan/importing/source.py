"""A Darshan log, read: what the tables and the metadata of its session are made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tfdarshan.importing.dxt_segments import Segments
from tfdarshan.importing.file_rows import Host
from tfdarshan.importing.log_regions import LogRegions
from tfdarshan.importing.pydarshan import LogContent


@dataclass(frozen=True)
class Source:
    """A log, read."""

    path: Path
    log: LogRegions
    content: LogContent
    segments: Segments | None

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
    def host(self) -> Host:
        """The job's host and mounts."""
        mounts = sorted(set(self.content.mounts), key=lambda mount: -len(mount[0]))
        return Host(self.content.metadata.get("tfdarshan_host", "unknown"), mounts)

    def host_of(self, rank: int) -> Host:
        """The host of a rank, where its segments say it."""
        hosts = {} if self.segments is None else self.segments.hosts
        name = hosts.get(rank) or (next(iter(hosts.values())) if len(set(hosts.values())) == 1 else "")
        return Host((name or self.host.name).replace("/", "_"), self.host.mounts)
