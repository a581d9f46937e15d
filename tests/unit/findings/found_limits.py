"""The rate limit that a session shows."""

from __future__ import annotations

from tfdarshan.analysis.calls.intervals import covered
from tfdarshan.analysis.files.directory import folders_of
from tfdarshan.analysis.storage.rate_limit import rate_limit_of


def limit_of(measures):
    """Return the limit that a session shows, None without one."""
    costs, writes = measures.costs, measures.writes
    return rate_limit_of(
        measures.facts.held, costs.opens + costs.reads, folders_of(measures.files.paths).of_file,
        covered(writes.start_ns, writes.end_ns),
    )  # fmt: skip
