"""The page cache did the work: what was measured is memory, not storage."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.finding import Cure, Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.units import human_bytes, percent

NAME = "page_cache"
# From this share on it is worth saying; less input than this says nothing.
SERVED = 0.9
LEAST_BYTES = 1 << 20
BLOCK_FILE_SYSTEMS = frozenset(("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"))


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it by the kernel's figures, or by how long reads took where these do not count."""
    if measures.imported:
        return Unknown(NAME, "what the page cache served: the log does not have the kernel's figures")
    read = float(measures.costs.read_bytes.sum())
    if read < LEAST_BYTES or measures.summary.emulation is not None:
        return None
    storage = measures.summary.coverage.read.storage
    by_kernel = storage is not None and _on_block_devices(measures)
    served = 1 - float(measures.costs.slow_bytes.sum()) / read
    if by_kernel and storage is not None:
        served = 1 - min(storage / read, 1.0)
    elif not measures.traced:
        return None
    if served < SERVED:
        return None
    how = "the kernel fetched the rest from storage" if by_kernel else "judged by how long reads took"
    return Finding(
        name=NAME,
        kind="note",
        title=f"the page cache served {percent(served, 1)} of the input",
        what=f"Of {human_bytes(read)} read, {percent(served, 1)} came from memory ({how}): this session says "
        "little about storage.",
        evidence=(
            Evidence("input read", human_bytes(read), read),
            Evidence("from the page cache", percent(served, 1), served),
            *(
                (Evidence("fetched from storage (read_bytes)", human_bytes(storage), storage),)
                if storage is not None
                else ()
            ),
        ),
        unit=measures.model.unit,
        cure=Cure(
            "To measure storage, drop the cached pages of the input before the run.",
            "os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)  # for each file; or vmtouch -e FOLDER",
        ),
        not_worth="where the input fits into memory in production, too",
    )


def _on_block_devices(measures: Measures) -> bool:
    """Says whether the input is on file systems whose storage the kernel counts."""
    kinds = measures.files.rows["fs_type"].cat
    used = np.unique(kinds.codes.to_numpy()[measures.costs.read_bytes > 0])
    return {str(kinds.categories[code]) for code in used.tolist()} <= BLOCK_FILE_SYSTEMS
