"""Reads the facts of a job from its session: by the functions of analysis/ that say what is what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdarshan.analysis.allowance import allowance_of
from tfdarshan.analysis.call_kinds import KIND, kinds_of
from tfdarshan.analysis.contention import contention_of, mean_depth
from tfdarshan.analysis.directory import directories_of
from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.in_order.input_look import InputFacts, InputLook
from tfdarshan.analysis.in_order.session_calls import SessionCalls
from tfdarshan.analysis.input_figures import BLOCK_FILE_SYSTEMS, loop_thread
from tfdarshan.analysis.input_files import input_files
from tfdarshan.analysis.input_pipeline import InputPipeline, input_pipeline
from tfdarshan.analysis.intervals import Array, covered
from tfdarshan.analysis.segments import Segments
from tfdarshan.analysis.session_files import SessionFiles
from tfdarshan.analysis.set_folders import data_sets
from tfdarshan.analysis.step_windows import StepWindows, step_windows
from tfdarshan.analysis.storage_passes import from_storage
from tfdarshan.analysis.summary_data import emulation_of
from tfdarshan.analysis.tf_data_pipeline import AUTOTUNE, pipelines_of
from tfdarshan.analysis.tf_data_pipeline import Pipeline as NotedPipeline
from tfdarshan.analysis.time_model import fit_time_model
from tfdarshan.errors import SessionDataError
from tfdarshan.recording.job_machine import machine_of
from tfdarshan.replay.job_facts import (
    BatchFacts,
    JobFacts,
    PipelineFacts,
    ProcessorFacts,
    StorageFacts,
)
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.loop_times import LoopTimes, loop_times, union_by
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.probed_storage import narrower, probed_storage
from tfdarshan.replay.read_tasks import InputCalls, ReadTasks, read_tasks
from tfdarshan.replay.task_batches import batches_of
from tfdarshan.sessions.step_table import step_marks
from tfdarshan.storage_probe.session_probes import main_mount, probe_kept

if TYPE_CHECKING:
    from tfdarshan.sessions.session_data import SessionData

RECORDS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "interleave")


@dataclass(frozen=True)
class _Recorded:
    """What the session's tables say, and one look at its calls."""

    files: FileTable
    is_input: Array
    calls: Segments
    is_loop: Array
    windows: StepWindows | None
    pipeline: InputPipeline
    facts: InputFacts


def facts_of(session: SessionData) -> JobFacts:
    """Return the facts of a session's job; of a job of several ranks those of the leading one.

    Raises:
        SessionDataError: A table is damaged or missing, or the session has no trace of calls, or more calls
            than are kept in memory.
    """
    if session.joint is not None:
        session = session.of_rank(session.joint.leading)
    recorded, meta = _recorded(session), session.meta[0]
    start_s, end_s = recorded.calls.start_ns / 1e9, recorded.calls.end_ns / 1e9
    kinds = kinds_of(recorded.calls)
    is_input = recorded.is_input[recorded.calls.file] & (kinds != KIND["write"]) & (kinds != KIND["sync"])
    last_s = float(end_s.max(initial=0.0))
    loop = loop_times(recorded.windows, start_s[is_input], end_s[is_input], last_s)
    beside = is_input & _validates(recorded, is_input, loop, start_s)[recorded.calls.file]
    reading = is_input & ~beside & (start_s >= loop.ask_s[0] - TINY_S) & (start_s < loop.stop_s[-1])
    calls = _input_calls(recorded.calls, reading, kinds)
    tasks = read_tasks(calls, recorded.files.rows["size_bytes"].to_numpy(), len(loop.ask_s))
    noted = _noted(meta)
    ahead = 0 if noted is None else _shuffled(noted, tasks, loop)
    placed = batches_of(tasks, loop, ahead)
    batches = _batches(recorded, loop, kinds, beside, placed.epoch)
    pipeline = _pipeline(recorded, noted, calls, loop, ahead, placed.late_s, recorded.is_loop[reading])
    machine = machine_of(meta)
    return JobFacts(
        batches=batches, tasks=placed.tasks, batch=placed.batch, pipeline=pipeline,
        storage=_storage(recorded, meta, calls, tasks, kinds),
        processors=ProcessorFacts(
            cpus=machine.cpus, others=machine.others_cpus, cpu_s=machine.cpu_s,
            memory_bytes=machine.memory_bytes,
        ),
        files=recorded.files,
    )  # fmt: skip


def _recorded(session: SessionData) -> _Recorded:
    """Look at a session's calls once, as its findings do."""
    processes = session.processes
    files, _ = SessionFiles(session, with_table=True).table_and_totals()
    calls = SessionCalls(processes, files.index)
    segments = calls.in_memory
    if segments is None or not len(segments):
        raise SessionDataError(
            f"{session.path} has no trace of single calls, or too many to model its job by."
        )
    windows, is_loop = step_windows(step_marks(processes)), loop_thread(processes[0])
    is_input, size = input_files(files), files.rows["size_bytes"].to_numpy()
    look = InputLook(files.rows["reads"].to_numpy(), size, windows, is_loop)
    sets = data_sets(files, is_input)
    pipeline = input_pipeline(calls.blocks, size, is_input, windows, is_loop, look.add, sets)
    by_loop = np.array([is_loop(thread) for thread in segments.threads] or [False])[segments.thread]
    return _Recorded(files, is_input, segments, by_loop, windows, pipeline, look.facts())


def _validates(recorded: _Recorded, is_input: Array, loop: LoopTimes, start_s: Array) -> Array:
    """Say which files are read between steps alone, bool by row of the file table: a validation set's."""
    file, count = recorded.calls.file, len(recorded.files)
    place = loop.place(start_s)
    pause = is_input & (start_s >= loop.stop_s[place]) & (start_s >= loop.ask_s[0])
    made, within = (np.bincount(file[chosen], minlength=count) for chosen in (is_input, pause))
    only: Array = (made > 0) & (within >= SETTING["pause_only"] * made)
    # Without steps, or if nothing else is read, these are the input.
    return only if loop.known and np.any(made[~only] > 0) else np.zeros(count, bool)


def _input_calls(calls: Segments, chosen: Array, kinds: Array) -> InputCalls:
    return InputCalls(
        calls.start_ns[chosen] / 1e9, calls.end_ns[chosen] / 1e9, kinds[chosen], calls.file[chosen],
        calls.thread[chosen], calls.offset[chosen], calls.length[chosen],
    )  # fmt: skip


def _batches(
    recorded: _Recorded, loop: LoopTimes, kinds: Array, validating: Array, epoch: Array
) -> BatchFacts:
    """Return what the loop did with each batch: it stood still for its own calls, at least.

    Output of other threads is waited for as far as it makes a step and the pause behind it longer.
    """
    calls, count = recorded.calls, len(loop.ask_s)
    start_s, end_s = calls.start_ns / 1e9, calls.end_ns / 1e9
    place = loop.place(start_s)
    output = _is_output(recorded, kinds)
    output &= (start_s >= loop.got_s[place]) & (start_s < loop.next_s[place])

    def taken(chosen: Array) -> Array:
        return union_by(place[chosen], start_s[chosen], end_s[chosen], count)

    wrote, synced = output & (kinds == KIND["write"]), output & (kinds == KIND["sync"])
    write_bytes = np.bincount(place[wrote], calls.length[wrote], minlength=count)
    whole_s, busy_s = loop.next_s - loop.got_s, loop.stop_s - loop.got_s
    write_s = np.minimum(taken(output & recorded.is_loop), whole_s)
    saves = write_bytes > SETTING["saves"]
    if saves.any() and not saves.all():
        longer_s = np.maximum(whole_s - float(np.median(whole_s[~saves])), 0.0)
        write_s = np.where(saves, np.maximum(write_s, longer_s), write_s)
    compute_s = np.maximum(busy_s - write_s, 0.0)
    pause_s = np.maximum(whole_s - compute_s - write_s, 0.0)
    validation_s = np.minimum(taken(validating), pause_s)
    opened = validating & (kinds == KIND["open"])
    windows = recorded.windows
    return BatchFacts(
        weight=np.ones(count), epoch=epoch, wait_s=loop.got_s - loop.ask_s, compute_s=compute_s,
        write_s=write_s, sync_s=np.minimum(taken(synced), write_s),
        beside_s=np.maximum(taken(output) - write_s, 0.0),
        writes=np.bincount(place[wrote], minlength=count), write_bytes=write_bytes,
        validation_s=validation_s, validation_files=np.bincount(place[opened], minlength=count),
        pause_s=pause_s - validation_s, known=loop.known,
        hand_s=0.0 if windows is None else windows.handed_s,
    )  # fmt: skip


def _noted(meta: dict[str, object]) -> NotedPipeline | None:
    """Return the pipeline that reads the input; None if none was noted."""
    return next((one for one in pipelines_of(meta) or () if one.reader is not None), None)


def _shuffled(noted: NotedPipeline, tasks: ReadTasks, loop: LoopTimes) -> int:
    """Return how many tasks fill the buffer of a shuffle behind the reader; -1 is all of an epoch."""
    shuffle, reader = noted.has("shuffle"), noted.reader
    if shuffle is None or reader is None or shuffle not in noted.after(reader):
        return 0
    if shuffle.size is None or shuffle.size < 0:
        return AUTOTUNE
    batch = noted.has("batch")
    samples = len(loop.ask_s) * ((batch.size if batch else None) or 1)
    return int(np.ceil(shuffle.size * len(tasks) / max(samples, 1)))


def _pipeline(
    recorded: _Recorded,
    noted: NotedPipeline | None,
    calls: InputCalls,
    loop: LoopTimes,
    shuffle: int,
    late_s: Array,
    by_loop: Array,
) -> PipelineFacts:
    lasted_s = np.maximum(calls.end_s - calls.start_s, TINY_S)
    outside = calls.start_s >= loop.got_s[loop.place(calls.start_s)]
    reader = None if noted is None else noted.reader
    behind = (
        [] if noted is None or reader is None else [one for one in noted.after(reader) if one.name == "map"]
    )
    prefetch = None if noted is None else noted.has("prefetch") if noted.prefetches else None
    return PipelineFacts(
        readers=max(1.0, recorded.pipeline.readers.readers),
        declared_readers=None if reader is None else reader.calls,
        prefetch=None if noted is None else 0 if prefetch is None else (prefetch.size or AUTOTUNE),
        shuffle_tasks=shuffle,
        parallel_behind=next((one.calls for one in behind if one.calls is not None), None),
        framework=noted is not None,
        python=reader is None or reader.name == "from_generator" or "python" in reader.does,
        records=reader is not None and reader.name in RECORDS,
        compressed=noted is not None and any(stage.compression for stage in noted.stages),
        loop_reads=float(lasted_s @ by_loop) > SETTING["loop_reads"] * float(lasted_s.sum()),
        beside=float(lasted_s @ outside) / max(float(lasted_s.sum()), TINY_S) if loop.known else 0.0,
        late_s=late_s,
    )


def _storage(
    recorded: _Recorded, meta: dict[str, object], calls: InputCalls, tasks: ReadTasks, kinds: Array
) -> StorageFacts:
    rows = recorded.files.rows[recorded.is_input]
    local = emulation_of(meta) is None and _main_kind(rows["fs_type"], rows["read_s"]) in BLOCK_FILE_SYSTEMS
    lasted_s = np.maximum(calls.end_s - calls.start_s, TINY_S)
    start_ns, end_ns = ((moments * 1e9).astype(np.int64) for moments in (calls.start_s, calls.end_s))
    depth = mean_depth(start_ns, end_ns) if len(start_ns) else np.ones(0)
    probe = probed_storage(probe_kept(meta, _input_mount(recorded)), tasks)
    found = contention_of(recorded.facts.stored.stretches)
    shown = None if found is None else (found.share, found.low, found.high)
    fitted = _wait_share(calls)
    costs, writes = recorded.pipeline.costs, recorded.facts.writes.segments
    limit = allowance_of(
        recorded.facts.held, costs.opens + costs.reads, directories_of(recorded.files).of_file,
        covered(writes.start_ns, writes.end_ns),
    )  # fmt: skip
    return StorageFacts(
        local=local,
        depth=float(np.average(depth, weights=lasted_s)) if len(depth) else 1.0,
        serial=narrower(shown, probe.serial),
        limit_s=None if limit is None else limit.interval_s,
        wait_share=probe.wait_share if fitted is None else fitted,
        files=len(np.unique(tasks.file)),
        writes_here=_writes_here(recorded, _is_output(recorded, kinds)),
    )


def _is_output(recorded: _Recorded, kinds: Array) -> Array:
    """Say which calls write, or sync, files that are no input, bool."""
    written: Array = (kinds == KIND["write"]) | (kinds == KIND["sync"])
    return written & ~recorded.is_input[recorded.calls.file]


def _writes_here(recorded: _Recorded, output: Array) -> float:
    """Return the share of the time in output calls that went to the mount which serves the input."""
    calls = recorded.calls
    lasted_s = (calls.end_ns - calls.start_ns)[output] / 1e9
    mounts = recorded.files.rows["mount_point"].astype(str).to_numpy()
    here = mounts[calls.file[output]] == _input_mount(recorded)
    return float(lasted_s @ here) / max(float(lasted_s.sum()), TINY_S)


def _input_mount(recorded: _Recorded) -> str:
    """Return the mount that most of the time in calls on input was spent on."""
    return main_mount(recorded.files, recorded.files.rows["time_s"] * recorded.is_input)


def _main_kind(kinds: object, seconds: object) -> str:
    """Return the file-system type that most of some seconds were spent on."""
    names, spent = np.asarray(kinds, str), np.asarray(seconds, float)
    return max(np.unique(names).tolist(), key=lambda name: float(spent[names == name].sum()), default="")


def _wait_share(calls: InputCalls) -> float | None:
    """Return what of a mean read is no transfer, if reads that storage served are of several sizes."""
    reads = calls.kind == KIND["read"]
    length, lasted_s = calls.length[reads], (calls.end_s - calls.start_s)[reads]
    stored = from_storage(np.ones(len(length)), length, lasted_s)
    length, lasted_s = length[stored], lasted_s[stored]
    model = fit_time_model(length, lasted_s)
    if model.note or not len(length) or length.max() <= 2 * np.median(length):
        return None
    whole_s = model.base_s + model.s_per_byte * float(length.mean())
    return model.base_s / whole_s if whole_s > 0 else None
