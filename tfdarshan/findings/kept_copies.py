"""Copies that the page cache keeps: from their second pass on memory serves them, whatever the disk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.input_figures import BLOCK_FILE_SYSTEMS
from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.finding import Assumption
from tfdarshan.findings.fits_in_memory import ROOM
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.whole_input import WholeInput
from tfdarshan.units import human_bytes, percent


@dataclass(frozen=True)
class KeptCopies:
    """What memory serves of copies.

    Attributes:
        share: Of what the copies save, the part that their passes but the first save, 0 to 1.
        input_bytes: What the copies take.
        passes: How often the session's storage served them, the mean by what they save.
        memory_bytes: What the job may have of the machine's memory.
    """

    share: float
    input_bytes: float
    passes: float
    memory_bytes: int

    def assumed(self, speed: str) -> Assumption:
        """Gives what a lower bound by these passes rests on; `speed` says how slow it is at most."""
        return Assumption(
            f"the page cache keeps a copy from its first pass on, and is no slower than {speed}",
            f"{human_bytes(self.input_bytes)}, which storage serves {self.passes:.1f} times, are "
            f"{percent(self.input_bytes, self.memory_bytes)} of the memory",
            "the job itself needs the memory",
        )


def kept_copies(
    use: FileUse, whole: WholeInput, staged: Array, size: Array, memory_bytes: int | None
) -> KeptCopies | None:
    """Works out what memory serves of the copies on a local disk, None if nothing.

    A copy has just been written, or is read from the disk once: then the kernel keeps it, as it does with all
    files of local file systems, if it fits. Whose files are on such a file system now, and are read from
    storage again and again, is shown that it keeps none of them.

    Args:
        use: What the files were used for.
        whole: All that can be staged.
        staged: The places of the candidates that are.
        size: Bytes of each candidate.
        memory_bytes: What the job may have of the machine's memory, None if unknown.
    """
    input_bytes, saved_s = float(size[staged].sum()), whole.saved_s[staged]
    if memory_bytes is None or input_bytes > ROOM * memory_bytes or float(saved_s.sum()) <= 0:
        return None
    kinds = np.array([one.fs_type in BLOCK_FILE_SYSTEMS for one in use.mounts], bool)
    keeps = use.emulated | ~kinds[use.mount[whole.found.rows[staged]]]
    served = whole.found.recurring[staged]
    later = np.where(keeps, np.maximum(served - 1, 0) / np.maximum(served, 1.0), 0.0)
    share, passes = (float(np.average(values, weights=saved_s)) for values in (later, served))
    return KeptCopies(share, input_bytes, passes, memory_bytes) if share > 0 else None
