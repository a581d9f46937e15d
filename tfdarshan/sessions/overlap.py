"""Sessions recorded at the same time as another in one logdir: most often the ranks of one job."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.file_name import printable
from tfdarshan.sessions.rank_folder import parts_of
from tfdarshan.sessions.session_directory import META_SUFFIX
from tfdarshan.sessions.whole_file import JSON_GROWTH, read_whole

# The clock of a file server may be off by so much from the one that the sessions have.
CLOCK_SLACK_NS = 60 * 10**9
MOST_NAMED = 3


@dataclass(frozen=True)
class Recorded:
    """Which process recorded a session, and when, in ns since the epoch."""

    host: str
    pid: int
    start_ns: int
    end_ns: int

    def meets(self, other: Recorded) -> bool:
        """Return whether both were recording at one time; copies of one session were not."""
        return self != other and self.start_ns < other.end_ns and other.start_ns < self.end_ns


def overlapping(directory: Path, candidates: Iterable[Path]) -> list[Path]:
    """List the sessions among `candidates` that were recording while the one in `directory` was.

    Metadata is written after its session: what was written before ours began is not read.
    """
    own = recorded_in(directory)
    if own is None:
        return []
    since_ns = own.start_ns - CLOCK_SLACK_NS
    found = ((path, recorded_in(path, since_ns)) for path in candidates if path != directory)
    return [path for path, other in found if other is not None and own.meets(other)]


def overlap_lines(others: Sequence[Path]) -> list[str]:
    """Say that a session is one of several, and where the others are; no lines where it is alone."""
    if not others:
        return []
    rest = "the other is" if len(others) == 1 else f"the other {len(others):,} are"
    lines = [f"1 of {len(others) + 1:,} sessions that overlap in time; {rest} not in these figures. By path:"]
    lines += [f"  {printable(str(path))}" for path in others[:MOST_NAMED]]
    if len(others) > MOST_NAMED:
        lines.append(f"  and {len(others) - MOST_NAMED:,} more")
    return lines


def recorded_in(directory: Path, written_since_ns: int = 0) -> Recorded | None:
    """Return what a session's owner says in its metadata, if that was written since; None if there is none.

    Of a joint session it is the first rank's owner; its clock is that of the rank's host.
    """
    for part in parts_of(directory):
        found = _recorded_part(part, written_since_ns)
        if found is not None:
            return found
    return None


def _recorded_part(directory: Path, written_since_ns: int) -> Recorded | None:
    try:
        for path in directory.glob(f"*{META_SUFFIX}"):
            written_ns = path.stat().st_mtime_ns
            found = _read(path, written_ns) if written_ns >= written_since_ns else None
            if found is not None:
                return found
    except OSError:
        pass
    return None


@functools.lru_cache(maxsize=4096)
def _read(path: Path, _written_ns: int) -> Recorded | None:
    from tfdarshan.sessions.checked_json import DecodingError, decode
    from tfdarshan.sessions.meta_shape import OwnerShape

    try:
        meta = decode(read_whole(path, growth=JSON_GROWTH), OwnerShape)
    except (OSError, DecodingError):  # said by whoever reads that session
        return None
    if not meta.owner:
        return None
    start_ns = meta.origin_realtime_ns
    return Recorded(meta.host, meta.pid, start_ns, start_ns + meta.duration_ns)
