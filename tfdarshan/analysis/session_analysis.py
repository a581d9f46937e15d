"""All questions asked of one session at once: what the report shows, and the benchmark times."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from tfdarshan.analysis.activity import Activity, activity_by_thread, overview_bins
from tfdarshan.analysis.bandwidth import bandwidth
from tfdarshan.analysis.checkpoint_bursts import checkpoint_bursts
from tfdarshan.analysis.directory import directories_of, directory_totals, io_time_by_directory
from tfdarshan.analysis.file_sizes import file_sizes
from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.files_tables import load_files_and_totals
from tfdarshan.analysis.io_time import (
    io_time_by_mount,
    io_time_by_operation,
    io_time_by_process,
    io_time_by_thread,
)
from tfdarshan.analysis.latency import latency
from tfdarshan.analysis.metadata_share import MetadataShare, metadata_share
from tfdarshan.analysis.queue_depth import queue_depth
from tfdarshan.analysis.read_passes import read_passes
from tfdarshan.analysis.rereads import Rereads, rereads
from tfdarshan.analysis.segments import Segments, load_segments
from tfdarshan.analysis.step_time import step_time
from tfdarshan.analysis.step_windows import step_windows
from tfdarshan.analysis.storage_share import StorageShare, storage_share
from tfdarshan.analysis.summary_data import SummaryData, summary_of
from tfdarshan.analysis.wall_clock import measure_wall_clock
from tfdarshan.sessions.step_table import step_marks

if TYPE_CHECKING:
    from tfdarshan.sessions.session_data import SessionData

TIME_PARTS = 512
AT_ONCE = 2


@dataclass(frozen=True)
class SessionAnalysis:
    """What each module of this package says of a session; tables as their functions describe them."""

    summary: SummaryData
    files: FileTable
    segments: Segments
    bandwidth: pd.DataFrame
    activity: Activity
    queue_depth: pd.DataFrame
    by_operation: pd.DataFrame
    by_thread: pd.DataFrame
    by_process: pd.DataFrame
    by_mount: pd.DataFrame
    by_directory: pd.DataFrame
    directories: pd.DataFrame
    latency: pd.DataFrame
    file_sizes: pd.DataFrame
    rereads: Rereads
    read_passes: pd.DataFrame
    metadata: MetadataShare
    storage: StorageShare
    steps: pd.DataFrame
    checkpoints: pd.DataFrame


def analyse(session: SessionData, steps: pd.DataFrame | None = None, top: int = 5) -> SessionAnalysis:
    """Answers all questions.

    Args:
        session: The session.
        steps: Its steps as `step_time` takes them; by default those it has.
        top: How many of the slowest and most-read files the summary lists.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    processes = session.processes
    files, totals = load_files_and_totals(processes, top)
    segments = load_segments(processes, files.index)
    summary = summary_of(session, totals, measure_wall_clock(processes, segments))
    windows = step_windows(step_marks(processes))
    bins, folders = overview_bins(processes, TIME_PARTS), directories_of(files)
    # What Arrow read with is not needed again; at ten million calls it is a tenth of the memory.
    pa.default_memory_pool().release_unused()
    # Long tables are sorted with the interpreter's lock released, so two questions can be answered at a time.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = {
            name: pool.submit(question)
            for name, question in {
                "by_directory": lambda: io_time_by_directory(segments, folders),
                "by_thread": lambda: io_time_by_thread(segments),
                "by_operation": lambda: io_time_by_operation(segments),
                "read_passes": lambda: read_passes(segments, files),
                "queue_depth": lambda: queue_depth(segments, bins),
                "by_process": lambda: io_time_by_process(segments),
                "by_mount": lambda: io_time_by_mount(segments, files),
                "latency": lambda: latency(segments),
                "activity": lambda: activity_by_thread(segments, bins),
                "bandwidth": lambda: bandwidth(segments, bins),
                "directories": lambda: directory_totals(files, folders),
                "file_sizes": lambda: file_sizes(files),
                "rereads": lambda: rereads(files),
                "metadata": lambda: metadata_share(segments, summary.wall_clock),
                "storage": lambda: storage_share(summary.coverage),
                "steps": lambda: step_time(session.steps if steps is None else steps, segments),
                "checkpoints": lambda: checkpoint_bursts(segments, files, windows),
            }.items()
        }
        answers: dict[str, Any] = {name: answer.result() for name, answer in asked.items()}
    return SessionAnalysis(summary=summary, files=files, segments=segments, **answers)
