"""The input pipeline computes: decoding is what steps wait for, and no storage will help."""

from __future__ import annotations

import math

from tfdarshan.analysis.steps.loader_waits import idle_workers
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.fits_in_memory import AGAIN, ROOM
from tfdarshan.findings.fix_choice import COUNTS, ModelledFix, best_fix, enough_readers
from tfdarshan.findings.fix_lines import (
    decoding_stage,
    keep_decoded,
    keeps_decoded,
    more_decoding,
    own_threads,
    reader_of,
    reads_in_python,
    runs_as_many,
)
from tfdarshan.findings.kept_samples import kept_samples
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.replayed import mean_s
from tfdarshan.findings.step_split import step_split
from tfdarshan.findings.unseen_faults import NOT_SEEN, unseen_faults
from tfdarshan.frameworks.tensorflow.pipeline_words import GENERATOR
from tfdarshan.frameworks.tensorflow.record_words import unpacked
from tfdarshan.replay.edits import CacheInMemory, DecodeCalls, Uncompressed, edited
from tfdarshan.replay.storage_edits import OtherStorage
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_seconds, percent

NAME = "decode_bound"
ABOUT = About(
    title="Decoding is the bottleneck",
    cause="Steps wait for their batch, and decoding is the longest part of that wait, longer than file "
    "calls. Faster storage gives nothing.",
    says="decoding takes longer than reading",
    seen=("a long input wait with few calls running", "the tab's Timeline and Steps"),
    fixes={
        "tf.data": "`map(decode, num_parallel_calls=tf.data.AUTOTUNE)`, `.cache()` behind "
        "the decoder, or uncompressed records",
        "PyTorch": "`DataLoader(..., num_workers=8)`",
        "Grain": "`.mp_prefetch(MultiprocessingOptions(num_workers=8))`",
        "plain Python": "`tfdarshan.ahead.map_ahead(read, samples, threads=8)`; store the samples decoded or "
        "smaller",
    },
    estimate="The replay has more decoding calls, or decoded samples that stay in "
    "memory if they fit. The better fix is named. The range is wide if Python decodes, because "
    "Python's lock may be held for any part of decoding.",
    ignore="the steps need the processors, or all processors decode already",
    fix="faster decoding",
)
WHAT_WAITS = ("storage", "page_faults", "decoding", "other_wait")  # of `StepPart`


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it if steps wait longer for what the pipeline computes than for anything else."""
    model = measures.model
    if model.wait_s is None:
        return Unknown(NAME, f"whether steps wait for decoding: {measures.why_no_wait}")
    unseen = unseen_faults(measures) is not None
    # Of what is no file call, page faults or services may be a part that nothing tells from decoding.
    untold = unseen or model.cpu_s is None
    if not _is_longest(measures, "other_wait" if untold else "decoding"):
        return None
    # Nor does anything tell processor time of decoding from that of computing.
    untold = untold or not _surely_longer(measures)
    fixes = _fixes(measures)
    chosen = best_fix(measures, fixes) if fixes else ModelledFix(_less(measures), ())
    in_calls = percent(model.storage_s, model.pipeline_s)
    return Finding(
        name=NAME,
        kind="problem" if chosen.edits else "note",
        title="the input pipeline is busy longer outside of file calls than in them"
        if untold
        else "decoding takes longer than reading",
        what=f"Preparing a batch takes {human_seconds(model.pipeline_s)}, {in_calls} of it in file calls. "
        + (NOT_SEEN if unseen else "Faster storage or staging will not help.")
        + _drawn(measures),
        evidence=_evidence(measures),
        fix=chosen.fix,
        edits=chosen.edits,
        work=chosen.work,
        not_worth="" if chosen.edits else "training needs the data as it is",
    )


def _is_longest(measures: Measures, name: str) -> bool:
    """Say whether a part of the steps' wait for input is the longest of them."""
    waits = {part.name: part.seconds for part in step_split(measures) if part.name in WHAT_WAITS}
    return waits.get(name, 0.0) > 0 and waits[name] == max(waits.values())


def _surely_longer(measures: Measures) -> bool:
    """Say whether decoding takes longer than reads even if computing had all processors that it can have."""
    parts = {part.name: part for part in step_split(measures)}
    reads_s = sum(parts[name].seconds for name in ("storage", "page_faults") if name in parts)
    return parts["decoding"].seconds - parts["decoding"].open_s > reads_s


def decodes_in_its_reads(measures: Measures) -> bool:
    """Say whether what reads decodes as well, and longer, and more of it can: that is a fix of decoding."""
    decoder = decoding_stage(measures)
    both = decoder is not None and decoder is reader_of(measures)
    return both and _is_longest(measures, "decoding") and not _limit(measures)


def _fixes(measures: Measures) -> list[ModelledFix]:
    """Return what can be done: to decode more at a time, less, or in the first epoch only."""
    limit, samples, reader = _limit(measures), kept_samples(measures), reader_of(measures)
    found = [] if limit else [_more(measures)]
    if reader is not None and reader.compression:
        found.append(ModelledFix(unpacked(reader), (Uncompressed(),), "convert"))
    if measures.passes >= AGAIN and samples.drawing is None and _fits(measures):
        fix = keep_decoded(measures, limit)
        kept = CacheInMemory(works_behind=samples.works_behind, loads_first=fix.loads_first)
        found.append(ModelledFix(fix, (kept,)))
    return found


def _limit(measures: Measures) -> str:
    """Say why no more calls can decode at a time; "" if they can, as far as is known."""
    busy, decoder, cpus = _busy(measures), decoding_stage(measures), round(measures.machine.cpus or 1)
    if busy is not None and busy >= THRESHOLD["busy"]:
        return "all processors are busy"
    if idle_workers(measures.session.meta[0]):
        return "the input has fewer shards than workers"
    by_threads = decoder is not None and decoder.name == GENERATOR and own_threads(measures) >= max(cpus, 2)
    by_processes = (measures.job.facts.pipeline.processes or 0) >= max(cpus, 2)
    if by_threads or by_processes or runs_as_many(measures, decoder, cpus):
        return "as many samples are decoded at a time as there are processors"
    return ""


def _more(measures: Measures) -> ModelledFix:
    """Return how to decode more at a time: by AUTOTUNE, or by so many calls if each of them reads as well."""
    cpus = max(2, round(measures.machine.cpus or 2))
    if reads_in_python(measures):
        return ModelledFix(more_decoding(measures, cpus), (DecodeCalls(cpus),))
    count = enough_readers(measures, COUNTS) if keeps_decoded(measures) else cpus
    return ModelledFix(more_decoding(measures, count), (DecodeCalls(count if count > cpus else -1),))


def _less(measures: Measures) -> Fix:
    """Word what is left if nothing can be kept, and no more calls can decode."""
    return keep_decoded(measures, _limit(measures), fits=_fits(measures), again=measures.passes >= AGAIN)


def _fits(measures: Measures) -> bool:
    """Say whether the input fits into memory, and what is decoded is not known to take more."""
    memory = measures.machine.rank_bytes
    if memory is None:
        return False
    return max(measures.unique_bytes, kept_samples(measures).kept_bytes or 0.0) <= ROOM * memory


def _busy(measures: Measures) -> float | None:
    """Return the processors' busy share, None if unknown."""
    machine = measures.machine
    if machine.cpu_s is None or not machine.cpus:
        return None
    return machine.cpu_s / (machine.cpus * max(machine.span_s, 1e-9))


def _drawn(measures: Measures) -> str:
    """Say why what is decoded again cannot be kept, if that is known."""
    drawing = kept_samples(measures).drawing
    if drawing is None or measures.passes < AGAIN:
        return ""
    return f" {drawing.typed} draws random numbers, so its samples differ from epoch to epoch."


def _evidence(measures: Measures) -> tuple[Evidence, ...]:
    model, busy, job = measures.model, _busy(measures), measures.job
    in_calls = percent(model.storage_s, model.pipeline_s)
    evidence = [
        Evidence("pipeline, for one batch", human_seconds(model.pipeline_s), model.pipeline_s),
        Evidence("of it in file calls", f"{human_seconds(model.storage_s)}, {in_calls}", model.storage_s),
    ]
    free = edited(job, OtherStorage(latency=0.0, bandwidth=math.inf))
    left_s = mean_s(job, free.run.wait_s) / model.units
    evidence.append(Evidence("input wait if storage took no time", human_seconds(left_s), left_s))
    if busy is not None:
        evidence.append(Evidence("processors busy", percent(busy, 1), busy))
    return tuple(evidence)
