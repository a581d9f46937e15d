"""What findings read: measured once from a session, as columns and sums over them."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfdarshan.analysis.allowance import Allowance, allowance_of
from tfdarshan.analysis.call_kinds import KIND, NO_CALLS, CallGroup
from tfdarshan.analysis.contention import Contention, contention_of
from tfdarshan.analysis.depth_phases import CallSpan, DepthPhases, depth_phases
from tfdarshan.analysis.directory import directories_of
from tfdarshan.analysis.epoch_waits import HARDLY, EpochWaits, epoch_waits
from tfdarshan.analysis.file_costs import FileCosts
from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.first_pass import waited_after_s
from tfdarshan.analysis.in_order.input_look import InputFacts
from tfdarshan.analysis.in_order.pause_calls import PauseReading
from tfdarshan.analysis.in_order.read_judge import ComparedReads, SlowCalls, compared_reads, slow_calls
from tfdarshan.analysis.in_order.session_calls import SessionCalls
from tfdarshan.analysis.input_figures import InputFigures, loop_thread
from tfdarshan.analysis.input_pipeline import InputPipeline, input_calls
from tfdarshan.analysis.intervals import Array, covered
from tfdarshan.analysis.mapped_waits import MappedWaits, mapped_waits
from tfdarshan.analysis.output_calls import OutputCalls, output_calls
from tfdarshan.analysis.rank_table import RankTable
from tfdarshan.analysis.segments import READ, WRITE, Segments, Thread
from tfdarshan.analysis.step_model import StepModel, most_of_a_run_s, noise_s
from tfdarshan.analysis.step_windows import StepWindows
from tfdarshan.analysis.storage_passes import from_storage
from tfdarshan.analysis.summary_data import SummaryData
from tfdarshan.analysis.taking_turns import TakingTurns, taking_turns
from tfdarshan.analysis.tf_data_pipeline import Pipeline
from tfdarshan.analysis.time_model import TimeModel, fit_time_model
from tfdarshan.findings.finding import Assumption, Gain, Unknown
from tfdarshan.findings.model_assumptions import (
    made_up_for,
    readers_share,
    stands_still,
    waits_for_input,
)
from tfdarshan.findings.processor_waits import AS_SLOW, AS_SLOW_ALONE, MOSTLY, others_fill, waited_share
from tfdarshan.findings.trace_room import TraceRoom
from tfdarshan.findings.way_of_recording import WayOfRecording, is_python
from tfdarshan.recording.job_machine import Machine
from tfdarshan.sessions.kept_partials import KeptPartials
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.run_facts import Run, RunFacts, put_together
from tfdarshan.storage_probe.probe_result import StorageProbe
from tfdarshan.storage_probe.session_probes import main_mount, probe_kept
from tfdarshan.units import human_seconds, plural

if TYPE_CHECKING:
    pass

# A finding that costs a smaller share of the time is none.
LEAST_SHARE = 0.02
# Where the page cache serves the input, its calls are the processors' work: other load makes them longer.
LEAST_CACHED_SHARE = 0.05
CACHED = 0.1
# An input that was read so many times has later epochs.
SEVERAL = 1.5
# A session of fewer steps, or that is shorter, says nothing about the next one.
LEAST_STEPS, LEAST_S = 5, 0.1
# What of the first batch's wait no cure shortens: lower bound, expectation, upper bound of the gain.
FIRST_WAIT = (1.0, 0.5, 0.0)
# What the pipeline did beside a stall may have been more than its calls show.
SURELY_BESIDE = 1.25
# Of the time that a limit takes for what is read so much is certain.
SURELY_LIMITED = 0.9
# Where so large a share of the steps find their batch ready, the pipeline waits for them: it may be as quick
# as its calls alone, which is expected by half.
AHEAD, AS_QUICK = 0.9, 0.5


@dataclass(frozen=True)
class Measures:
    """One session, measured. Sums are over all units of `model`.

    Attributes:
        summary: What `tfdarshan summary` says.
        files: One row per path, by the names that are shown.
        figures: The session's input.
        run: The session as staging asks it.
        session_calls: All calls that have a segment, to be looked at again.
        facts: What one look at them gave.
        kept: What this and other looks gave, for the next reader.
        model: The time model, with what TensorFlow's trace says of the device.
        machine: Where it ran.
        is_loop: Says which thread runs the training loop.
        imported: Whether the session is a Darshan log.
        trace_room: Calls that a bound of the trace left without a segment.
        pipelines: The tf.data pipelines that the job iterated; None where nobody looked for any.
        versions: The libraries that the job had loaded, with their versions.
        ranks: Of a job of several ranks all of them; what else is measured is then of the leading one.
        shown_path: What mapped files and probed folders are called; None: by their names.
    """

    summary: SummaryData
    files: FileTable
    figures: InputFigures
    run: Run
    session_calls: SessionCalls
    facts: InputFacts
    kept: KeptPartials
    model: StepModel
    machine: Machine
    is_loop: Callable[[Thread], bool]
    imported: bool
    trace_room: TraceRoom
    pipelines: tuple[Pipeline, ...] | None
    versions: Mapping[str, str]
    ranks: RankTable | None = None
    shown_path: Callable[[str], str] | None = None

    @property
    def is_input(self) -> Array:
        """Which rows of `files` are input, bool."""
        return self.figures.is_input

    @property
    def windows(self) -> StepWindows | None:
        """The steps, None if there are none."""
        return self.figures.windows

    @property
    def pipeline(self) -> InputPipeline:
        """The calls on input files within the steps."""
        return self.figures.pipeline

    @property
    def calls(self) -> dict[str, CallGroup]:
        """These by kind."""
        return self.figures.calls

    @property
    def costs(self) -> FileCosts:
        """What the pipeline's calls cost, file by file."""
        return self.figures.costs

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

    @cached_property
    def loop_thread(self) -> int | None:
        """The thread that runs the training loop, an index into `writes.threads`."""
        threads = self.writes.threads
        return next((place for place, found in enumerate(threads) if self.is_loop(found)), None)

    def calls_again(self, kind: str) -> Iterator[Segments]:
        """Yields calls of a kind on input within the steps, block by block, in order of start."""
        return self._input_again(self.session_calls.blocks(), KIND[kind])

    def input_within(self, start_ns: Array, end_ns: Array) -> Iterator[Segments]:
        """Yields calls on input within the steps, at least those within some stretches of time."""
        return self._input_again(self.session_calls.within(start_ns, end_ns))

    def slow_reads(self, times: float) -> SlowCalls:
        """Gives the reads that took so many times as long as they usually do."""
        model, files = self.read_cost, len(self.files)
        return self.kept.get("slow reads", lambda: slow_calls(self.calls_again("read"), model, files, times))

    def slow_opens(self, times: float) -> SlowCalls:
        """Gives the opens that took so many times as long as they usually do."""
        costs, files = self.costs, len(self.files)
        opened = costs.opens > 0
        usual_s = float(np.median(costs.open_s[opened] / costs.opens[opened])) if opened.any() else 0.0
        model = TimeModel(usual_s, 0.0, files, 1.0, 0.0)
        return self.kept.get("slow opens", lambda: slow_calls(self.calls_again("open"), model, files, times))

    def compared_reads(self, files: Array) -> ComparedReads:
        """Compares the reads of some files, a mask over rows of the file table, with those of the others."""
        model, name = self.read_cost, f"compared_and_stored_reads,{digest_of(files)}"
        return self.kept.get(name, lambda: compared_reads(self.calls_again("read"), model, files))

    def read_by_readers(self, files: Array, span_ns: tuple[int, int]) -> Array:
        """Gives the bytes that the loop, or a reader of the input, reads of some files within the steps.

        Args:
            files: Which rows of the file table, a mask.
            span_ns: From the first step's start to the last one's end.
        """
        name = f"read_by_readers,{digest_of(files)}"
        return self.kept.get(name, lambda: self._read_by_readers(files, span_ns))

    def _read_by_readers(self, files: Array, span_ns: tuple[int, int]) -> Array:
        again = np.zeros(len(files))
        for block in self.session_calls.within(*(np.array([moment]) for moment in span_ns)):
            known = [self.is_loop(one) or one in self.facts.readers for one in block.threads]
            reads = block.where(slice(*np.searchsorted(block.start_ns, span_ns).tolist()))
            reads = reads.where((reads.io_class == READ) & files[reads.file] & np.array(known)[reads.thread])
            again += np.bincount(reads.file, reads.length, minlength=len(files))
        return again

    @property
    def pauses(self) -> PauseReading | None:
        """What is read in pauses between steps alone; None if that is nothing, or too few calls."""
        return self.run.pauses

    def _input_again(self, blocks: Iterable[Segments], kind: int | None = None) -> Iterator[Segments]:
        for block in blocks:
            places, kinds = input_calls(block, self.is_input, self.windows)
            yield block.where(places if kind is None else places[kinds == kind])

    @property
    def loop(self) -> str:
        """What the process's first thread is called: nothing says that a job without steps trains."""
        return "the main thread" if self.windows is None else "the training loop"

    @property
    def why_no_wait(self) -> str:
        """Why it is not known what steps waited for."""
        return "no step was recorded" if self.windows is None else "the steps do not say what they waited"

    @property
    def too_short(self) -> str:
        """Says in words why the session is too short to judge by; "" if it is not."""
        model, seconds = self.model, self.model.all_s
        if self.imported:
            return ""
        if self.windows is not None and model.units < LEAST_STEPS:
            return f"{plural(model.units, 'step')} in {human_seconds(seconds)}"
        if seconds >= LEAST_S:
            return ""
        took = human_seconds(seconds)
        return f"{took} were recorded" if self.windows is None else f"all steps together took {took}"

    @cached_property
    def recorded(self) -> WayOfRecording:
        """How it was recorded, in whose words to say what to record instead."""
        owner = self.run.session.meta[0]
        started_by = "darshan" if self.imported else owner.get("started_by", "")
        return WayOfRecording(
            started_by,
            owner.get("options") or {},
            "tensorflow" in self.versions,
            is_python(self.summary.command),
        )

    def untraced(self, name: str, what: str) -> Unknown:
        """Gives what is to be said of a finding that needs the trace of single calls where there is none."""
        if not self.imported and not self.summary.calls:
            return Unknown(name, f"{what}: no call was recorded")
        if not self.imported and self.trace_room.dropped_calls:
            return Unknown(name, f"{what}: no call found room in the trace")
        if not self.imported:
            return Unknown(name, f"{what}: there is no trace of single calls", self.recorded.to_keep_calls)
        why = "does not tell kinds of calls apart" if self.traced else "has no single calls"
        return Unknown(name, f"{what}: the log {why}", self.recorded.to_see_more)

    def group(self, *kinds: str) -> CallGroup:
        """Gives calls of some kinds together."""
        return sum((self.calls.get(kind, NO_CALLS) for kind in kinds), start=NO_CALLS)

    @cached_property
    def read_cost(self) -> TimeModel:
        """What a read of data takes: a time of its own, and a time per byte."""
        length, taken_ns = self.facts.sizes_and_times
        return fit_time_model(length, taken_ns / 1e9)

    @cached_property
    def contention(self) -> Contention | None:
        """What of a call storage serves one at a time; None where the session does not show it."""
        stored = self.facts.stored
        # What memory serves later, as many as ask, says nothing of storage.
        return contention_of(stored.first_stretches if self.later_epochs_hardly_wait else stored.stretches)

    @cached_property
    def allowance(self) -> Allowance | None:
        """Storage that gives so much in each interval; None where the session does not show that."""
        writes, costs = self.writes, self.costs
        writing = covered(writes.start_ns, writes.end_ns)
        folder_of = directories_of(self.files).of_file
        return allowance_of(self.facts.held, costs.opens + costs.reads, folder_of, writing)

    @cached_property
    def limited_s(self) -> float:
        """What of a unit a limit takes for what storage gives, however quick all else is; 0 without one."""
        stored = self.figures.stored_bytes
        if self.allowance is None or stored is None or self.allowance.bytes_per_s <= 0:
            return 0.0
        read_bytes = min(stored, float(self.costs.read_bytes.sum()))
        return read_bytes / self.allowance.bytes_per_s / self.model.units

    @cached_property
    def turns(self) -> TakingTurns | None:
        """How calls on input and writes to its storage hold each other up; None if nothing shows that."""
        writes, mount = self.writes, main_mount(self.files, self.costs.call_s)
        same = (self.files.rows["mount_point"].astype(str) == mount).to_numpy(bool) & (mount != "")
        chosen = (writes.io_class == WRITE) & same[writes.file]
        columns = writes.start_ns[chosen], writes.end_ns[chosen], writes.length[chosen]
        return taking_turns(self.facts.stored.stretches, columns)

    @cached_property
    def later_wait_s(self) -> float | None:
        """What all steps waited after the input had been read through once; None where that is not known."""
        through_ns = self.facts.stored.first_pass_ends_ns
        return (
            None if through_ns is None or self.windows is None else waited_after_s(self.windows, through_ns)
        )

    @cached_property
    def epoch_waits(self) -> EpochWaits | None:
        """What the first epoch waited, and what later ones did; None of one epoch, or where it is unknown."""
        return epoch_waits(self.windows, self.facts.stored.first_pass_ends_ns)

    @property
    def later_epochs_hardly_wait(self) -> bool:
        """Whether memory served later epochs, as far as their steps waited."""
        later_s, waited_s = self.later_wait_s, self.model.most_wait_s * self.model.units
        return later_s is not None and later_s <= HARDLY * waited_s

    @cached_property
    def probe(self) -> StorageProbe | None:
        """What was measured of the storage under most of the input by itself, None if nothing was."""
        return probe_kept(self.run.session.meta[0], main_mount(self.files, self.costs.call_s))

    @cached_property
    def mapped(self) -> MappedWaits:
        """What was waited for in page faults on mapped data files, by single faults."""
        processes = self.run.session.processes
        found = mapped_waits(processes, self.windows, loop_thread(processes[0]))
        if self.shown_path is not None:
            found.files = [dataclasses.replace(one, path=self.shown_path(one.path)) for one in found.files]
        return found

    @cached_property
    def waits_for_processors(self) -> bool:
        """Whether calls mostly wait for processors that other programs have."""
        through_ns = self.facts.stored.first_pass_ends_ns
        # A limit that holds calls back makes them as long.
        if not self.kinds_known or through_ns is None or self.allowance is not None:
            return False
        if not others_fill(self.machine, self.summary.duration_s):
            return False
        blocks = self.session_calls.blocks
        share = self.kept.get("turns", lambda: waited_share(self._input_again(blocks()), through_ns))
        return share >= MOSTLY

    @property
    def overlap(self) -> float:
        """How much the pipeline works beside compute as against in the waits, 0 to 1.

        It is that of its calls, or of its page faults on mapped files if it spends more time in these.
        """
        found, model = self.mapped, self.model
        faults_s = (found.beside_s - found.own_s) / found.readers / model.units
        return found.overlap if faults_s > model.storage_s else model.overlap

    @cached_property
    def mapped_probe(self) -> StorageProbe | None:
        """What was measured of the storage under the mapped file that was waited for longest."""
        files = self.mapped.files
        probe = probe_kept(self.run.session.meta[0], files[0].mount_point) if files else None
        if probe is None or self.shown_path is None:
            return probe
        return dataclasses.replace(probe, folder=self.shown_path(probe.folder), host=self.summary.host)

    @cached_property
    def phases(self) -> DepthPhases | None:
        """Phases with few and with many of the reads that storage served under way, None without both."""
        stored = self.facts.stored
        taken_ns = np.maximum(stored.sizes_and_times[1], 1)
        usual_ns = float(np.median(taken_ns)) if len(taken_ns) else 0.0
        span = CallSpan(stored.reads, stored.first_ns, stored.last_ns, stored.read_ns, usual_ns)
        return self.kept.get(
            "phases", lambda: depth_phases(span, map(_from_storage, self.calls_again("read")))
        )

    @cached_property
    def use_and_facts(self) -> tuple[FileUse, RunFacts]:
        """What staging goes by: the use of each file, and the run as a whole."""
        return put_together([self.run])

    @cached_property
    def sizes(self) -> Array:
        """The files' sizes in bytes, -1 if unknown."""
        sizes: Array = self.files.rows["size_bytes"].to_numpy()
        return sizes

    @property
    def unique_bytes(self) -> float:
        """Bytes of the input that was read, each byte once."""
        return float(self.figures.rereads.unique_bytes)

    @property
    def passes(self) -> float:
        """How often each byte of the input was read, mean, at least once."""
        return max(1.0, self.figures.rereads.passes)

    @cached_property
    def slow_share(self) -> float:
        """Share of the reads' time that the page cache cannot have served."""
        whole = float(self.costs.read_s.sum())
        return float(self.costs.slow_s.sum()) / whole if whole > 0 else 0.0

    @property
    def least_share(self) -> float:
        """The share of the time from which on calls on input are worth a finding."""
        return LEAST_SHARE if self.slow_share > CACHED else LEAST_CACHED_SHARE

    @cached_property
    def streamed_share(self) -> float:
        """Share of the bytes that are read in large parts, in order."""
        return self.facts.pieces.streamed_share

    @cached_property
    def output(self) -> OutputCalls:
        """The job's writes."""
        return output_calls(self.writes, self.windows, self.loop_thread)

    def paths_of(self, rows: Array, most: int = 5) -> tuple[str, ...]:
        """Gives the paths of some rows of the file table."""
        return tuple(str(path) for path in self.files.rows["path"].iloc[rows[:most].tolist()])

    def seconds(self, calls: CallGroup) -> float:
        """Gives what a unit's pipeline, and its loop, spend in calls."""
        return self.pipeline_s(calls.beside_s) + calls.within_s / self.model.units

    @cached_property
    def input_calls(self) -> CallGroup:
        """All calls on input files."""
        return self.group(*self.calls)

    def pipeline_s(self, thread_s: float) -> float:
        """Gives what so much time in the pipeline's calls is of P: seconds of a unit."""
        return thread_s / self.at_a_time / self.model.units

    @property
    def at_a_time(self) -> float:
        """Calls that time in calls is divided by: the readers.

        Where storage holds calls back it is those under way: it is as slow for a few as for all readers.
        """
        readers = self.model.readers
        return readers if self.allowance is None else max(1.0, min(readers, self.pipeline.readers.together))

    @property
    def idle_s(self) -> float:
        """What of P readers wait for each other; those that a limit holds back wait for storage."""
        calls_s = self.pipeline_s(self.input_calls.beside_s)
        return max(0.0, min(self.model.idle_s, self.model.pipeline_s - calls_s))

    def gain(
        self,
        low_s: float,
        expected_s: float,
        high_s: float,
        *,
        assumed: Sequence[Assumption],
        stall_s: tuple[float, float, float] = (0.0, 0.0, 0.0),
        beside: float | None = None,
        writes_s: float = 0.0,
        first_wait: tuple[float, float, float] = FIRST_WAIT,
        chance: float = 1.0,
        reads_as_much: bool = False,
    ) -> Gain:
        """Makes a gain, within what is waited for.

        Args:
            low_s: Lower bound of what a unit's pipeline time P is shorter by.
            expected_s: What it is expected to be shorter by.
            high_s: Upper bound.
            assumed: What the finding assumes; what the model does is added.
            stall_s: The same three of what the training loop itself need not stand still for any more.
            beside: The share of its full pace at which the pipeline works meanwhile; as beside all compute by
                default.
            writes_s: What writes to the same storage take less, at most.
            first_wait: What of the first batch's wait the cure leaves, of each of the three.
            chance: How likely it is that what is assumed and nothing shows is so: else nothing is saved.
            reads_as_much: The cure leaves all reads: no run is shorter than a limit makes these.
        """
        model, curable_s = self.model, self.curable_s(first_wait)
        if beside is None:
            beside = model.overlap
        paces = (min(1.0, SURELY_BESIDE * beside), beside, 0.0)
        low, if_so, high = (
            min(model.saved_s(pipeline), curable)
            + model.saved_s(pipeline, stall, pace)
            - model.saved_s(pipeline)
            for pipeline, stall, pace, curable in zip(
                (low_s, expected_s, high_s), stall_s, paces, curable_s, strict=True
            )
        )
        if stall_s[1] > 0 and self.keeps_ahead:
            # Beside stalls it rests, and beside compute, too: what it can do there its pace does not show.
            left_s = max(0.0, model.storage_s - expected_s - max(model.compute_s - stall_s[1], 0.0))
            if_so += AS_QUICK * max(0.0, min(expected_s, curable_s[1]) + stall_s[1] - left_s - if_so)
        if reads_as_much and self.limited_s > 0:
            limits_s = (self.limited_s, self.limited_s, SURELY_LIMITED * self.limited_s)
            low, if_so, high = (
                min(saved_s, max(0.0, model.unit_s - limit_s))
                for saved_s, limit_s in zip((low, if_so, high), limits_s, strict=True)
            )
        expected = if_so - (1 - model.chance_of_wait) * min(model.saved_s(expected_s), curable_s[1])
        assumed = list(assumed)
        if expected_s > 0 and self.waits_for_processors:
            assumed.insert(0, AS_SLOW_ALONE)
            chance *= AS_SLOW
        expected *= chance
        # A pipeline that the steps hold back may be just as quick as they are.
        low = min(low, max(low_s, 0.0) + (1 - paces[0]) * stall_s[0])
        if stall_s[1] > 0:
            assumed.append(stands_still(model, self.loop, stall_s[1]))
            assumed += [made_up_for(beside)] if beside > 0 else []
        if not model.certain and stall_s[0] > 0:
            # Nothing else is counted, so it does not matter whether the job waits.
            low = min(low, stall_s[0])
        elif expected_s > 0:
            assumed.insert(0, waits_for_input(model))
        low, high = min(low, expected), max(high, if_so)
        low = max(0.0, low - noise_s(model.unit_s, low))
        high = most_of_a_run_s(model.unit_s, high + writes_s)
        return Gain(model.unit, model.unit_s, low, expected, high, tuple(assumed), if_so)

    @property
    def keeps_ahead(self) -> bool:
        """Whether nearly all steps find their batch ready, so that the pipeline waits for them."""
        return self.windows is not None and self.windows.ready_share >= AHEAD

    @property
    def waited(self) -> Assumption:
        """That the job waits for its input: the steps say so, or its own thread reads."""
        own_s = self.input_calls.within_s if self.use_and_facts[1].loop_reads else 0.0
        return waits_for_input(self.model, own_s)

    @property
    def shared(self) -> list[Assumption]:
        """That readers share the calls."""
        return readers_share(self.model.readers, self.pipeline.readers)

    def curable_s(self, first_wait: tuple[float, float, float] = FIRST_WAIT) -> tuple[float, float, float]:
        """Gives what of the wait can be saved, at least, as expected, at most: the first batch is waited for.

        Args:
            first_wait: What of that batch's wait is left, of each of the three.
        """
        model = self.model
        low, expected, high = (
            min(most * model.most_wait_s, model.most_wait_s - most_first * model.first_wait_s)
            for most, most_first in zip(model.most_of_wait, first_wait, strict=True)
        )
        return low, expected, high

    def without(
        self,
        calls: CallGroup,
        low: float,
        expected: float,
        high: float,
        assumed: Sequence[Assumption],
        *,
        other_s: tuple[float, float, float] = (0.0, 0.0, 0.0),
        chance: float = 1.0,
    ) -> tuple[Gain, float]:
        """Gives the gain when such shares of calls are not made, and what of it is no input wait.

        At most, the time in which readers wait for each other shrinks as the calls do. `other_s` is what of a
        unit's other work is not done either: lower bound, expectation, upper bound; `chance` is as in `gain`.
        """
        pipeline, loop = self.pipeline_s(calls.beside_s), calls.within_s / self.model.units
        share = calls.beside_s / self.input_calls.beside_s if self.input_calls.beside_s > 0 else 0.0
        if not self.model.certain and loop > 0:
            # The thread that makes them is waited for if it makes nearly all.
            assumed = [self.waited, *assumed]
        gain = self.gain(
            low * pipeline + other_s[0],
            expected * pipeline + other_s[1],
            high * (pipeline + share * self.idle_s) + other_s[2],
            assumed=[*assumed, *(self.shared if calls.beside_s > calls.within_s else ())],
            stall_s=(low * loop, expected * loop, high * loop),
            writes_s=min(1.0, high * share) * self.model.shared_writes_s,
            chance=chance,
        )
        return gain, chance * expected * loop


def digest_of(*arrays: Array) -> str:
    """Gives what tells a question about some stretches or files from another one of the same name."""
    return f"{zlib.crc32(b''.join(np.ascontiguousarray(values).tobytes() for values in arrays)):08x}"


def _from_storage(reads: Segments) -> tuple[Array, Array, Array, Array]:
    """Gives those that storage served: starts, ends, bytes and threads."""
    taken_s = (reads.end_ns - reads.start_ns) / 1e9
    stored = from_storage(np.ones(len(reads)), reads.length, taken_s)
    columns = (reads.start_ns, reads.end_ns, reads.length, reads.thread)
    start, end, length, thread = (values[stored] for values in columns)
    return start, end, length, thread
