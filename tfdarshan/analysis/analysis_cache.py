"""Looks at all calls of a session whose answers are kept beside it."""

from __future__ import annotations

from pathlib import Path

from tfdarshan.analysis.calls.call_kinds import CallGroup
from tfdarshan.analysis.calls.call_unions import UnionPartial
from tfdarshan.analysis.calls.read_pieces import ScatteredReads
from tfdarshan.analysis.calls.reader_count import ReaderCount
from tfdarshan.analysis.calls.segments import Operation, Segments, Thread
from tfdarshan.analysis.calls.throttled_calls import HeldCalls
from tfdarshan.analysis.calls.write_calls import WriteCalls
from tfdarshan.analysis.files.file_totals import FileEntry, FileTotals
from tfdarshan.analysis.files.program_calls import ProgramCalls
from tfdarshan.analysis.files.reading_times import ReadingTimes
from tfdarshan.analysis.ranks.rank_table import MountFigures, RankFigures, RankTable, SharedReads
from tfdarshan.analysis.steps.input_look import InputFacts
from tfdarshan.analysis.steps.input_pipeline import InputPipeline
from tfdarshan.analysis.steps.read_bursts import ReadBursts
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.analysis.storage.file_costs import FileCosts
from tfdarshan.analysis.storage.outlier_calls import ComparedReads, SlowCalls
from tfdarshan.analysis.storage.stored_calls import StoredCalls
from tfdarshan.sessions.analysis_cache_file import AnalysisCache
from tfdarshan.sessions.session_data import SessionData

CLASSES = (
    CallGroup, ComparedReads, FileCosts, FileEntry, FileTotals, HeldCalls,
    InputFacts, InputPipeline, MountFigures, Operation, ProgramCalls,
    RankFigures, RankTable, ReadBursts, ReaderCount, ReadingTimes, ScatteredReads, Segments,
    SharedReads, SlowCalls, StepWindows, StoredCalls, Thread, UnionPartial, WriteCalls,
)  # fmt: skip


def analysis_cache(session: SessionData) -> AnalysisCache:
    """Return what is kept of a session."""
    return AnalysisCache(Path(session.path), session.processes, {one.__name__: one for one in CLASSES})


def nothing_kept(session: SessionData) -> AnalysisCache:
    """Return what keeps answers in memory alone: of a choice of input or steps that others do not ask for."""
    return AnalysisCache(Path(session.path), (), {})
