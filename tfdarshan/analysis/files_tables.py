"""The files tables read once, for those who need both a table of paths and the totals."""

from __future__ import annotations

from collections.abc import Sequence

from tfdarshan.analysis.file_batches import file_batches
from tfdarshan.analysis.file_table import WANTED, FileRows, FileTable, GroupedFiles
from tfdarshan.analysis.file_totals import FileTotals, TotalSums, is_summed
from tfdarshan.sessions.process_data import ProcessData


def load_files_and_totals(processes: Sequence[ProcessData], top: int) -> tuple[FileTable, FileTotals]:
    """Gives what `load_files` and `total_files` do.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    rows, totals = _read(processes, top)
    return rows.table(), totals


def load_grouped_files_and_totals(
    groups: Sequence[Sequence[ProcessData]], top: int
) -> tuple[GroupedFiles, FileTotals]:
    """Gives what `load_grouped_files` does, and `total_files` of all groups' processes.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    rows, totals = _read([process for group in groups for process in group], top)
    return rows.by_group([len(group) for group in groups]), totals


def _read(processes: Sequence[ProcessData], top: int) -> tuple[FileRows, FileTotals]:
    rows, totals = FileRows(processes), TotalSums(len(processes), top)
    for batch in file_batches(processes, lambda name: name in WANTED or is_summed(name)):
        rows.add(batch)
        totals.add(batch)
    return rows, totals.totals()
