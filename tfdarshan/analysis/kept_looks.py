"""Looks at all calls of a session whose answers are kept beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tfdarshan.analysis.call_kinds import CallGroup
from tfdarshan.analysis.call_unions import UnionPartial
from tfdarshan.analysis.file_costs import FileCosts
from tfdarshan.analysis.file_totals import FileEntry, FileTotals
from tfdarshan.analysis.in_order.held_calls import HeldCalls
from tfdarshan.analysis.in_order.input_look import InputFacts
from tfdarshan.analysis.in_order.pause_calls import PauseCounts, PauseReading
from tfdarshan.analysis.in_order.read_bursts import ReadBursts
from tfdarshan.analysis.in_order.read_judge import ComparedReads, SlowCalls
from tfdarshan.analysis.in_order.read_pieces import ScatteredReads
from tfdarshan.analysis.in_order.stored_calls import StoredCalls
from tfdarshan.analysis.in_order.write_calls import WriteCalls
from tfdarshan.analysis.input_pipeline import InputPipeline
from tfdarshan.analysis.program_calls import ProgramCalls
from tfdarshan.analysis.rank_table import MountFigures, RankFigures, RankTable, SharedReads
from tfdarshan.analysis.reader_count import ReaderCount
from tfdarshan.analysis.reading_times import ReadingTimes
from tfdarshan.analysis.segments import Operation, Segments, Thread
from tfdarshan.sessions.kept_partials import KeptPartials

if TYPE_CHECKING:
    from tfdarshan.sessions.session_data import SessionData

CLASSES = (
    CallGroup, ComparedReads, FileCosts, FileEntry, FileTotals, HeldCalls,
    InputFacts, InputPipeline, MountFigures, Operation, PauseCounts, PauseReading, ProgramCalls,
    RankFigures, RankTable, ReadBursts, ReaderCount, ReadingTimes, ScatteredReads, Segments,
    SharedReads, SlowCalls, StoredCalls, Thread, UnionPartial, WriteCalls,
)  # fmt: skip


def kept_looks(session: SessionData) -> KeptPartials:
    """Gives what is kept of a session."""
    return KeptPartials(Path(session.path), session.processes, {one.__name__: one for one in CLASSES})
