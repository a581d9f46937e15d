"""The input pipeline computes: decoding is what steps wait for, and no storage will help."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tfdarshan.findings.decoding_time import decodes_longer, other_s, reading_s
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Gain, Unknown
from tfdarshan.findings.fits_in_memory import AGAIN, DECODED, ROOM, filling_s, less
from tfdarshan.findings.kept_samples import kept_samples
from tfdarshan.findings.later_waits import within_later_waits
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.pipeline_api import (
    GENERATOR,
    PYTHON,
    decoding_stage,
    input_pipeline,
    keep_decoded,
    keeps_decoded,
    more_decoding,
    own_threads,
    reads_in_python,
    runs_as_many,
    unpacks,
)
from tfdarshan.findings.python_lock import DECODED_S, hands_lock_over
from tfdarshan.findings.reader_change import with_readers
from tfdarshan.findings.unseen_faults import NOT_SEEN, UnseenFaults, unseen_faults
from tfdarshan.units import human_seconds, percent

NAME = "decode_bound"
BUSY_CPUS = 0.85
# Of what decoding takes again, so much is spared for certain: batching and copying remain.
SURELY = 0.7
# Of all steps, those that had a processor to themselves.
QUICK = 0.1
# More calls of a map leave that as it is: who reads a file unpacks it.
NOT_UNPACKED = Assumption(
    "what decodes takes this time, not unpacking records",
    "",
    "records that are not packed are as much quicker",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where steps would wait even if storage took no time."""
    model = measures.model
    if model.wait_s is None:
        return Unknown(NAME, f"whether steps wait for decoding: {measures.why_no_wait}")
    if not decodes_longer(measures):
        return None
    read_s = reading_s(measures)
    rest_s = max(0.0, other_s(measures) - model.overlap * model.compute_s)
    gain, cure = _gain_and_cure(measures, rest_s)
    unseen = unseen_faults(measures)
    if unseen:
        gain = unseen.doubted(gain, "the pipeline decodes between its file calls")
    in_calls = percent(read_s, model.pipeline_s)
    return Finding(
        name=NAME,
        kind="problem",
        title=_title(unseen),
        what=f"Preparing a batch takes {human_seconds(model.pipeline_s)}, {in_calls} of it in file calls. "
        + (NOT_SEEN if unseen else "Faster storage or staging will not help.")
        + _drawn(measures),
        evidence=_evidence(measures, rest_s, "file calls" if unseen else "storage"),
        unit=model.unit,
        cost_s=rest_s,
        cure=cure,
        gain=gain,
        not_worth="where it is the steps that need the processors, or where as many calls decode at a time "
        "as there are processors",
    )


def _drawn(measures: Measures) -> str:
    """Says why what is decoded again cannot be kept, if that is known."""
    drawing = kept_samples(measures).drawing
    if drawing is None or measures.passes < AGAIN:
        return ""
    return f" {drawing.typed} draws random numbers: what it gives is not the same in each epoch."


def _gain_and_cure(measures: Measures, rest_s: float) -> tuple[Gain, Cure]:
    """Gives those of decoding with more calls, or of keeping what is decoded, whichever gives more.

    Args:
        measures: The session.
        rest_s: What a step would wait if storage took no time.
    """
    limit = _limit(measures)
    gain, kept = _gain(measures, rest_s, None if limit else _busy(measures)), _gain_of_keeping(measures)
    if kept is not None and (limit or kept.saved_s > gain.saved_s or _surely_better(kept, gain)):
        return kept, keep_decoded(measures, limit)
    if limit:
        again = measures.passes >= AGAIN
        return gain, keep_decoded(measures, limit, fits=_may_fit(measures), again=again)
    return gain, more_decoding(measures, _calls_at_a_time(measures))


def _surely_better(kept: Gain, gain: Gain) -> bool:
    return kept.low_s > 0 and kept.worth >= gain.worth


def _limit(measures: Measures) -> str:
    """Says why no more calls can decode at a time; "" where they can, as far as is known."""
    busy = _busy(measures)
    if busy is not None and busy >= BUSY_CPUS:
        return "the processors have no more to give"
    decoder, cpus = decoding_stage(measures), round(measures.machine.cpus or 1)
    by_threads = decoder is not None and decoder.name == GENERATOR and own_threads(measures) >= max(cpus, 2)
    if by_threads or runs_as_many(measures, decoder, cpus):
        return "as many calls decode at a time as there are processors"
    in_threads = decoder is None or decoder.name == GENERATOR or PYTHON in decoder.does
    if in_threads and hands_lock_over(measures, DECODED_S):
        return "threads would hand Python's lock to each other most of the time"
    return ""


def _calls_at_a_time(measures: Measures) -> int:
    """Gives how many calls keep all processors busy: more than these where a call that decodes reads, too."""
    model, cpus = measures.model, measures.machine.cpus or 1.0
    if not keeps_decoded(measures):
        return round(cpus)
    return math.ceil(cpus * model.pipeline_s / (model.pipeline_s - reading_s(measures)))


def _reads_beside_s(measures: Measures) -> float:
    """Gives what reads are expected to take less of P if calls that decode read, and more run at a time."""
    calls = _calls_at_a_time(measures)
    if not keeps_decoded(measures) or calls <= measures.model.readers:
        return 0.0
    change = with_readers(measures, calls)[1]
    return dataclasses.replace(change, other=1.0).saved_s(measures)


def _busy(measures: Measures) -> float | None:
    """Gives the processors' busy share, None if unknown."""
    machine = measures.machine
    if machine.cpu_s is None or not machine.cpus:
        return None
    return machine.cpu_s / (machine.cpus * max(measures.summary.duration_s, 1e-9))


def _evidence(measures: Measures, rest_s: float, free: str) -> tuple[Evidence, ...]:
    """Gives what shows it; `free` is what would take no time if steps waited for `rest_s` only."""
    model, busy = measures.model, _busy(measures)
    read_s = reading_s(measures)
    in_calls = percent(read_s, model.pipeline_s)
    evidence = [
        Evidence("pipeline, for one batch", human_seconds(model.pipeline_s), model.pipeline_s),
        Evidence("of it in file calls", f"{human_seconds(read_s)}, {in_calls}", read_s),
        Evidence(f"input wait if {free} took no time", human_seconds(rest_s), rest_s),
    ]
    if busy is not None:
        evidence.append(Evidence("processors busy", percent(busy, 1), busy))
    return tuple(evidence)


def _title(unseen: UnseenFaults | None) -> str:
    """Says what the pipeline does as far as that is seen: outside of calls it decodes, or waits in faults."""
    if unseen:
        return "the input pipeline is busy longer outside of file calls than in them"
    return "the input pipeline decodes longer than it reads"


def _gain_of_keeping(measures: Measures) -> Gain | None:
    """Gives the gain of decoding in the first epoch alone; None of one epoch, or of too much for memory."""
    memory = measures.machine.memory_bytes
    if memory is None or measures.passes < AGAIN or measures.unique_bytes > ROOM * memory:
        return None
    again_s, samples = measures.model.other_s * (1 - 1 / measures.passes), kept_samples(measures)
    if samples.drawing is not None or not _may_fit(measures):
        return None
    gain = measures.gain(SURELY * again_s, DECODED * again_s, again_s, assumed=samples.assumed)
    gain = less(within_later_waits(gain, measures), filling_s(measures, samples.place))
    more_s = _computed_longer_s(measures) + _made_again_s(measures)
    gain = dataclasses.replace(gain, high_s=min(gain.high_s + more_s, gain.before_s))
    # A generator that does not decode, as far as is seen, hands samples over, which a cache does, too.
    decoder = decoding_stage(measures)
    hands_over = decoder is not None and decoder.name == GENERATOR and "decodes" not in decoder.does
    half = hands_over or (samples.same and samples.works_behind)
    return dataclasses.replace(gain, saved_s=UNSHOWN * gain.saved_s) if half else gain


def _may_fit(measures: Measures) -> bool:
    """Says whether what is decoded is not known to take more memory than there is room."""
    memory = measures.machine.memory_bytes
    return memory is None or (kept_samples(measures).kept_bytes or 0.0) <= ROOM * memory


def _computed_longer_s(measures: Measures) -> float:
    """Gives what of a step's compute later epochs spare, at most, if nothing decodes beside it then.

    Both share the processors: the quickest tenth of the steps shows what half of them take longer for that.
    """
    windows, model = measures.windows, measures.model
    if windows is None or windows.wait_end_ns is None or model.overlap <= 0:
        return 0.0
    computed_s = (windows.end_ns - windows.wait_end_ns) / 1e9
    longer_s = float(np.median(computed_s) - np.quantile(computed_s, QUICK))
    return (1 - 1 / measures.passes) * min(longer_s, model.overlap * model.compute_s)


def _made_again_s(measures: Measures) -> float:
    """Gives what of a step making data sets takes, at most, where each epoch has its own.

    They are made between steps: in as many pauses as there are data sets but the first, of the longest ones.
    """
    pipeline, windows = input_pipeline(measures), measures.windows
    if pipeline is None or windows is None or not pipeline.made_anew or pipeline.datasets < 2:
        return 0.0
    pauses_s = np.sort(np.maximum(windows.start_ns[1:] - windows.end_ns[:-1], 0) / 1e9)
    return float(pauses_s[1 - pipeline.datasets :].sum()) / measures.model.units


def _gain(measures: Measures, rest_s: float, busy: float | None) -> Gain:
    """Gives the gain of decoding more at a time; of decoding less where no processor is free or known to be.

    Args:
        measures: The session.
        rest_s: What a step would wait if storage took no time.
        busy: The processors' busy share; None where they are busy throughout, or unknown.
    """
    model, cpus = measures.model, measures.machine.cpus
    if busy is None or not cpus:
        less = Assumption("decoding less takes less time", "", "decoding is a small part of this work")
        return measures.gain(0.0, 0.3 * rest_s, rest_s, assumed=[less])
    # What one processor does, all of them do in this part of the time; at most, the reads of a call that
    # decodes go side by side as well. At least nothing is gained: how many calls decode at a time is not
    # known, and as many as there are processors may do so already.
    at_work = min(1.0, (model.cpu_s or 0.0) / max(cpus * model.pipeline_s, 1e-9))
    spared = 1 - max(busy, 1 / cpus)
    # Whose processor time it was is not known: the pipeline's alone, or that of all that went on beside it.
    likely = 1 - max((busy + at_work) / 2, 1 / cpus)
    fewer = Assumption(
        "fewer calls decode at a time than there are processors", "", "all processors decode already"
    )
    if reads_in_python(measures):
        # What runs Python has one processor for all calls but where it computes in a library.
        likely *= UNSHOWN
    packed = unpacks(measures)
    if packed:
        likely *= UNSHOWN
    expected_s = 0.8 * likely * model.other_s + _reads_beside_s(measures)
    assumed = [fewer, *([NOT_UNPACKED] if packed else [])]
    return measures.gain(0.0, expected_s, 1.1 * spared * model.pipeline_s, assumed=assumed)
