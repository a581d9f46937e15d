"""Calls drawn at random, as threads make them, and sessions of them."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.made_up_session import job_of, write_session
from tfdarshan.sessions import schema

PATHS = ["/data/a/1", "/data/a/2", "/data/b/1", "/home/u/x", "/data/a"]
KINDS = ["open", "pread", "read", "write", "fsync", "fopen", "fread", "fwrite", "close", "stat"]
LENGTHS = st.one_of(st.just(0), st.integers(1, 300), st.integers(1, 1 << 31))


@st.composite
def drawn_calls(draw):
    """Return calls of up to four threads; each thread makes one at a time, as threads do."""
    found = []
    for tid in range(1, draw(st.integers(1, 4)) + 1):
        at = draw(st.integers(0, 2_000))
        for _ in range(draw(st.integers(0, 12))):
            end = at + draw(st.integers(0, 5_000))
            kind = draw(st.sampled_from(KINDS))
            moves = kind in ("pread", "read", "write", "fread", "fwrite")
            length = draw(LENGTHS) if moves else 0
            found.append((at, end, tid, kind, draw(st.integers(0, len(PATHS) - 1)), length))
            at = end + draw(st.integers(0, 1_000))
    return found


def merged_ns(calls):
    """Return the time in which at least one of the calls ran."""
    total = reached = 0
    for start, end, *_ in sorted(calls):
        total += max(end - max(start, reached), 0)
        reached = max(reached, end)
    return total


@contextmanager
def session_of(processes, row_group=8):
    """Yield the session of some processes' calls, in small row groups."""
    last = max((call[1] for process in processes for call in process), default=0)
    jobs = [
        job_of(made, PATHS, [10, 5000, 1, -1, 0], pid=100 + place, duration_ns=last + 1)
        for place, made in enumerate(processes)
    ]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "EVENTS_ROW_GROUP", row_group)
        yield write_session(Path(folder), *jobs)
