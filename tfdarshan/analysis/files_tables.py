"""The files tables read once, for those who need both a table of paths and the totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.analysis.file_batches import file_batches
from tfdarshan.analysis.file_table import WANTED, FileRows, FileTable, GroupedFiles
from tfdarshan.analysis.file_totals import FileTotals, TotalSums, is_summed
from tfdarshan.sessions.process_data import ProcessData


@dataclass(frozen=True)
class GroupsFiles:
    """What the files tables of groups of processes say.

    Attributes:
        grouped: A row per group and path.
        totals: Of all groups: what `total_files` gives.
        first: What `load_files_and_totals` gives of the first group.
        table: What `load_files` gives of all groups, None where it was not asked for.
    """

    grouped: GroupedFiles
    totals: FileTotals
    first: tuple[FileTable, FileTotals]
    table: FileTable | None


def load_files_and_totals(processes: Sequence[ProcessData], top: int) -> tuple[FileTable, FileTotals]:
    """Gives what `load_files` and `total_files` do.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    rows, totals = FileRows(processes), TotalSums(len(processes), top)
    for batch in file_batches(processes, _is_wanted):
        rows.add(batch)
        totals.add(batch)
    return rows.table(), totals.totals()


def load_groups_files(
    groups: Sequence[Sequence[ProcessData]], top: int, *, with_table: bool = False
) -> GroupsFiles:
    """Reads the files tables of groups of processes, such as those of ranks.

    Args:
        groups: The groups.
        top: How many of the slowest and of the most-read rows the totals list.
        with_table: Whether a row per path of all groups together is wanted, too.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    processes, first = [process for group in groups for process in group], len(groups[0])
    rows, totals, of_first = FileRows(processes), TotalSums(len(processes), top), TotalSums(first, top)
    for batch in file_batches(processes, _is_wanted, apart=first):
        rows.add(batch)
        totals.add(batch)
        if batch.places[0] < first:
            of_first.add(batch)
    return GroupsFiles(
        table=rows.of_first(len(processes)).table() if with_table else None,
        first=(rows.of_first(first).table(), of_first.totals()),
        grouped=rows.by_group([len(group) for group in groups]),
        totals=totals.totals(),
    )


def _is_wanted(column: str) -> bool:
    return column in WANTED or is_summed(column)
