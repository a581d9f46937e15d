"""A buffer of samples for shuffling that each epoch fills before its first step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.output_calls import union_s
from tfdarshan.analysis.tf_data_pipeline import Pipeline, Stage
from tfdarshan.findings.beside_compute import PROCESSORS_FREE, others_take_them, processors_free
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.pipeline_api import AHEAD, input_pipeline
from tfdarshan.units import human_seconds, percent, plural

NAME = "shuffle_buffer"
# A buffer of fewer batches is soon full.
FEWEST_BATCHES = 4
# The batches that are left in it where whole files cannot be shuffled instead.
KEPT_BATCHES = 4
# A wait that fills a buffer is longer than others by so many times.
LONGER = 4.0
LIKELY = (0.5, 0.9, 1.0)
# A small buffer is the same memory again and again. A large one is new memory, page by page, and out of the
# processors' caches when it is read: that is at most such a share of filling it, whatever steps compute.
OF_FILLING = 0.1
# Storage may serve reads and writes in turn. Where writes take a larger share of what steps compute, reads
# that go on beside it get so little of storage that nothing says how long they then take.
WRITING = 0.5


@dataclass(frozen=True)
class _Fills:
    """The waits that fill the buffer: by how much each is longer than others, and the longest, in seconds."""

    each_s: tuple[float, ...]
    longest_s: float

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.each_s)

    @property
    def excess_s(self) -> float:
        """By how much all are longer."""
        return sum(self.each_s)

    def beside_s(self, rests_s: float) -> float:
        """Gives what can be read beside the steps instead, where the pipeline rests so long in each epoch."""
        return sum(min(seconds, max(rests_s, 0.0)) for seconds in self.each_s)


def find(measures: Measures) -> Finding | None:
    """Finds it where samples are shuffled after they were read, and each epoch's first step waits for it."""
    pipeline, model = input_pipeline(measures), measures.model
    shuffle = None if pipeline is None else _after_reading(pipeline)
    if pipeline is None or shuffle is None or model.wait_s is None:
        return None
    fills = _fills(measures, pipeline.iterators)
    if fills is None:
        return None
    # What was read at once is read beside the steps of its epoch: no more of it than these last.
    # Of that, the pipeline works a part already.
    computing_s = (1 - model.overlap) * model.compute_s * model.units
    writing_s = union_s(measures.writes, measures.output.chosen)
    left = KEPT_BATCHES * _batch(pipeline) / max(shuffle.size or 1, 1)
    low, expected, high = (
        share * fills.beside_s(rests_s / max(pipeline.iterators, 1)) * (1 - left) / model.units
        for share, rests_s in zip(LIKELY, (computing_s - writing_s, computing_s, computing_s), strict=True)
    )
    high += OF_FILLING * fills.excess_s * (1 - left) / model.units
    alone = _reads_alone(measures, writing_s)
    assumed = Assumption(
        "what fills the buffer can be read beside the steps",
        f"they compute {human_seconds(model.compute_s * model.units)}, and waits that filled it are "
        f"{human_seconds(fills.excess_s)} longer",
        "an epoch's first step waits as long with a smaller buffer",
    )
    needed = [alone, *processors_free(measures)]
    taken = PROCESSORS_FREE if others_take_them(measures) else ""
    gain = measures.gain(
        low,
        expected,
        high,
        assumed=[assumed, *needed],
        reads_as_much=True,
        first_wait=(left, left, left),
        # What other programs take may be free in the next run: nothing is certain, and as much expected.
        chance=1.0 if all(one.support or one.claim == taken for one in needed) else UNSHOWN,
    )
    return Finding(
        name=NAME,
        kind="problem" if alone.support else "note",
        title=f"each epoch begins with filling a buffer of {shuffle.size:,} samples",
        what=f"{shuffle.typed} shuffles what was read already, so the first step of an epoch waits for "
        f"all that fit into it: {human_seconds(fills.longest_s)} at most.",
        evidence=(
            Evidence("samples in the buffer", f"{shuffle.size:,}", shuffle.size),
            Evidence("epochs begun", f"{fills.count:,}", fills.count),
            Evidence("waits that filled it", human_seconds(fills.excess_s), fills.excess_s),
            Evidence(
                "of all waits",
                percent(fills.excess_s, model.wait_s * model.units),
                fills.excess_s / (model.wait_s * model.units),
            ),
        ),
        unit=model.unit,
        cost_s=gain.saved_s,
        cure=_cure(pipeline, shuffle),
        gain=gain,
        not_worth="where samples that lie beside each other are alike, and files are too few to be shuffled",
    )


def fills_each_epoch(measures: Measures) -> bool:
    """Says whether the first step of each epoch waits until a buffer of samples is full, as far as seen."""
    pipeline = input_pipeline(measures)
    shuffled = pipeline is not None and _after_reading(pipeline) is not None
    return pipeline is not None and shuffled and _fills(measures, pipeline.iterators) is not None


def _reads_alone(measures: Measures, writing_s: float) -> Assumption:
    """Gives that reads beside the steps are as quick as those that fill the buffer at one go.

    Args:
        measures: The session.
        writing_s: How long writes and syncs of the steps were under way.
    """
    writes, model = len(measures.output.chosen), measures.model
    part = writing_s / max(model.compute_s * model.units, 1e-9)
    seen = f"{plural(writes, 'write')} in all steps, for {percent(part, 1)} of what they compute"
    known = measures.writes_known and part <= WRITING
    return Assumption(
        "reads are as quick beside the steps", seen if known else "", "storage is busy with what steps write"
    )


def _after_reading(pipeline: Pipeline) -> Stage | None:
    """Gives the stage that shuffles what was read, where its buffer holds several batches."""
    reader = pipeline.reader
    if reader is None:
        return None
    shuffle = next((stage for stage in pipeline.after(reader) if stage.name == "shuffle"), None)
    if shuffle is None or shuffle.size is None:
        return None
    samples = shuffle.size if "batch" not in [stage.name for stage in pipeline.before(shuffle)] else 0
    return shuffle if samples >= FEWEST_BATCHES * _batch(pipeline) else None


def _batch(pipeline: Pipeline) -> int:
    batch = pipeline.has("batch") or pipeline.has("padded_batch")
    return batch.size or 1 if batch is not None else 1


def _fills(measures: Measures, epochs: int) -> _Fills | None:
    """Finds as many long waits as epochs were begun; None where no wait stands out."""
    windows = measures.windows
    if windows is None or windows.wait_end_ns is None or epochs < 1:
        return None
    waits = np.sort((windows.wait_end_ns - windows.start_ns) / 1e9)
    longest, others = waits[-epochs:], waits[:-epochs]
    if not len(others):
        return None
    usual = float(others.mean())
    fills = longest[longest >= LONGER * max(usual, 1e-6)]
    if not len(fills):
        return None
    return _Fills(tuple((fills - usual).tolist()), float(fills.max()))


def _cure(pipeline: Pipeline, shuffle: Stage) -> Cure:
    """Words it: shuffle what is to be read, and of what was read only a little."""
    small = KEPT_BATCHES * _batch(pipeline)
    changes = [(shuffle.statement, f"dataset = dataset.shuffle({small})")]
    what = f"Keep {plural(small, 'sample')} in the buffer: then an epoch's first step waits for these alone."
    reader = pipeline.reader
    if reader is not None and reader.name == "map":
        what = f"Shuffle the paths, which takes no time, and keep {plural(small, 'sample')} in the buffer."
        before = f"dataset = dataset.shuffle({shuffle.size}).{reader.typed}"
        if not any(stage.name == "shuffle" for stage in pipeline.before(reader)):
            changes.append((reader.statement, before))
    if not pipeline.prefetches:
        what += " The rest is read while steps compute."
        last = pipeline.last.statement
        changes.append((last, f"{last}.{AHEAD}"))
    return Cure(what, "\n".join(new for _, new in changes), "\n".join(old for old, _ in changes))
