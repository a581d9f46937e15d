"""Page faults on mapped files that are in no figure of the pipeline, though much was mapped."""

from __future__ import annotations

from dataclasses import dataclass

from tfdarshan.findings.measures import Measures
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds

# What a finding says of time that it knows by file calls.
NOT_SEEN = "What page faults on mapped files take of that time was not seen."


@dataclass(frozen=True)
class UnseenFaults:
    """What is not known of them, why, and what to record to know it."""

    what: str
    why: str
    record: str


def unseen_faults(measures: Measures) -> UnseenFaults | None:
    """Describe what is not known of a session's page faults; None if all of them are in its figures.

    So little may have been mapped, or waited for, that no figure changes by it: that is None as well.
    """
    reads = measures.summary.mapped
    if measures.imported:
        return None
    if not reads.asked:
        return _unwatched(measures)
    return _not_kept(measures) if reads.files and not measures.mapped.kept else None


def _unwatched(measures: Measures) -> UnseenFaults | None:
    mapped = measures.summary.mmap_bytes or 0
    if mapped < THRESHOLD["much"]:
        return None
    why = f"{human_bytes(mapped)} were mapped, and nobody watched"
    return UnseenFaults("what page faults on mapped files cost", why, measures.recorded.line(mapped=True))


def _not_kept(measures: Measures) -> UnseenFaults | None:
    reads = measures.summary.mapped
    if reads.faults is None:
        if reads.bytes_mapped < THRESHOLD["much"]:
            return None
        why = next((note for note in reads.notes if "not seen" in note), "they were not seen")
        least = "" if reads.wait_s is None else f", {human_seconds(reads.wait_s)} over threads at least"
        return UnseenFaults(f"what page faults on mapped files cost{least}", why, "")
    if (reads.wait_s or 0.0) < THRESHOLD["note"] * measures.summary.duration_s:
        return None
    record = measures.recorded.to_keep_calls
    return UnseenFaults("who waited in page faults on mapped files", "there is no trace of them", record)
