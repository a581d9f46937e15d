"""What a process's calls took by its timeline, of which the short ones may be a sample."""

import math

import numpy as np

from tfdarshan.sessions.schema import FIRST_OPEN


def thinned_of(process):
    table = process.table("thinned", ["start_ns", "end_ns", "length", "flags"])
    return {name: table.column(name).to_numpy() for name in table.column_names}


def estimate(process):
    """Return the time in calls by the timeline, and the deviation that a sample of its size has."""
    kept = process.table("events", ["start_ns", "end_ns"])
    kept_ns = (kept["end_ns"].to_numpy() - kept["start_ns"].to_numpy()).sum()
    thinned, resolution_ns = thinned_of(process), process.meta["thinned"]["resolution_ns"]
    taken_ns = thinned["end_ns"] - thinned["start_ns"]
    sampled = thinned["flags"] & FIRST_OPEN == 0
    short_ns = float(resolution_ns) * (sampled & (taken_ns < resolution_ns)).sum()
    found_ns = kept_ns + np.where(sampled, np.maximum(taken_ns, resolution_ns), taken_ns).sum()
    return found_ns, math.sqrt(short_ns * resolution_ns)
