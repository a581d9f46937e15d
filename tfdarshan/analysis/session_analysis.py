"""All questions asked of one session at once, in bounded memory; the benchmark times it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from tfdarshan.analysis.activity import PARTS, overview_bins
from tfdarshan.analysis.call_answers import CallAnswers, call_answers
from tfdarshan.analysis.checkpoint_bursts import load_bursts
from tfdarshan.analysis.directory import directories_of, directory_totals
from tfdarshan.analysis.file_names import FileNames
from tfdarshan.analysis.file_sizes import file_sizes
from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.rank_table import rank_table
from tfdarshan.analysis.read_passes import read_passes
from tfdarshan.analysis.rereads import Rereads, rereads
from tfdarshan.analysis.segments import segment_blocks
from tfdarshan.analysis.session_files import SessionFiles
from tfdarshan.analysis.step_time import step_times_of
from tfdarshan.analysis.storage_share import StorageShare, storage_share
from tfdarshan.analysis.summary_data import SummaryData, summary_of
from tfdarshan.partials.serial import SERIAL, Runner

if TYPE_CHECKING:
    from tfdarshan.sessions.session_data import SessionData

TIME_PARTS = PARTS


@dataclass(frozen=True)
class SessionAnalysis:
    """What each module of this package says of a session; tables as their functions describe them."""

    summary: SummaryData
    files: FileTable
    calls: CallAnswers
    directories: pd.DataFrame
    file_sizes: pd.DataFrame
    rereads: Rereads
    read_passes: pd.DataFrame
    storage: StorageShare
    steps: pd.DataFrame
    checkpoints: pd.DataFrame


def analyse(
    session: SessionData, steps: pd.DataFrame | None = None, top: int = 5, runner: Runner = SERIAL
) -> SessionAnalysis:
    """Answers all questions.

    Args:
        session: The session.
        steps: Its steps as `step_time` takes them; by default those it has.
        top: How many of the slowest and most-read files the summary lists.
        runner: What reads the calls.

    Raises:
        SessionDataError: A table is damaged or missing, or ends each process that reads it.
    """
    processes = session.processes
    found = SessionFiles(session, top, with_table=True)
    files, totals = found.table_and_totals()
    calls = call_answers(processes, overview_bins(processes, TIME_PARTS), runner)
    summary = summary_of(session, totals, calls.clock, rank_table(session, found.grouped))
    return SessionAnalysis(
        summary=summary,
        files=files,
        calls=calls,
        directories=directory_totals(files, directories_of(files)),
        file_sizes=file_sizes(files),
        rereads=rereads(files),
        read_passes=read_passes(partial(segment_blocks, processes, files.index), files),
        storage=storage_share(summary.coverage),
        steps=step_times_of(session.steps if steps is None else steps, processes, runner),
        checkpoints=load_bursts(processes, FileNames()),
    )
