"""What views read a session through: each table is read when a view first asks for it, and kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import pandas as pd

from tfdarshan.analysis.calls.file_names import FileNames
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import (
    Segments,
    Thread,
    load_segments,
    segment_blocks,
    stretched,
)
from tfdarshan.analysis.calls.some_segments import load_window
from tfdarshan.analysis.calls.thinned_times import TABLE as THINNED
from tfdarshan.analysis.files.directory import Directories, folders_of
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.input_files import input_files
from tfdarshan.analysis.files.rereads import Rereads, rereads
from tfdarshan.analysis.files.session_files import MANY_ROWS, SessionFiles
from tfdarshan.analysis.measured_session import measure_session
from tfdarshan.analysis.ranks.process_list import NamedProcess, named_processes
from tfdarshan.analysis.ranks.thread_names import ThreadNames
from tfdarshan.analysis.steps.checkpoint_bursts import load_bursts
from tfdarshan.analysis.steps.step_time import step_times
from tfdarshan.analysis.storage.storage_share import storage_by_step
from tfdarshan.analysis.summary_data import SummaryData, emulation_of, summarize
from tfdarshan.analysis.time.activity import ROWS, Activity, activity_of_overview, with_untraced
from tfdarshan.analysis.time.latency import latency_by_windows
from tfdarshan.analysis.time.overview_times import OverviewSums, OverviewTimes, overview_times
from tfdarshan.analysis.time.thinned_activity import thinned_parts
from tfdarshan.analysis.time.untraced import NOT_TOLD_APART, untraced_parts, untraced_sentence
from tfdarshan.analysis.time.untraced import TABLE as UNTRACED
from tfdarshan.checkpoint.ledger import CheckpointRow
from tfdarshan.checkpoint.session_ledger import in_order, session_ledgers
from tfdarshan.partials.serial import SERIAL, Runner
from tfdarshan.reports.figures.time_marks import Band
from tfdarshan.reports.views.epoch_bands import epoch_bands
from tfdarshan.reports.views.process_choice import (
    IDLE_HELPERS,
    chosen_processes,
    rank_words,
    role_words,
    shown_labels,
)
from tfdarshan.reports.views.redaction import (
    Redaction,
    redacted_emulation,
    redacted_files,
    redacted_ledger,
    redacted_summary,
)
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.step_table import fault_times
from tfdarshan.staging.probe import TierProbe

TIME_PARTS = 400
# What rows of whole processes can be of.
OF_PROCESSES = ("process", "role", "rank")
# With more files, the first page does not wait for their table.
MOST_FILES = MANY_ROWS
SUMMARY_FILES = 10
NO_TRACE = "No calls were traced: the session has counters only."


class Source:
    """One session, or one process of it.

    Args:
        session: The session.
        process: What to look at alone: a process's host:pid, `role:` and a role, or `rank:` and a rank's
            number; None for all.
        redaction: Replaces paths; None shows them.
        fast_tier: What the tier for staged files was measured at; None lets the view assume one.
        runner: What reads the calls for times in I/O, durations and steps.
    """

    def __init__(
        self,
        session: SessionData,
        process: str | None = None,
        redaction: Redaction | None = None,
        fast_tier: TierProbe | None = None,
        runner: Runner = SERIAL,
    ) -> None:
        self.runner = runner
        self.whole = session
        self.process = process
        self.redaction = redaction
        self.fast_tier = fast_tier
        self._places = chosen_processes(session, process)
        chosen = [session.processes[place] for place in self._places]
        self.session = session if process is None else SessionData(session.path, chosen, session.problems)
        self.read_files = SessionFiles(self.session, SUMMARY_FILES, with_table=True)

    @property
    def processes(self) -> list[ProcessData]:
        """The processes looked at."""
        return self.session.processes

    @property
    def calls(self) -> int:
        """How many calls were recorded, by the metadata."""
        return sum(int(meta["counts"]["events"]) for meta in self.session.meta)

    @cached_property
    def summary(self) -> SummaryData:
        """What `tfdarshan summary` says."""
        data = summarize(self.session, SUMMARY_FILES, self.runner, self.read_files)
        return data if self.redaction is None else redacted_summary(data, self.redaction)

    @cached_property
    def emulation(self) -> dict[str, Any] | None:
        """The emulated storage, None if there was none; each process of a session has the same."""
        emulation = emulation_of(self.whole.meta[0])
        return emulation if self.redaction is None else redacted_emulation(emulation)

    @cached_property
    def files(self) -> FileTable:
        """The file table."""
        table = self.named_files
        return table if self.redaction is None else redacted_files(table, self.redaction)

    @cached_property
    def rereads(self) -> Rereads:
        """How often the input was read."""
        files = self.named_files
        return rereads(files, input_files(files), measure_session(self.session, files=files).pass_bytes)

    @property
    def named_files(self) -> FileTable:
        """The file table with the files' own names."""
        return self.read_files.table

    @cached_property
    def directories(self) -> Directories:
        """Its folders."""
        return folders_of(self.files.paths)

    def blocks(self) -> Iterator[Segments]:
        """Yield all calls in order of start, with no more than some row groups of each process in memory."""
        return segment_blocks(self.processes, self.files.index)

    def sample_blocks(self) -> Iterator[Segments]:
        """Yield the thinned calls, each as long as the time that it stands for."""
        thinned = load_segments(self.processes, self.files.index, tables=[THINNED])
        return stretched(thinned, self.processes).blocks()

    @cached_property
    def latency(self) -> pd.DataFrame:
        """How long calls took, by kind and size: `latency`."""
        return latency_by_windows(self.processes, self.runner)

    @cached_property
    def bands(self) -> list[Band]:
        """Epochs or parts of the steps."""
        return epoch_bands(self.step_bounds, self.passes)

    @property
    def passes(self) -> float | None:
        """How often the input was read; None where that is unknown, or the files are too many to look."""
        if self.read_files.is_large and not self.read_files.has_table:
            return None
        return self.rereads.passes if self.rereads.size_bytes else None

    @cached_property
    def thread_names(self) -> ThreadNames:
        """What the threads are called in every view."""
        return ThreadNames(self.processes, self.labels)

    @cached_property
    def named(self) -> list[NamedProcess]:
        """What all processes of the session are called, in their order."""
        return named_processes(self.whole.processes)

    @cached_property
    def labels(self) -> list[str]:
        """What the processes looked at are called in every view."""
        labels = shown_labels(self.named, redacted=self.redaction is not None)
        return [labels[place] for place in self._places]

    @cached_property
    def row_names(self) -> dict[str, Callable[[Thread], str]]:
        """What names a thread's row, by what rows are of: a thread, a process, a role or a rank.

        Helpers that read no data share a row, unless helpers alone are looked at.
        """
        named = [self.named[place] for place in self._places]
        idle = [one.hidden and self.process is None for one in named]

        def of_thread(thread: Thread) -> str:
            return IDLE_HELPERS if idle[thread.process] else self.thread_names.of(thread)

        def of_process(thread: Thread) -> str:
            return IDLE_HELPERS if idle[thread.process] else self._process_of(thread)

        return {
            "thread": of_thread,
            "process": of_process,
            "role": lambda thread: role_words(named[thread.process].role.kind),
            "rank": lambda thread: rank_words(named[thread.process], redacted=self.redaction is not None),
        }

    def _process_of(self, thread: Thread) -> str:
        """Name the process of a thread; of an imported log, whose ranks share a table, by its number."""
        if self.processes[thread.process].meta.get("darshan"):
            return f"{thread.host}:{thread.pid}"
        return self.labels[thread.process]

    @property
    def marks(self) -> pd.DataFrame:
        """Where checkpoints began (`start_ns`), to within a bin of the overview: no calls are read for it."""
        return self._times.marks

    @property
    def bandwidth(self) -> pd.DataFrame:
        """Bandwidth over the whole session."""
        return self._times.bandwidth

    @cached_property
    def _times(self) -> OverviewTimes:
        return overview_times(self.processes, TIME_PARTS)

    def activity(self, by: str) -> Activity:
        """Return the activity over the session by "thread", "process", "role", "rank" or "operation"."""
        return self.cached(f"_activity_by_{by}", lambda: self._activity(by))

    def _activity(self, by: str) -> Activity:
        sums = OverviewSums(self.processes, TIME_PARTS)
        later = () if by in OF_PROCESSES else thinned_parts(self.processes)
        found = activity_of_overview(
            self.processes,
            TIME_PARTS,
            most=self.most_rows(by),
            named=self.row_names.get(by),
            beside=sums.add,
            later=later,
        )
        self.cached("_times", sums.times)
        return self.with_untraced(found, by)

    def with_untraced(self, found: Activity, by: str) -> Activity:
        """Return an activity of segments with what other calls did: in rows of processes, or in one row.

        A row of processes has their time, too. Other rows have the time of the calls that are a sample.
        """
        if not self._has_sums:
            return found
        parts = untraced_parts(self.processes, found.bins)
        if by not in OF_PROCESSES:
            rows = [(NOT_TOLD_APART, replace(sums, busy_ns=0 * sums.busy_ns)) for _, sums in parts]
            return with_untraced(found, rows, len(found.names) + 1)
        name, metas = self.row_names[by], self.session.meta
        threads = [Thread(meta["host"], meta["pid"], 0, "", place) for place, meta in enumerate(metas)]
        return with_untraced(found, ((name(threads[place]), sums) for place, sums in parts), ROWS)

    def most_rows(self, by: str) -> int:
        """Return how many rows an activity of segments tells apart, if what other calls did is added."""
        return sys.maxsize if self._has_sums and by in OF_PROCESSES else ROWS

    @property
    def _has_sums(self) -> bool:
        return any(UNTRACED in meta["tables"] for meta in self.session.meta)

    def about_sums(self, what: str) -> str:
        """Say from when on `what` is a sum over all calls, as `untraced_sentence` does."""
        return untraced_sentence(self.session.meta, what)

    @property
    def traced(self) -> bool:
        """Whether single calls were kept; so they were where there were none."""
        return any(meta["counts"]["segments"] for meta in self.session.meta) or self.calls == 0

    @property
    def timed(self) -> bool:
        """Whether it is known when calls ran, each or as sums; so it is where there were none."""
        return bool(self.bandwidth["calls"].any()) or self.calls == 0

    @cached_property
    def step_bounds(self) -> pd.DataFrame:
        """When each step was and what it waited for; its I/O is left at 0, for no calls are read for it."""
        known = "steps" in self.whole.__dict__
        return step_times(self.whole.steps if known else self.whole.step_bounds)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """What each step did; no rows where no steps were recorded."""
        return step_times(self.whole.steps)

    @cached_property
    def step_storage(self) -> pd.DataFrame:
        """What of each step's reads came from storage, by its place in `steps`; only steps that know."""
        return storage_by_step(self.whole.steps.reset_index(drop=True))

    @property
    def faults_ns(self) -> tuple[Array, Array]:
        """When page faults on mapped files began and ended, as far as they were kept one by one."""
        return fault_times(self.processes)

    @cached_property
    def bursts(self) -> pd.DataFrame:
        """Checkpoint bursts."""
        return load_bursts(self.processes, self._names())

    @cached_property
    def ledgers(self) -> list[list[CheckpointRow]]:
        """The burst buffer's checkpoints, of each process that saved any."""
        ledgers, redaction = session_ledgers(self.processes), self.redaction
        return ledgers if redaction is None else [redacted_ledger(rows, redaction) for rows in ledgers]

    @property
    def ledger(self) -> list[CheckpointRow]:
        """The burst buffer's checkpoints, of all processes."""
        return in_order(row for rows in self.ledgers for row in rows)

    def window(self, window_ns: tuple[int, int]) -> tuple[Segments, Segments, FileNames]:
        """Return `load_window` of the calls that were running between two moments, and their files.

        No more than their row groups are read, and the paths only when they are asked for.
        """
        names = self._names()
        return (*load_window(self.processes, window_ns, names), names)

    def _names(self) -> FileNames:
        return FileNames() if self.redaction is None else FileNames(self.redaction.path)

    def cached(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what `make` made when it was first asked for under a name."""
        if name not in self.__dict__:
            self.__dict__[name] = make()
        return self.__dict__[name]
