"""The training loop waits until data is on the device: fsync and fdatasync in its way."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.checkpoint.behind import EVERY_S
from tfdarshan.findings.checkpoint_stall import TENSORFLOW_CURE, saves_by_tensorflow
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.pace_beside import pace_beside
from tfdarshan.findings.small_writes import SMALL_BYTES
from tfdarshan.findings.usual_calls import share_without_few
from tfdarshan.units import human_seconds, percent, plural

NAME = "fsync"
CURE = Cure(
    "Sync once, after the last write, or once a second in a thread of its own.",
    "sync_behind(file)  # of tfdarshan.checkpoint",
    "os.fsync(file.fileno())",
)
# Shares of the stall that a thread spares if each sync is made: the next write may wait for it.
BESIDE = (0.5, 0.95, 1.0)


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds syncs by the loop's own thread."""
    if not measures.writes_known:
        return _counted(measures)
    output, segments = measures.output, measures.writes
    places = output.chosen[output.sync & output.within]
    if not len(places):
        return None
    duration = segments.end_ns[places] - segments.start_ns[places]
    whole_s = float(duration.sum()) / 1e9
    stall = whole_s / measures.model.units
    beside = pace_beside(measures, segments.start_ns[places], segments.end_ns[places])
    assumed = Assumption(
        "the device can sync beside what the job does next",
        f"{plural(len(places), 'sync')}, {percent(whole_s, measures.model.all_s)} of the time",
        "the next write waits for the sync before",
    )
    low, expected, high = (share * stall for share in _spared(measures, places))
    # What a few of them take beyond the others they wait for something else, which may not come again.
    usual = share_without_few(duration)
    low, expected = usual * low, (1 - UNSHOWN * (1 - usual)) * expected
    gain = measures.gain(
        0, 0, 0, assumed=[assumed], stall_s=(low, expected, high), beside=beside, reads_as_much=True
    )
    per_file = np.bincount(segments.file[places], duration, minlength=len(measures.files))
    order = np.argsort(-per_file, kind="stable")
    each_s = whole_s / len(places)
    return Finding(
        name=NAME,
        kind="problem",
        title=f"{measures.loop} syncs files, {human_seconds(each_s)} each time",
        what=f"{plural(len(places), 'call')} of fsync or fdatasync made by {measures.loop} took "
        f"{human_seconds(whole_s)}, in which it stood still.",
        evidence=(
            Evidence("syncs", f"{len(places):,}", len(places)),
            Evidence("time in them", human_seconds(whole_s), whole_s),
            Evidence("mean", human_seconds(each_s), each_s),
        ),
        files=measures.paths_of(order[per_file[order] > 0]),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=gain.saved_s,
        cure=TENSORFLOW_CURE if saves_by_tensorflow(measures) else CURE,
        gain=gain,
        not_worth="where the job must not go on before the data is durable",
    )


def _spared(measures: Measures, places: Array) -> tuple[float, float, float]:
    """Gives what part of the stall is spared: for certain, as expected, at most.

    Of syncs that come more often than once a second one a second is left, and at worst writes wait for it.
    What takes long because much is to be written takes as long whenever it is.
    """
    low, expected, high = BESIDE
    synced = np.unique(measures.writes.file[places])
    written = float(measures.files.rows["bytes_written"].to_numpy()[synced].sum())
    if saves_by_tensorflow(measures) or written >= SMALL_BYTES * len(places):
        return BESIDE
    seldom = min(1.0, measures.model.all_s / len(places) / EVERY_S)
    return max(low, expected * (1 - seldom)), expected, high


def _counted(measures: Measures) -> Finding | Unknown | None:
    data = measures.summary
    syncs = data.posix.syncs
    if not syncs:
        return None
    return counted_note(
        measures,
        NAME,
        unknown="what syncs cost",
        title=f"{plural(syncs, 'sync')} wait{'s' * (syncs == 1)} for the device",
        what="fsync and fdatasync return when the data is on the device.",
        evidence=(Evidence("syncs", f"{syncs:,}", syncs),),
        most_s=data.file_time.write_s,
        cure=TENSORFLOW_CURE if saves_by_tensorflow(measures) else CURE,
    )
