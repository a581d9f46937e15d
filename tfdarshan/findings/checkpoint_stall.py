"""Training stands still while it saves a checkpoint."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from tfdarshan.analysis.call_kinds import KIND, kinds_of
from tfdarshan.analysis.checkpoint_bursts import GAP_NS, NUMBER, SAVER_SUFFIX, SHARD, checkpoint_bursts
from tfdarshan.analysis.input_figures import BLOCK_FILE_SYSTEMS
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.output_calls import excess_is_theirs, excess_s, goes_on_beside, stalled_s
from tfdarshan.analysis.segments import WRITE
from tfdarshan.analysis.summary_data import slowed_calls
from tfdarshan.checkpoint.interval_cost import costs_of_intervals, interval_sentence
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Unknown
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.pace_beside import pace_beside
from tfdarshan.findings.processors import busy_cpus, left_by_steps
from tfdarshan.findings.small_writes import SMALL_BYTES
from tfdarshan.sessions.session_directory import BURST_CONTROL
from tfdarshan.storage_model import HDD
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "checkpoint_stall"
# A file of whose bytes this share is read again was read back.
READ_BACK = 0.5
# Shares of the stall that saving behind the loop's back spares: it still copies, and that takes processors.
LIKELY = (0.25, 0.7)
# Saves of one state differ by no more than so many times.
ALIKE = 1.5
# What writing beside the steps takes of a processor.
IDLE_CPUS = 1.0
IDLE = "a processor is idle"
# A burst buffer reads what it wrote to the slow tier once more, to know that it is whole.
WRITTEN_AND_READ = 2.0
# And opens so many files and folders there, 20 to 24 a save on FUSE, ext4 and an emulated Lustre. Its other
# small calls are mostly on what is open, which the client answers by itself.
OPENS = 24
# Saves that are written behind the loop's back may wait for those before them, in all for so much of what
# they take.
LATE = 0.1
# Files of a checkpoint of TensorFlow.
TENSORFLOWS = r"\.(?:index|data-\d{5}-of-\d{5})$"
# The same while they are written.
SAVED = r"\.(?:index|data-\d{5}-of-\d{5})(?:\.tempstate\d+)?$"
# Bytes per second: no disk that is worth a burst buffer takes as many.
MEMORYS_PACE = 500e6
IN_MEMORY = " The page cache takes them, so nothing waits for the device, and a burst buffer would."
NUMPYS = r"\.npy$"
TENSORFLOW_CURE = Cure(
    "Save behind the training loop's back: to a fast tier first, and asynchronously. close() it at the end.",
    "manager = BurstBuffer(checkpoint, fast_dir=FAST, slow_dir=SLOW, max_to_keep=3)"
    "  # of tfdarshan.checkpoint",
    "manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=3)",
)
BUFFERED_CURE = Cure("A burst buffer is in use already: save less often, or give it a quicker fast tier.")
BEHIND_CURE = Cure("Training goes on while these are written already: save less often.")


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds bursts of writes that hold up steps; syncs in them are `fsync`'s."""
    if not measures.files.rows["bytes_written"].to_numpy().any():
        return None
    if measures.facts.writes.too_many:
        return Unknown(NAME, f"whether writes held up {measures.loop}: there are too many to tell")
    if not measures.kinds_known:
        return measures.untraced(NAME, f"whether writes held up {measures.loop}")
    segments, windows = measures.writes, measures.windows
    bursts = checkpoint_bursts(segments, measures.files, windows)
    bursts = bursts[bursts["bytes"] >= SMALL_BYTES * np.maximum(bursts["writes"], 1)]
    bursts = bursts[~_is_input(measures, bursts)]
    if windows is not None:
        first, last = windows.span_ns
        bursts = bursts[(bursts["end_ns"] > first) & (bursts["start_ns"] < last)]
    if not len(bursts):
        return None
    stalls = stalled_s(segments, measures.output, windows, bursts)
    synced = _sync_s(measures, bursts)
    stalls = np.maximum(stalls - synced, 0)
    stall_s, moved = float(stalls.sum()), float(bursts["bytes"].sum())
    if stall_s <= 0:
        if windows is None:
            why = f"whether {plural(len(bursts), 'burst')} of writes held anything up: {measures.why_no_wait}"
            return Unknown(NAME, why, measures.recorded.to_mark_steps)
        return None
    if windows is None and not (
        _alike(bursts) and measures.input_calls.calls and _leaves_time(measures, bursts)
    ):
        return _burst_note(measures, bursts, stalls)
    units = measures.model.units
    most_s = max(stall_s, excess_s(windows, bursts) - float(synced.sum()))
    held_s = most_s if excess_is_theirs(windows, bursts) else stall_s
    assumed = [
        _time_for_it(measures, bursts, stalls),
        *_room_on_storage(measures, bursts, stalls, held_s),
        *_processor_for_it(measures),
    ]
    if windows is None:
        assumed.append(_saves(bursts))
    # Saves that come too soon are written one after the other, beside all else that the job does.
    beside_s = max(0.0, min(held_s, measures.model.all_s - _behind_s(measures, stall_s, len(bursts))))
    low, likely = (share * beside_s / units for share in LIKELY)
    taken = IDLE if _others_take_it(measures) else ""
    chance = 1.0 if all(entry.support or entry.claim == taken for entry in assumed[1:]) else UNSHOWN
    beside = pace_beside(measures, *(bursts[name].to_numpy(np.int64) for name in ("start_ns", "end_ns")))
    stall_s_saved = (low, likely, most_s / units)
    gain = measures.gain(
        0, 0, 0, assumed=assumed, stall_s=stall_s_saved, beside=beside, chance=chance, reads_as_much=True
    )
    longest = bursts.iloc[int(np.argmax(stalls))]
    buffered, behind = _uses_a_burst_buffer(measures), goes_on_beside(windows, bursts)
    in_memory = not buffered and _stay_in_memory(measures, bursts)
    if in_memory and gain.saved_s < LEAST_SHARE * measures.model.unit_s:
        return None
    return Finding(
        name=NAME,
        kind="note" if buffered or in_memory or behind else "problem",
        title=_title(measures, bursts, held_s),
        what=f"{_written(measures, bursts)} took {human_seconds(held_s)}, in which "
        f"{measures.loop if windows is None else 'steps'} stood still.{IN_MEMORY if in_memory else ''}",
        evidence=(
            Evidence("checkpoints" if windows is not None else "bursts", f"{len(bursts):,}", len(bursts)),
            Evidence("written", human_bytes(moved), moved),
            Evidence("held up", human_seconds(held_s), held_s),
            Evidence("writing", human_seconds(float(bursts["write_ns"].sum()) / 1e9)),
            *_interval(measures, bursts, held_s),
        ),
        files=(f"{longest['directory']}/{longest['name']}",),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=gain.saved_s,
        cure=None if in_memory else BUFFERED_CURE if buffered else BEHIND_CURE if behind else _cure(measures),
        gain=None if buffered or in_memory or behind else gain,
        not_worth="where checkpoints are so rare that they hardly count",
    )


def _stay_in_memory(measures: Measures, bursts: pd.DataFrame) -> bool:
    """Says whether the page cache takes TensorFlow's saves, so that nothing waits for the device.

    TensorFlow syncs nothing, and a local file system writes later. A burst buffer does wait until the device
    has a save, and reads it again: of nine jobs on limited disks it made eight 0.3 to 0.9 times as fast.
    """
    if not saves_by_tensorflow(measures) or slowed_calls(measures.summary.emulation):
        return False
    rows = measures.files.rows
    saved = (rows["bytes_written"] > 0).to_numpy(bool) & rows["path"].str.contains(SAVED).to_numpy(bool)
    pace = float(bursts["bytes"].sum()) / max(float(bursts["write_ns"].sum()) / 1e9, 1e-9)
    return pace >= MEMORYS_PACE and set(rows["fs_type"][saved].astype(str)) <= BLOCK_FILE_SYSTEMS


def _title(measures: Measures, bursts, stall_s: float) -> str:  # type: ignore[no-untyped-def]
    """Words what holds up what: without steps saves that follow each other closely cannot be counted."""
    if measures.windows is None:
        return f"checkpoints hold {measures.loop} up for {human_seconds(stall_s)} in all"
    return f"each checkpoint holds training up for {human_seconds(stall_s / len(bursts))}"


def _written(measures: Measures, bursts) -> str:  # type: ignore[no-untyped-def]
    moved = float(bursts["bytes"].sum())
    if measures.windows is None:
        return f"{human_bytes(moved)} in {plural(int(bursts['files'].sum()), 'file')} named alike"
    return f"{plural(len(bursts), 'checkpoint')} of {human_bytes(moved / len(bursts))}"


def _alike(bursts) -> bool:  # type: ignore[no-untyped-def]
    """Says whether several bursts have a name of one form and about one size: a state that is saved again."""
    forms = {NUMBER.sub("#", f"{row.directory}/{row.name}") for row in bursts.itertuples()}
    size = (bursts["bytes"] / bursts["files"].clip(lower=1)).to_numpy(np.float64)
    return len(bursts) > 1 and len(forms) == 1 and bool(size.max() <= ALIKE * size.min())


def _leaves_time(measures: Measures, bursts: pd.DataFrame) -> bool:
    """Says whether saves are so far apart that a burst buffer, which writes each twice, may have the time."""
    pauses_ns = bursts["start_ns"].to_numpy(np.int64)[1:] - bursts["end_ns"].to_numpy(np.int64)[:-1]
    return not saves_by_tensorflow(measures) or bool((pauses_ns >= GAP_NS).all())


def _saves(bursts) -> Assumption:  # type: ignore[no-untyped-def]
    """Gives that these are checkpoints: without steps their names say so."""
    files = int(bursts["files"].sum())
    seen = f"{plural(files, 'file')} named alike, of {human_bytes(float(bursts['bytes'].sum()) / files)} each"
    return Assumption("these are checkpoints", seen, "what is written is read soon after")


def _time_for_it(measures: Measures, bursts, stalls) -> Assumption:  # type: ignore[no-untyped-def]
    """Gives that a checkpoint can be written before the next one is due: steps have to leave the time."""
    count, held_s = plural(len(bursts), "checkpoint"), float(stalls.sum())
    seen = f"{count}, {percent(held_s, measures.model.all_s)} of the time"
    if len(bursts) > 1:
        left_s = _left_s(bursts, stalls)
        each, left = (human_seconds(max(float(np.median(part)), 0.0)) for part in (stalls, left_s))
        seen = f"{count} of {each}, {left} from one to the next"
        busy_s = [_behind_s(measures, float(stall_s), 1) for stall_s in stalls]
        seen = seen if _late_s(busy_s, left_s.tolist()) <= LATE * sum(busy_s) else ""
    return Assumption(
        "a checkpoint can be written while training goes on",
        seen,
        "the next one is due before the last one is written",
    )


def _left_s(bursts: pd.DataFrame, stalls: Array) -> Array:
    """Gives the time from the end of each save to the next one, in seconds."""
    left_s: Array = np.diff(bursts["start_ns"].to_numpy(np.int64)) / 1e9 - stalls[:-1]
    return left_s


def _room_on_storage(measures: Measures, bursts, stalls, held_s: float) -> list[Assumption]:  # type: ignore[no-untyped-def]
    """Gives that storage can take what a burst buffer writes and reads again; nothing for other savers.

    Input that comes from the same storage needs its time, too. And a save without a sync goes to memory, so
    that its pace is not storage's: a burst buffer waits until storage has it, and then no more is certain
    than what a hard disk can do.
    """
    if not saves_by_tensorflow(measures):
        return []
    each = bursts["bytes"].to_numpy(np.float64)
    pace = float(each.sum()) / max(float(bursts["write_ns"].sum()) / 1e9, 1e-9)
    if not slowed_calls(measures.summary.emulation):
        pace = min(pace, HDD.write_bandwidth)
    busy_s = WRITTEN_AND_READ * each / pace
    input_s = _read_beside(measures) / pace
    fits = float(busy_s.sum()) + input_s <= measures.model.all_s - held_s
    if len(each) > 1:
        fits = fits and _late_s(busy_s.tolist(), _left_s(bursts, stalls).tolist()) <= LATE * busy_s.sum()
    taken_s, left_s = (
        human_seconds(float(busy_s.sum()) + input_s),
        human_seconds(measures.model.all_s - held_s),
    )
    return [
        Assumption(
            "storage has the time for what a burst buffer copies",
            f"{taken_s} of {left_s}, at {human_bytes(pace)}/s" if fits else "",
            "reads or saves wait for the copies",
        )
    ]


def _read_beside(measures: Measures) -> float:
    """Gives how many bytes of the input came from the storage that TensorFlow's checkpoints go to."""
    rows = measures.files.rows
    saved = (rows["bytes_written"] > 0).to_numpy(bool) & rows["path"].str.contains(TENSORFLOWS).to_numpy(bool)
    written = set(rows["mount_point"][saved])
    shared = measures.is_input & rows["mount_point"].isin(written).to_numpy(bool)
    share = 1.0 if slowed_calls(measures.summary.emulation) else measures.costs.storage_share
    return float(rows["bytes_read"].to_numpy()[shared].sum()) * share


def _behind_s(measures: Measures, stall_s: float, saves: int) -> float:
    """Gives how long storage is busy with saves that held training up so long, if made behind its back."""
    if not saves_by_tensorflow(measures):
        return stall_s
    return WRITTEN_AND_READ * stall_s + saves * OPENS * _open_s(measures)


def _open_s(measures: Measures) -> float:
    """Gives what an open of a file that is written takes as a rule; 0 where calls are too many to look."""
    calls = measures.session_calls.in_memory
    if calls is None:
        return 0.0
    written = measures.files.rows["bytes_written"].to_numpy() > 0
    opens = np.flatnonzero((kinds_of(calls) == KIND["open"]) & (calls.file >= 0))
    opens = opens[written[calls.file[opens]]]
    return float(np.median(calls.end_ns[opens] - calls.start_ns[opens])) / 1e9 if len(opens) else 0.0


def _late_s(busy_s: Sequence[float], left_s: Sequence[float]) -> float:
    """Gives for how long saves wait in all for those before them, written one after the other.

    Args:
        busy_s: What each of them takes.
        left_s: The time from one to the next.
    """
    late_s = [0.0]
    for busy, left in zip(busy_s[:-1], left_s, strict=True):
        late_s.append(max(0.0, late_s[-1] + busy - left))
    return sum(late_s)


def _processor_for_it(measures: Measures) -> list[Assumption]:
    """Gives that a processor is idle, which writing beside the steps takes; nothing if that is not known."""
    busy, cpus = busy_cpus(measures, others=True), measures.machine.cpus
    if busy is None or cpus is None:
        return []
    idle = cpus - busy
    seen = f"{idle:.1f} of {cpus:.0f} are" if idle >= IDLE_CPUS else ""
    if not seen and _others_take_it(measures):
        seen = left_by_steps(measures)
    return [Assumption(IDLE, seen, "steps and input take longer beside the writing")]


def _others_take_it(measures: Measures) -> bool:
    """Says whether the job itself leaves a processor idle: what others take may be free in the next run."""
    own, cpus = busy_cpus(measures, others=False), measures.machine.cpus
    return own is not None and cpus is not None and cpus - own >= IDLE_CPUS


def saves_by_tensorflow(measures: Measures) -> bool:
    """Says whether some of what is written are TensorFlow's checkpoints."""
    return _writes(measures, TENSORFLOWS)


def _uses_a_burst_buffer(measures: Measures) -> bool:
    """Says whether one of tfdarshan's kept its own files meanwhile: then saves go behind the loop's back."""
    return _writes(measures, rf"/{re.escape(BURST_CONTROL)}/")


def _writes(measures: Measures, names: str) -> bool:
    rows = measures.files.rows
    written = rows["path"][(rows["bytes_written"] > 0).to_numpy(bool)]
    return bool(written.str.contains(names).any())


def _cure(measures: Measures) -> Cure:
    """Words it for TensorFlow's checkpoints, for NumPy's, and for files of any other kind."""
    if saves_by_tensorflow(measures):
        return TENSORFLOW_CURE
    what = "Save behind the training loop's back: copy what is to be saved, and let a thread write it."
    pool = "saver = concurrent.futures.ThreadPoolExecutor(1)  # before the first epoch\n"
    if _writes(measures, NUMPYS):
        return Cure(what, f"{pool}saver.submit(np.save, path, array.copy())", "np.save(path, array)")
    return Cure(what, f"{pool}saver.submit(save, copy.deepcopy(state), path)", "save(state, path)")


def _burst_note(measures: Measures, bursts, stalls) -> Finding:  # type: ignore[no-untyped-def]
    """Says what was written: without steps nobody knows whether it is a checkpoint, and holds anything up."""
    stall_s, moved = float(stalls.sum()), float(bursts["bytes"].sum())
    longest = bursts.iloc[int(np.argmax(stalls))]
    count = plural(len(bursts), "burst")
    return Finding(
        name=NAME,
        kind="note",
        title=f"the main thread writes {human_bytes(moved)} in {count}, {human_seconds(stall_s)} in all",
        what="No step was recorded, so nothing says whether these are checkpoints, or what they hold up.",
        evidence=(
            Evidence("bursts of writes", f"{len(bursts):,}", len(bursts)),
            Evidence("written", human_bytes(moved), moved),
            Evidence("time of the main thread in them", human_seconds(stall_s), stall_s),
        ),
        files=(f"{longest['directory']}/{longest['name']}",),
        unit=measures.model.unit,
    )


def _is_input(measures: Measures, bursts):  # type: ignore[no-untyped-def]
    """Says of which bursts most bytes are in files that the job reads back as input: no checkpoints.

    With steps, that is what the loop or a reader of the input reads while these run, and no saver wrote: a
    burst buffer's threads read what they copy, and a job reads a checkpoint at its start or end.
    """
    windows, rows = measures.windows, measures.files.rows
    read_back = (rows["bytes_written"] > 0) & (rows["bytes_read"] >= READ_BACK * rows["bytes_written"])
    chosen = read_back.to_numpy(bool).copy()
    if windows is not None and chosen.any():
        chosen &= (
            measures.read_by_readers(chosen, windows.span_ns) >= READ_BACK * rows["bytes_written"].to_numpy()
        )
        for row in np.flatnonzero(chosen).tolist():
            name = posixpath.basename(str(rows["path"].iloc[row]))
            chosen[row] = not (SAVER_SUFFIX.sub("", name) != name or SHARD.match(name))
    if not chosen.any() or not len(bursts):
        return np.zeros(len(bursts), bool)
    writes = measures.writes
    writes = writes.where(writes.io_class == WRITE)
    ends = np.searchsorted(writes.start_ns, bursts["end_ns"].to_numpy(np.int64), side="right")
    starts = np.searchsorted(writes.start_ns, bursts["start_ns"].to_numpy(np.int64))
    reached = np.concatenate([[0], np.cumsum(np.where(chosen[writes.file], writes.length, 0))])
    found = reached[ends] - reached[starts]
    return found > bursts["bytes"].to_numpy() / 2


def _interval(measures: Measures, bursts, stall_s: float) -> list[Evidence]:  # type: ignore[no-untyped-def]
    """Says what saving as often, or less often, costs; nothing where steps or checkpoints are too few."""
    windows = measures.windows
    if windows is None or len(bursts) < 2:
        return []
    at = np.searchsorted(windows.start_ns, bursts["start_ns"].to_numpy(np.int64), side="right")
    apart = np.diff(at)
    if not (apart > 0).any():
        return []
    first, last = windows.span_ns
    step_s = max((last - first) / 1e9 - stall_s, 0.0) / len(windows.start_ns)
    interval = round(float(np.median(apart[apart > 0])))
    costs = costs_of_intervals(interval, step_s=step_s, blocked_s=stall_s / len(bursts))
    return [Evidence("a checkpoint", interval_sentence(costs))]


def _sync_s(measures: Measures, bursts):  # type: ignore[no-untyped-def]
    """Gives the time of the loop's own syncs in each burst."""
    output, segments = measures.output, measures.writes
    places = output.chosen[output.sync & output.within]
    start, duration = segments.start_ns[places], segments.end_ns[places] - segments.start_ns[places]
    reached = np.concatenate([[0], np.cumsum(duration)])
    first, last = (np.searchsorted(start, bursts[name].to_numpy(np.int64)) for name in ("start_ns", "end_ns"))
    return (reached[last] - reached[first]) / 1e9
