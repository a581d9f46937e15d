"""Draws a job from a seed: no cause, one or two that make it slow, and everything else over wide ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .busy_processors import OtherLoad
from .dice import Dice
from .drawn_framework import FRAMEWORKS
from .expected_time import Expected, Sample, costs, expected
from .job import Job
from .known_fix import WHOLE_FILES
from .pipeline_draw import CAUSES, FEWEST_BATCHES, MOST_BYTES, Cause, Drawn
from .storage_draw import draw_storage, storage_names
from .storage_kind import MEDIA, Medium, StorageKind

TENSORFLOW = "tensorflow"
DEVELOPMENT_SEEDS = 10_000  # seeds below are for development, those from here on for fresh draws
WELL_MADE = 0.3  # of the draws
TWO_CAUSES = 0.5  # of the others
BUSY = 0.2  # of all: other programs compute beside the job
WARM = 0.3  # of those that are not slow by reading: the storage's caches hold everything
LASTS_S = (3.0, 9.0)  # what a run is to take, about
SHORTEST_S, LONGEST_S = 2.5, 14.0
FEWEST_STEPS = 16  # of a run
MOST_FILES, MOST_RECORDS = 6_000, 100_000
CAUSE_COSTS, NO_CAUSE_COSTS = 1.2, 1.03  # times as long as without it, as far as can be expected
HIDDEN_TIMES = 1.6  # a step lasts so many times longer than input that is to be hidden, at least
TRIES = 40  # of amounts, for one kind of program on one kind of storage


def draw(seed: int, media: Sequence[Medium] = MEDIA, framework: str = TENSORFLOW) -> Job:
    """Return the job of a seed: the same one each time, for the same media and the same framework."""
    of = FRAMEWORKS[framework]
    dice = Dice(seed)
    medium, causes = dice.choice(media), _causes(dice)
    load = _load(dice) if dice.happens(BUSY) else None
    warm = medium != "emulated" and "reading" not in causes and dice.happens(WARM)
    while True:
        shape = of.draw_shape(dice, causes)
        one_by_one = shape["shape"] == "map" or shape.get("access") in WHOLE_FILES
        name = dice.choice(storage_names(medium, one_by_one=one_by_one))
        for _ in range(TRIES):
            drawn, storage = of.draw_input(dice, shape, causes), draw_storage(dice, medium, name)
            batch = expected(drawn, storage, warm=warm)
            count = _count(dice, drawn, batch, of.unit(drawn), one_by_one=one_by_one)
            if count is not None and _is_as_meant(drawn, storage, causes, warm=warm):
                return _job(dice, seed, storage, drawn, count, causes=causes, load=load, warm=warm)


def _causes(dice: Dice) -> tuple[Cause, ...]:
    if dice.happens(WELL_MADE):
        return ()
    return tuple(sorted(dice.sample(CAUSES, 2 if dice.happens(TWO_CAUSES) else 1)))


def _load(dice: Dice) -> OtherLoad:
    return OtherLoad(dice.evenly(0.2, 1), dice.evenly(0.2, 0.9), dice.between(2e-3, 0.2))


def _job(dice: Dice, seed: int, storage: StorageKind, drawn: Drawn, count: int, **more: Any) -> Job:
    """Return the job with what depends on the number of samples."""
    validation_count = _validation_count(drawn, storage, count) if drawn["extra"] == "validation" else 0
    shuffled = max(drawn["batch"], round(drawn.pop("shuffled_share", 1) * count))
    drawn.pop("validated", None)
    drawn |= {"count": count} | ({"shuffle_size": shuffled} if drawn.get("shuffle") == "samples" else {})
    spread = dice.happens(0.5) and drawn.get("access") not in ("random", "reopened")
    return Job(
        seed=seed, storage=storage, drawn=drawn, spread=spread, validation_count=validation_count, **more
    )


def _is_as_meant(drawn: Drawn, storage: StorageKind, causes: Sequence[Cause], *, warm: bool) -> bool:
    """Whether each drawn cause costs time, no other one does, and input that is none is hidden."""
    for cause in CAUSES:
        times = costs(cause, drawn, storage, warm=warm)
        if times < CAUSE_COSTS if cause in causes else times > NO_CAUSE_COSTS:
            return False
    batch = expected(drawn, storage, warm=warm)
    return bool({"reading", "decoding"} & set(causes)) or HIDDEN_TIMES * batch.first_s < batch.step_s


def _count(dice: Dice, drawn: Drawn, batch: Expected, unit: int, *, one_by_one: bool) -> int | None:
    """Return how many samples there are for a run of some seconds; None if that is not possible."""
    most = min(MOST_BYTES / drawn["size_bytes"], MOST_FILES if one_by_one else MOST_RECORDS)
    wanted = min(dice.between(*LASTS_S) / batch.batch_s * drawn["batch"], most)
    count = int(wanted // unit * unit)
    batches = count // drawn["batch"]
    lasts_s = batches * batch.batch_s
    enough = batches >= FEWEST_BATCHES and batches * batch.epochs >= FEWEST_STEPS
    return count if enough and SHORTEST_S < lasts_s < LONGEST_S else None


def _validation_count(drawn: Drawn, storage: StorageKind, count: int) -> int:
    """Return how many files take the drawn share of an epoch's steps, one after another."""
    size = drawn["size_bytes"]
    one = Sample(opens=1, stats=1, empty=1, seeks=1)
    file_s = (one.waits_s(storage) + one.queued_s(size, storage)) * storage.slower(count) + 2e-4
    wanted_s = drawn["validated"] * drawn["step_s"] * count / drawn["batch"]
    return int(min(max(8, wanted_s / file_s), MOST_FILES / 2, max(8, MOST_BYTES / 2 / size)))
