"""The page cache did the work: what was measured is memory, not storage."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.summary_data import slowed_calls
from tfdarshan.findings.about import About
from tfdarshan.findings.cache_share import SERVED, opens_take_long
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, percent

NAME = "page_cache"
ABOUT = About(
    title="The page cache served the input",
    cause="Nearly all input came from memory, because an earlier run or epoch left the files in the "
    "page cache. The session measured memory, and says little about storage.",
    says="the page cache served 99.0 % of the input",
    seen=("storage against page cache", "the tab's Overview"),
    fixes={
        "plain Python": "`os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)`, for each file, before the run",
        "any job": "`vmtouch -e FOLDER`, before the run",
    },
    ignore="the input fits in memory in production too",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it by the kernel's figures, or by how long reads took where these do not count."""
    if measures.imported:
        return Unknown(NAME, "what the page cache served: the log does not have the kernel's count")
    read = float(measures.costs.read_bytes.sum())
    if read < THRESHOLD["little"] or slowed_calls(measures.summary.emulation):
        return None
    storage, stored = measures.summary.coverage.read.storage, measures.figures.stored_bytes
    served = 1 - measures.costs.storage_share
    if stored is None and not measures.traced:
        return None
    if served < SERVED or opens_take_long(measures, np.flatnonzero(measures.is_input)):
        return None
    if float(measures.costs.slow_s.sum()) > (1 - SERVED) * float(measures.costs.call_s.sum()):
        # Of a slow server a few bytes take longer than all others from memory, and that says much about it.
        return None
    how = "by the kernel's count" if stored is not None else "judged by how long reads took"
    return Finding(
        name=NAME,
        kind="note",
        title=f"the page cache served {percent(served, 1)} of the input",
        what=f"The job read {human_bytes(read)} of input, and {percent(served, 1)} of it came from memory, "
        f"{how}. This session says little about storage.",
        evidence=(
            Evidence("read of the input", human_bytes(read), read),
            Evidence("of it from the page cache", percent(served, 1), served),
            *(
                (Evidence("fetched for all that the job read (read_bytes)", human_bytes(storage), storage),)
                if storage is not None
                else ()
            ),
        ),
        fix=Fix(
            "To measure storage, drop the cached pages of the input before the run.",
            "os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)  # for each open file; or: vmtouch -e FOLDER",
        ),
    )
