"""Calls and waits drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.unit.findings.made_up_training import LOOP

OPERATIONS = ("open", "close", "stat", "pread", "read", "lseek", "write", "fsync", "fwrite", "fread", "mmap")
PATHS = [f"/data/{number}" for number in range(5)] + ["/out/log", "/out/model"]
CALL = st.tuples(
    st.floats(0, 1000),
    st.floats(0, 100),
    st.sampled_from([1, 2, 3, LOOP]),
    st.sampled_from(OPERATIONS),
    st.integers(0, len(PATHS) - 1),
    st.sampled_from([0, 0, 100, 4096, 100_000, 1 << 20, 1 << 30]),
    st.sampled_from([-1, 0, 4096, 1 << 20]),
)
WAITS = st.sampled_from([-1.0, 0.0, 1.0, 50.0, 100.0])
