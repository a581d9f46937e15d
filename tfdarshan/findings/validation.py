"""Files that are read between the steps of two epochs: a validation set, which training waits for."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.in_order.pause_calls import PauseReading
from tfdarshan.findings.finding import Assumption, Evidence, Finding
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import probe_evidence, serial_share, times_as_long
from tfdarshan.findings.pipeline_api import validation_cure
from tfdarshan.findings.reader_change import serves_more
from tfdarshan.findings.served_once import pause_calls_s
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "validation"
# Memory that these files may take to be kept there.
ROOM = 0.2
AGAIN = 1.5
MOST_READERS = 16


def find(measures: Measures) -> Finding | None:
    """Finds it where reading such files takes long enough to matter."""
    if not measures.traced:
        return None
    # The last epoch's is after the last step, where the session's steps do not say how long it was.
    pauses = measures.pauses
    if pauses is None:
        return None
    model, units = measures.model, measures.model.units
    sizes = np.where(measures.sizes > 0, measures.sizes, 0)[pauses.rows]
    passes = times_read(measures, pauses)
    memory = measures.machine.memory_bytes
    fits = memory is not None and float(sizes.sum()) <= ROOM * memory and passes >= AGAIN
    depth = pauses.at_a_time
    if fits:
        again_s = (passes - 1) / passes * _of_later(measures, pauses, passes) * pauses.reading_s
        whole_s = again_s + (passes - 1) / passes * _rests_s(pauses)
        saved_s = [0.7 * again_s, 0.95 * whole_s, whole_s]
        assumed = Assumption(
            "these files stay in memory",
            f"{human_bytes(float(sizes.sum()))}, read {passes:.1f} times",
            "the job itself needs the memory",
        )
    else:
        assumed = serves_more(measures)
        serial = serial_share(measures)
        readers = min(MOST_READERS, max(serial.most_readers, depth))
        left = (
            times_as_long(serial.high, depth, readers),
            serial.times(depth, MOST_READERS),
            times_as_long(serial.low, depth, MOST_READERS),
        )
        saved_s = [max(0.0, 1 - part) * pauses.reading_s for part in left]
    low, expected, high = (seconds / units for seconds in saved_s)
    gain = measures.gain(0, 0, 0, assumed=[assumed], stall_s=(low, expected, high), beside=0.0)
    read = f"{plural(len(pauses.rows), 'file')} {'is' if len(pauses.rows) == 1 else 'are'} read"
    return Finding(
        name=NAME,
        kind="problem",
        title=f"training stands still {human_seconds(pauses.reading_s / pauses.count)} an epoch for reading "
        "other files",
        what=f"In {plural(pauses.count, 'pause')} between steps {read} that no step reads, "
        f"{human_bytes(float(sizes.sum()))} in all, {depth:.1f} calls at a time: as a validation set is.",
        evidence=(
            Evidence("pauses", f"{pauses.count:,}", pauses.count),
            Evidence("reading in them", human_seconds(pauses.reading_s), pauses.reading_s),
            Evidence(
                "of all time",
                percent(pauses.reading_s, model.unit_s * units),
                pauses.reading_s / (model.unit_s * units),
            ),
            *_evidence_of_rests(pauses, fits=fits),
            Evidence("files", f"{len(pauses.rows):,}", len(pauses.rows)),
            Evidence("times read", f"{passes:.1f}", passes),
            *(() if fits else probe_evidence(measures)),
        ),
        files=measures.paths_of(pauses.rows),
        unit=model.unit,
        cost_s=gain.saved_s,
        stall_s=gain.saved_s,
        cure=validation_cure(measures, MOST_READERS, keep=fits),
        gain=gain,
        not_worth="where validating once in several epochs would do",
    )


def times_read(measures: Measures, pauses: PauseReading) -> float:
    """Gives how often these files are read, the median, what follows the last step included."""
    sizes = np.where(measures.sizes > 0, measures.sizes, 0)[pauses.rows]
    read = measures.files.rows["bytes_read"].to_numpy()[pauses.rows]
    return max(1.0, float(np.median(read / np.maximum(sizes, 1))))


def _of_later(measures: Measures, pauses: PauseReading, passes: float) -> float:
    """Gives what a later pause reads, as a share of what pauses read on average: memory may serve it."""
    if pauses.count < 2:
        seen_s, after_s = pause_calls_s(measures, pauses)
        return min(1.0, after_s / max((passes - 1) * seen_s, 1e-12))
    return min(1.0, pauses.later_s / (pauses.count - 1) / (pauses.reading_s / pauses.count))


def _rests_s(pauses: PauseReading) -> float:
    """Gives how long the pipeline rests from calls in all pauses, as in the later ones.

    It decodes, puts batches together and hands them over meanwhile, and a cache spares most of that, too.
    """
    return pauses.later_rests_s * pauses.count / max(pauses.count - 1, 1)


def _evidence_of_rests(pauses: PauseReading, *, fits: bool) -> list[Evidence]:
    rests_s = _rests_s(pauses)
    shown = fits and rests_s > 0
    return [Evidence("short rests between calls", human_seconds(rests_s), rests_s)] if shown else []
