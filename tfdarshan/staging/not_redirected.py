"""What programs that a job started read of staged files: nothing leads them to the copies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.staging.plan import Plan
from tfdarshan.units import plural

COLUMNS = ("path", "POSIX_READS", "STDIO_READS")


@dataclass(frozen=True)
class NotRedirected:
    """How many programs read originals, and how many different ones."""

    programs: int = 0
    files: int = 0

    @property
    def sentence(self) -> str:
        """Says so, and what to do; "" if there are none."""
        if not self.files:
            return ""
        return (
            f"{plural(self.programs, 'program')} that the job started (such as workers that are not forked) "
            f"read {plural(self.files, 'original')}: only the process itself and its forks are led to "
            "copies. `tfdarshan stage apply --mirror` makes a folder that all can read instead"
        )


def reads_of_originals(processes: Sequence[ProcessData], plan: Plan) -> NotRedirected:
    """Counts what programs that were started, not forked, read of a plan's originals.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    originals = {os.path.join(plan.slow_root, file.name) for file in plan.files}  # noqa: PTH118
    programs, read = 0, set[str]()
    for process in processes:
        if process.meta.get("joined", False):
            found = originals & _files_read(process)
            programs += bool(found)
            read |= found
    return NotRedirected(programs, len(read))


def _files_read(process: ProcessData) -> set[str]:
    found = set()
    for batch in process.batches("files", COLUMNS):
        paths, *reads = (batch.column(name).to_pylist() for name in COLUMNS)
        found |= {path for path, *counts in zip(paths, *reads, strict=True) if any(counts)}
    return found
