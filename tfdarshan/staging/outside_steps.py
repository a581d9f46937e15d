"""Files that a run reads before its first step or after its last one alone.

A validation set after the only epoch of a session is such. A copy of them makes no step quicker: no promise
of steps has them. But who copies all that there is room for has them copied, too, as a longer run reads them
between steps.
"""

from __future__ import annotations

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.run_facts import RunFacts


def read_outside_steps(use: FileUse, facts: RunFacts, rows: Array) -> Array:
    """Says which files were read, but not from the first step to the last, bool.

    None where the sessions have no steps, or not all calls: then nobody knows when a file was read.

    Args:
        use: What the files were used for.
        facts: The run.
        rows: Their rows in `use`.
    """
    known = facts.steps_s is not None and use.traced_share >= 1
    outside: Array = known & (use.counted_bytes[rows] > 0) & (use.bytes_read[rows] == 0)
    return outside
