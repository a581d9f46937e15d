"""Page faults on mapped files that are in no figure of the pipeline, though much was mapped."""

from __future__ import annotations

from tfdarshan.findings.finding import Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds

# The finding that says it.
FINDING = "mapped_wait"
# What a finding says of time that it knows by file calls.
NOT_SEEN = "How much of that time is page faults on mapped files was not recorded."


def unseen_faults(measures: Measures) -> Unknown | None:
    """Describe what is not known of a session's page faults; None if all of them are in its figures.

    So little may have been mapped, or waited for, that no figure changes by it: that is None as well.
    """
    reads = measures.summary.mapped
    if measures.imported:
        return None
    if not reads.asked:
        return _unwatched(measures)
    return _not_kept(measures) if reads.files and not measures.mapped.kept else None


def _unwatched(measures: Measures) -> Unknown | None:
    # A page of shared memory, which workers hand batches over by, comes from no storage.
    mapped = (measures.summary.mmap_bytes or 0) - measures.summary.mapped_in_memory
    if mapped < THRESHOLD["much"]:
        return None
    why = (
        f"what page faults on mapped files cost: {human_bytes(mapped)} were mapped, and their page faults "
        "were not watched"
    )
    return Unknown(FINDING, why, measures.recorded.line(mapped=True))


def _not_kept(measures: Measures) -> Unknown | None:
    reads = measures.summary.mapped
    if reads.faults is None:
        if reads.bytes_mapped < THRESHOLD["much"]:
            return None
        why = next((note for note in reads.notes if "not seen" in note), "they were not recorded")
        least = "" if reads.wait_s is None else f", {human_seconds(reads.wait_s)} over threads at least"
        return Unknown(FINDING, f"what page faults on mapped files cost{least}: {why}")
    if (reads.wait_s or 0.0) < THRESHOLD["note"] * measures.summary.duration_s:
        return None
    why = "who waited in page faults on mapped files: there is no trace of them"
    return Unknown(FINDING, why, measures.recorded.to_keep_calls)
