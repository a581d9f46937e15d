"""Sessions recorded at the same time as another in one logdir: most often the ranks of one job."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from tfdarshan.file_name import printable
from tfdarshan.session_directory import META_SUFFIX

# The clock of a file server may be off by so much from the one that the sessions have.
CLOCK_SLACK_NS = 60 * 10**9
MOST_NAMED = 3


def overlapping(directory: Path, candidates: Iterable[Path]) -> list[Path]:
    """Lists the sessions among `candidates` that were recording while the one in `directory` was.

    Metadata is written after its session: what was written before ours began is not read.
    """
    own = _span(directory)
    if own is None:
        return []
    return [path for path in candidates if path != directory and _meets(path, own)]


def overlap_lines(others: Sequence[Path]) -> list[str]:
    """Says that a session is one of several, and where the others are; no lines where it is alone."""
    if not others:
        return []
    rest = "the other is" if len(others) == 1 else f"the other {len(others):,} are"
    lines = [f"1 of {len(others) + 1:,} sessions that overlap in time; {rest} not in these figures. By path:"]
    lines += [f"  {printable(str(path))}" for path in others[:MOST_NAMED]]
    if len(others) > MOST_NAMED:
        lines.append(f"  and {len(others) - MOST_NAMED:,} more")
    return lines


def _meets(directory: Path, own: tuple[int, int]) -> bool:
    span = _span(directory, own[0] - CLOCK_SLACK_NS)
    return span is not None and span[0] < own[1] and own[0] < span[1]


def _span(directory: Path, written_since_ns: int = 0) -> tuple[int, int] | None:
    """Gives when a session began and ended, in ns since the epoch, as its owner's metadata says."""
    try:
        for path in directory.glob(f"*{META_SUFFIX}"):
            written_ns = path.stat().st_mtime_ns
            span = _span_in(path, written_ns) if written_ns >= written_since_ns else None
            if span is not None:
                return span
    except OSError:
        pass
    return None


@functools.lru_cache(maxsize=4096)
def _span_in(path: Path, _written_ns: int) -> tuple[int, int] | None:
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
        if not meta["owner"]:
            return None
        start_ns = int(meta["origin_realtime_ns"])
        return start_ns, start_ns + int(meta["duration_ns"])
    except (OSError, ValueError, TypeError, KeyError):  # said by whoever reads that session
        return None
