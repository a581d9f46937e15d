"""What findings read: measured once from a session, as columns and sums over them."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND, NO_CALLS, CallGroup
from tfdarshan.analysis.calls.depth_phases import DepthPhases, depth_phases
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import READ, Segments
from tfdarshan.analysis.calls.trace_span import DroppedEvents
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.input_figures import InputFigures
from tfdarshan.analysis.measured_session import MeasuredSession
from tfdarshan.analysis.ranks.rank_table import RankTable
from tfdarshan.analysis.steps.epoch_waits import EpochWaits, epoch_waits
from tfdarshan.analysis.steps.input_look import InputFacts
from tfdarshan.analysis.steps.input_pipeline import InputPipeline, input_calls, loop_of
from tfdarshan.analysis.steps.loader_waits import LoaderWaits, loader_waits
from tfdarshan.analysis.steps.mapped_waits import MappedWaits, mapped_waits
from tfdarshan.analysis.steps.output_calls import OutputCalls, output_calls
from tfdarshan.analysis.steps.step_model import StepModel
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.analysis.storage.file_costs import FileCosts
from tfdarshan.analysis.storage.outlier_calls import ComparedReads, SlowCalls, compared_reads, slow_calls
from tfdarshan.analysis.storage.time_model import TimeModel, fit_time_model
from tfdarshan.analysis.summary_data import SummaryData
from tfdarshan.findings.capture_mode import CaptureMode, is_python
from tfdarshan.findings.finding import Unknown
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import Pipeline
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.job_facts import may_hide
from tfdarshan.replay.session_model import session_model
from tfdarshan.sessions.analysis_cache_file import AnalysisCache
from tfdarshan.sessions.machine_facts import Machine
from tfdarshan.sessions.process_role import WORKER
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.run_facts import RunFacts, put_together
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_seconds, plural


@dataclass(frozen=True)
class Measures:
    """One session, measured. Sums are over all units of `model`.

    Attributes:
        measured: The session.
        summary: What `tfdarshan summary` says.
        files: One row per path, by the names that are shown.
        model: The time model, with what TensorFlow's trace says of the device.
        machine: Where it ran.
        imported: Whether the session is a Darshan log.
        dropped_events: Calls that a bound of the trace left without a segment.
        pipelines: The tf.data pipelines that the job iterated; None where nobody looked for any.
        versions: The libraries that the job had loaded, with their versions.
        ranks: Of a job of several ranks all of them; what else is measured is then of the leading one.
        shown_path: What mapped files and probed folders are called; None: by their names.
        named: The same by their names; None if this is it.
    """

    measured: MeasuredSession
    summary: SummaryData
    files: FileTable
    model: StepModel
    machine: Machine
    imported: bool
    dropped_events: DroppedEvents
    pipelines: tuple[Pipeline, ...] | None
    versions: Mapping[str, str]
    ranks: RankTable | None = None
    shown_path: Callable[[str], str] | None = None
    named: Measures | None = None

    @cached_property
    def job(self) -> ModelledJob:
        """The replay model of the job, calibrated; by its counters if the session has no calls."""
        return session_model(self.measured) if self.named is None else self.named.job

    @property
    def session(self) -> SessionData:
        """The session; of a job of several ranks the leading one's."""
        return self.measured.session

    @property
    def figures(self) -> InputFigures:
        """The session's input."""
        return self.measured.figures

    @property
    def facts(self) -> InputFacts:
        """What one look at all calls gave."""
        return self.measured.facts

    @property
    def kept(self) -> AnalysisCache:
        """What this and other looks gave, for the next reader."""
        return self.measured.kept

    @property
    def is_input(self) -> Array:
        """Which rows of `files` are input, bool."""
        return self.measured.is_input

    @property
    def windows(self) -> StepWindows | None:
        """The steps, None if there are none."""
        return self.measured.windows

    @property
    def pipeline(self) -> InputPipeline:
        """The calls on input files within the steps."""
        return self.figures.pipeline

    @property
    def costs(self) -> FileCosts:
        """What the pipeline's calls cost, file by file."""
        return self.figures.costs

    @property
    def hidden(self) -> bool:
        """Whether an accelerator may have computed while the loop waited: waits are upper bounds then."""
        return may_hide(self.session.meta[0], self.windows)

    def may_use(self, package: str) -> bool:
        """Say whether the job has loaded a package, or nobody has noted what it has loaded."""
        return package in self.versions or self.imported or not self.versions

    @property
    def traced(self) -> bool:
        """Whether calls have segments: what single calls took is known."""
        return self.facts.calls > 0

    @property
    def kinds_known(self) -> bool:
        """Whether the times of opens, stats and empty reads are told apart; a log has those of reads only."""
        return self.traced and not self.imported

    @property
    def writes_known(self) -> bool:
        """Whether single writes are known: of a job that makes too many of them only their sum is."""
        return self.kinds_known and not self.facts.writes.too_many

    @property
    def writes(self) -> Segments:
        """Writes and syncs, in order of start."""
        return self.facts.writes.segments

    def calls_again(self, kind: str) -> Iterator[Segments]:
        """Yield calls of a kind on input within the steps, block by block, in order of start."""
        for block in self.measured.calls.blocks():
            places, kinds = input_calls(block, self.is_input, self.windows)
            yield block.where(places[kinds == KIND[kind]])

    def slow_reads(self, times: float) -> SlowCalls:
        """Return the reads that took so many times as long as they usually do."""
        model, files = self.read_cost, len(self.files)
        return self.kept.get("slow reads", lambda: slow_calls(self.calls_again("read"), model, files, times))

    def slow_opens(self, times: float) -> SlowCalls:
        """Return the opens that took so many times as long as they usually do."""
        costs, files = self.costs, len(self.files)
        opened = costs.opens > 0
        usual_s = float(np.median(costs.open_s[opened] / costs.opens[opened])) if opened.any() else 0.0
        model = TimeModel(usual_s, 0.0, files, 1.0)
        return self.kept.get("slow opens", lambda: slow_calls(self.calls_again("open"), model, files, times))

    def compared_reads(self, files: Array) -> ComparedReads:
        """Compare the reads of some files, a mask over rows of the file table, with those of the others."""
        model, name = self.read_cost, f"compared_and_stored_reads,{digest_of(files)}"
        return self.kept.get(name, lambda: compared_reads(self.calls_again("read"), model, files))

    def read_by_readers(self, files: Array, span_ns: tuple[int, int]) -> Array:
        """Return the bytes that the loop, or a reader of the input, reads of some files within the steps.

        Args:
            files: Which rows of the file table, a mask.
            span_ns: From the first step's start to the last one's end.
        """
        name = f"read_by_readers,{digest_of(files)}"
        return self.kept.get(name, lambda: self._read_by_readers(files, span_ns))

    def _read_by_readers(self, files: Array, span_ns: tuple[int, int]) -> Array:
        again = np.zeros(len(files))
        for block in self.measured.calls.within(span_ns):
            known = [self.measured.is_loop(one) or one in self.facts.readers for one in block.threads]
            reads = block.where(slice(*np.searchsorted(block.start_ns, span_ns).tolist()))
            reads = reads.where((reads.io_class == READ) & files[reads.file] & np.array(known)[reads.thread])
            again += np.bincount(reads.file, reads.length, minlength=len(files))
        return again

    @cached_property
    def validation_files(self) -> Array:
        """Rows of files that are read in pauses between steps alone, as a validation set is."""
        validating = self.job.facts.validating
        return np.zeros(0, np.int64) if validating is None else np.flatnonzero(validating)

    @property
    def loop(self) -> str:
        """What the process's first thread is called: nothing says that a job without steps trains."""
        return "the main thread" if self.windows is None else "the training loop"

    @property
    def why_no_wait(self) -> str:
        """Why it is not known what steps waited for."""
        if self.windows is not None:
            return "the steps do not say how long they waited"
        return self.recorded.why_no_step

    @property
    def too_short(self) -> str:
        """Say in words why the session is too short to judge by; "" if it is not."""
        model, seconds = self.model, self.model.all_s
        if self.imported:
            return ""
        if self.windows is not None and model.units < THRESHOLD["steps"]:
            return f"{plural(model.units, 'step')} in {human_seconds(seconds)}"
        if seconds >= THRESHOLD["seconds"]:
            return ""
        took = human_seconds(seconds)
        return f"{took} were recorded" if self.windows is None else f"all steps together took {took}"

    @cached_property
    def recorded(self) -> CaptureMode:
        """How it was recorded, in whose words to say what to record instead."""
        owner = self.session.meta[0]
        started_by = "darshan" if self.imported else owner.get("started_by", "")
        return CaptureMode(
            started_by,
            owner.get("options") or {},
            "tensorflow" in self.versions,
            is_python(self.summary.command),
            "loaders" not in owner
            and any((meta.get("role") or {}).get("kind") == WORKER for meta in self.session.meta),
        )

    def untraced(self, name: str, what: str) -> Unknown:
        """Return what is to be said of a finding that needs the trace of single calls where there is none."""
        if not self.imported and not self.summary.calls:
            return Unknown(name, f"{what}: no call was recorded")
        if not self.imported and self.dropped_events.dropped_calls:
            return Unknown(name, f"{what}: no call found room in the trace")
        if not self.imported:
            return Unknown(name, f"{what}: there is no trace of single calls", self.recorded.to_keep_calls)
        why = "does not tell kinds of calls apart" if self.traced else "has no single calls"
        return Unknown(name, f"{what}: the log {why}", self.recorded.to_see_more)

    def group(self, *kinds: str) -> CallGroup:
        """Return calls of some kinds together."""
        return sum((self.figures.calls.get(kind, NO_CALLS) for kind in kinds), start=NO_CALLS)

    @cached_property
    def read_cost(self) -> TimeModel:
        """What a read of data takes: a time of its own, and a time per byte."""
        length, taken_ns = self.facts.sizes_and_times
        return fit_time_model(length, taken_ns / 1e9)

    @cached_property
    def epoch_waits(self) -> EpochWaits | None:
        """What the first epoch waited, and what later ones did; None of one epoch, or where it is unknown."""
        return epoch_waits(self.windows, self.facts.stored.first_pass_ends_ns)

    @cached_property
    def loader_waits(self) -> LoaderWaits | None:
        """What the loop waited for at its loader; None if no batch of a worker is known."""
        return loader_waits(self.session.processes)

    @cached_property
    def mapped(self) -> MappedWaits:
        """What was waited for in page faults on mapped data files, by single faults."""
        found = mapped_waits(self.session.processes, self.windows, self.measured.is_loop)
        if self.shown_path is not None:
            found.files = [dataclasses.replace(one, path=self.shown_path(one.path)) for one in found.files]
        return found

    @cached_property
    def waits_in_faults(self) -> bool:
        """Whether the input is waited for in page faults on mapped files, rather than in calls."""
        return bool(self.mapped.files) and self.mapped.wait_s > self.input_calls.thread_s

    @cached_property
    def phases(self) -> DepthPhases | None:
        """Phases with few and with many of the reads that storage served under way, None without both."""
        return depth_phases(self.facts.stored.stretches)

    @cached_property
    def use_and_facts(self) -> tuple[FileUse, RunFacts]:
        """What staging goes by: the use of each file, and the run as a whole."""
        return put_together([self.measured])

    @cached_property
    def sizes(self) -> Array:
        """The files' sizes in bytes, -1 if unknown."""
        return self.files.rows["size_bytes"].to_numpy()

    @property
    def unique_bytes(self) -> float:
        """Bytes of the input that was read, each byte once."""
        return float(self.figures.rereads.unique_bytes)

    @property
    def passes(self) -> float:
        """How often each byte of the input was read, mean, at least once."""
        return max(1.0, self.figures.rereads.passes)

    @property
    def at_least(self) -> str:
        """What to say before `passes`: which parts of files were read may be unknown."""
        return "" if self.figures.rereads.placed else "at least "

    @cached_property
    def pass_bytes(self) -> Array:
        """What a pass over each file moves: its size where no call tells more, -1 if that is unknown, too."""
        found, sizes = self.figures.pass_bytes, self.sizes
        if found is None:
            return sizes
        part = np.where(sizes > 0, np.minimum(found, sizes), found)
        return np.where(found > 0, part, sizes)

    @cached_property
    def slow_share(self) -> float:
        """Share of the reads' time that the page cache cannot have served."""
        whole = float(self.costs.read_s.sum())
        return float(self.costs.slow_s.sum()) / whole if whole > 0 else 0.0

    @cached_property
    def output(self) -> OutputCalls:
        """The job's writes."""
        return output_calls(self.writes, self.windows, loop_of(self.writes, self.measured.is_loop))

    def paths_of(self, rows: Array) -> tuple[str, ...]:
        """Return the paths of some rows of the file table, of the first five at most."""
        return tuple(str(path) for path in self.files.rows["path"].iloc[rows[:5].tolist()])

    @cached_property
    def input_calls(self) -> CallGroup:
        """All calls on input files."""
        return self.group(*self.figures.calls)


def digest_of(*arrays: Array) -> str:
    """Return what tells a question about some stretches or files from another one of the same name."""
    return f"{zlib.crc32(b''.join(np.ascontiguousarray(values).tobytes() for values in arrays)):08x}"
