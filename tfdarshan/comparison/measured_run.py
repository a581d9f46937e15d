"""What is compared: one side of a comparison, of one session or of several of the same job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pandas as pd

    from tfdarshan.analysis.files.file_table import FileTable
    from tfdarshan.analysis.summary_data import SummaryData
    from tfdarshan.sessions.process_data import ProcessData
    from tfdarshan.sessions.session_data import SessionData


class Run(Protocol):
    """One session, its tables read when they are asked for: a view's `Source` is one."""

    @property
    def summary(self) -> SummaryData:
        """What `tfdarshan summary` says."""

    @property
    def files(self) -> FileTable:
        """The file table."""

    @property
    def steps(self) -> pd.DataFrame:
        """What `analysis.step_time` says; no rows where no steps were recorded."""

    @property
    def processes(self) -> list[ProcessData]:
        """The processes looked at."""

    @property
    def whole(self) -> SessionData:
        """The session."""


@dataclass(frozen=True)
class Side:
    """One column of a comparison.

    Attributes:
        label: What it is called.
        runs: Sessions of the same job, the newest last; of their figures the medians are compared.
    """

    label: str
    runs: Sequence[Run]

    @property
    def newest(self) -> Run:
        """The session that all that is no figure is taken from."""
        return self.runs[-1]

    @property
    def overlapping(self) -> list[Path]:
        """Sessions that were recording while the newest was, and are not compared."""
        own = [run.whole.path for run in self.runs]
        return [path for path in self.newest.whole.overlapping if path not in own]
