"""What a session says of the storage under its job's input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array, covered
from tfdarshan.analysis.files.directory import folders_of
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.input_figures import BLOCK_FILE_SYSTEMS
from tfdarshan.analysis.storage.pacing import is_paced
from tfdarshan.analysis.storage.rate_limit import rate_limit_of
from tfdarshan.analysis.storage.serialization import Share, contention_of
from tfdarshan.analysis.storage.storage_passes import from_storage
from tfdarshan.analysis.storage.time_model import ONE_SIZE, POOR_R2, TimeModel, fit_time_model
from tfdarshan.analysis.summary_data import emulation_of
from tfdarshan.replay.job_facts import StorageFacts
from tfdarshan.replay.job_model import READ, TINY_S
from tfdarshan.replay.known_storage import emulated_storage, known_wait_share
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.probed_storage import narrower, probed_storage
from tfdarshan.replay.read_tasks import InputCalls, ReadTasks, jumps_of, turns_of
from tfdarshan.replay.recorded_job import RecordedJob
from tfdarshan.storage_probe.session_probes import probe_kept


def storage_facts(
    recorded: RecordedJob, meta: dict[str, object], calls: InputCalls, tasks: ReadTasks
) -> StorageFacts:
    """Return what is known of it.

    Args:
        recorded: The session's tables.
        meta: What the session says of itself.
        calls: On input.
        tasks: Which these calls are.
    """
    probe = probed_storage(probe_kept(meta, recorded.input_mount), tasks)
    fits = _fits(calls)
    shown, in_turn = contention_of(recorded.facts.stored.stretches), _served_in_turn(fits)
    if in_turn is not None and (shown is None or shown[0] < in_turn[1]):
        shown = in_turn
    device, fitted = emulated_storage(meta), _wait_share(fits)
    if device is not None:
        fitted = known_wait_share(device, float(tasks.size.sum() / max(tasks.calls[READ].sum(), 1.0)))
    costs, writes = recorded.pipeline.costs, recorded.facts.writes.segments
    limit = rate_limit_of(
        recorded.facts.held, costs.opens + costs.reads, folders_of(recorded.files.paths).of_file,
        covered(writes.start_ns, writes.end_ns),
    )  # fmt: skip
    depth_s = _depth_s(calls)
    depth = float(depth_s @ np.arange(1, len(depth_s) + 1)) / max(float(depth_s.sum()), TINY_S)
    return StorageFacts(
        local=is_local(meta, recorded.files, recorded.is_input),
        depth_s=depth_s,
        unlimited=probe.as_quick(float(tasks.requests.sum()), float(tasks.stored_s.sum()), depth),
        serial=narrower(shown, probe.serial),
        limit_s=None if limit is None else limit.interval_s,
        wait_share=probe.wait_share if fitted is None else fitted,
        files=len(np.unique(tasks.file)),
        writes_here=_writes_here(recorded),
        reads_ahead=_reads_ahead(calls, tasks),
        device=device,
        paced=_paced(calls),
        limit_of_calls=None if limit is None or limit.counts_bytes is None else not limit.counts_bytes,
    )


def is_local(meta: dict[str, object], files: FileTable, is_input: Array) -> bool:
    """Return whether most of the time in reads of input was spent on a local file system, not emulated."""
    rows = files.rows[is_input]
    return emulation_of(meta) is None and _main_kind(rows["fs_type"], rows["read_s"]) in BLOCK_FILE_SYSTEMS


def _depth_s(calls: InputCalls) -> Array:
    """Return for how long one call ran, two calls ran at a time, and so on."""
    moments = np.concatenate([calls.start_s, calls.end_s])
    order = np.argsort(moments, kind="stable")
    depth = np.cumsum(np.where(order < len(calls.start_s), 1, -1))
    return np.bincount(depth[:-1], np.diff(moments[order]))[1:] if len(depth) else np.zeros(0)


def _writes_here(recorded: RecordedJob) -> float:
    """Return the share of the time in output calls that went to the mount which serves the input."""
    calls, output = recorded.calls, recorded.is_output
    lasted_s = (calls.end_ns - calls.start_ns)[output] / 1e9
    mounts = recorded.files.rows["mount_point"].astype(str).to_numpy()
    here = mounts[calls.file[output]] == recorded.input_mount
    return float(lasted_s @ here) / max(float(lasted_s.sum()), TINY_S)


def _main_kind(kinds: object, seconds: object) -> str:
    """Return the file-system type that most of some seconds were spent on."""
    names, spent = np.asarray(kinds, str), np.asarray(seconds, float)
    return max(np.unique(names).tolist(), key=lambda name: float(spent[names == name].sum()), default="")


@dataclass(frozen=True)
class _Fit:
    """What reads that storage served take, by their sizes.

    Attributes:
        length: Bytes of each.
        taken_s: What it took, or what it ended later than the read before.
        line: What that is by its bytes.
    """

    length: Array
    taken_s: Array
    line: TimeModel

    @property
    def off_s(self) -> float:
        """The standard deviation of what the line does not say."""
        return float(np.std(self.taken_s - self.line.seconds(self.length)))


def _fits(calls: InputCalls) -> tuple[_Fit, _Fit] | None:
    """Return the durations of reads by their sizes, and their turns; None if they are too few."""
    reads = calls.kind == KIND["read"]
    length, lasted_s = calls.length[reads], (calls.end_s - calls.start_s)[reads]
    stored = from_storage(np.ones(len(length)), length, lasted_s)
    length = length[stored]
    if len(length) < SETTING["fewest"]:
        return None
    taken = lasted_s[stored], turns_of(calls)[reads][stored]
    whole, turn = (_Fit(length, taken_s, fit_time_model(length, taken_s)) for taken_s in taken)
    return whole, turn


def _served_in_turn(fits: tuple[_Fit, _Fit] | None) -> Share | None:
    """Return the share of a read that is served one at a time, if ends of reads say so.

    Storage that serves one read after the other ends each so much later than the one before as its own bytes
    take. If that foretells ends better than starts do, nothing runs side by side but what hides in waits for
    one's turn. Ends that come by chance are as far from their mean as that is long.
    """
    if fits is None:
        return None
    whole, turn = fits
    mean_s = float(np.mean(turn.taken_s))
    if turn.off_s >= min(whole.off_s, mean_s / 2):
        return None
    return 1.0, min(mean_s / max(float(np.mean(whole.taken_s)), TINY_S), 1.0), 1.0


def _wait_share(fits: tuple[_Fit, _Fit] | None) -> float | None:
    """Return what of a mean read is no transfer, if reads that storage served are of several sizes.

    Behind reads of other sizes a read takes as long as these: what it ends later than they do is its own.
    """
    if fits is None or fits[0].length.max() <= ONE_SIZE * fits[0].length.min():
        return None
    length = float(fits[0].length.mean())
    shares = [
        fit.line.base_s / max(fit.line.base_s + fit.line.s_per_byte * length, TINY_S)
        for fit in fits
        if fit.line.s_per_byte > 0 and fit.line.r2 >= POOR_R2
    ]
    return min(shares, default=None)


def _paced(calls: InputCalls) -> bool | None:
    """Return whether storage paces reads, as those say that the kernel did not read ahead of."""
    lasted_s = calls.end_s - calls.start_s
    stored = (calls.kind == KIND["read"]) & from_storage(np.ones(len(lasted_s)), calls.length, lasted_s)
    return is_paced(calls.start_s[stored], calls.end_s[stored], calls.length[stored], jumps_of(calls)[stored])


def _reads_ahead(calls: InputCalls, tasks: ReadTasks) -> bool | None:
    """Return whether reads that go on where the last one ended find their data, while others wait for it.

    None if too few reads of the first epoch are of either kind, or others do not wait.
    """
    first = calls.start_s < tasks.begin_s[tasks.epoch > 0].min(initial=np.inf)
    reads = first & (calls.kind == KIND["read"]) & (calls.offset >= 0)
    waits = from_storage(np.ones(len(reads)), calls.length, calls.end_s - calls.start_s)
    jumps = jumps_of(calls)
    moved, going_on = waits[reads & jumps], waits[reads & ~jumps]
    if min(len(moved), len(going_on)) < SETTING["fewest"] or 2 * moved.sum() < len(moved):
        return None
    return bool(2 * going_on.sum() < len(going_on))
