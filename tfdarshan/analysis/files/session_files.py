"""A session's files tables for all who ask for them, each read when first asked for, and once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tfdarshan.analysis.files.file_batches import file_batches
from tfdarshan.analysis.files.file_table import WANTED, FileRows, FileTable, GroupedFiles, load_files
from tfdarshan.analysis.files.file_totals import FileTotals, TotalSums, is_summed, total_files
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.session_data import SessionData


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
    """Return what `load_files` and `total_files` do.

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
    """Read the files tables of groups of processes, such as those of ranks.

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


# With more rows, sums do not wait for the table.
MANY_ROWS = 100_000


class SessionFiles:
    """What the files tables say.

    Args:
        session: The session.
        top: How many of the slowest and of the most-read files the totals list.
        with_table: Whether `table` will be asked for: of a job of several ranks only then it is made in the
            same look as all else.
    """

    def __init__(self, session: SessionData, top: int = 0, *, with_table: bool = False) -> None:
        self._session, self._top, self._with_table = session, top, with_table

    @cached_property
    def table(self) -> FileTable:
        """A row per path, over all processes.

        Raises:
            SessionDataError: A table is damaged or missing, as for all that follow.
        """
        if self._session.joint is None:
            alone = "totals" in self.__dict__ and "_both" not in self.__dict__
            return load_files(self._session.processes) if alone else self._both[0]
        found = self._groups.table if self._with_table else None
        return load_files(self._session.processes) if found is None else found

    @cached_property
    def totals(self) -> FileTotals:
        """All counters added up."""
        if self._session.joint is not None:
            return self._groups.totals
        if self.is_large and "_both" not in self.__dict__:
            return total_files(self._session.processes, self._top)
        return self._both[1]

    @cached_property
    def grouped(self) -> GroupedFiles | None:
        """A row per rank and path, the leading rank first; None without ranks."""
        return None if self._session.joint is None else self._groups.grouped

    @property
    def is_large(self) -> bool:
        """Whether there are so many rows that it takes long to make `table`."""
        rows = sum(int(meta["tables"]["files"].get("rows", 0)) for meta in self._session.meta)
        return rows > MANY_ROWS

    @property
    def has_table(self) -> bool:
        """Whether `table` costs nothing any more."""
        return "table" in self.__dict__ or "_both" in self.__dict__

    def table_and_totals(self) -> tuple[FileTable, FileTotals]:
        """Return both, read together where neither is there."""
        if self._session.joint is None and not self.__dict__.keys() & {"table", "totals"}:
            return self._both
        return self.table, self.totals

    def leading(self) -> tuple[FileTable, FileTotals]:
        """Return both of the leading rank alone; those of all processes without ranks."""
        joint = self._session.joint
        if joint is None:
            return self.table_and_totals()
        if "_groups" in self.__dict__:
            return self._groups.first
        return load_files_and_totals(joint.leading.processes, self._top)

    @cached_property
    def _both(self) -> tuple[FileTable, FileTotals]:
        return load_files_and_totals(self._session.processes, self._top)

    @cached_property
    def _groups(self) -> GroupsFiles:
        joint = self._session.joint
        groups = [] if joint is None else [rank.processes for rank in joint.leading_first]
        return load_groups_files(groups, self._top, with_table=self._with_table)
