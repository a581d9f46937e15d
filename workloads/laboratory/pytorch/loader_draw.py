"""Draws a program that reads by PyTorch's DataLoader."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..dice import Dice
from ..known_fix import WHOLE_FILES
from ..pipeline_draw import Cause, Drawn, draw_decoding, draw_training, reads_ahead
from ..program import LOADERS, Access, Extra
from ..python_source import PACKED
from ..storage_kind import PARTS

# A connection of SQLite's is of the process that opened it.
ACCESSES: tuple[Access, ...] = ("file", "file", "stats", "until_empty", "small_reads", "reopened", "random")
EXTRAS: tuple[Extra, ...] = ("torch_checkpoint", "synced_log", "small_writes", "validation")
MOST_WORKERS, MOST_AHEAD, MOST_SHARDS = 16, 8, 24
# Workers that are started as programs import PyTorch, each for itself.
MOST_STARTED = 4


def draw_loader_shape(dice: Dice, causes: Sequence[Cause]) -> Drawn:
    """Return what kind of data set there is, how a sample is read, and what the loop does besides."""
    shape = dice.choice(LOADERS)
    access = "shards" if shape == "torch_iterable" else dice.choice(ACCESSES)
    return {"shape": shape, "access": access, "extra": dice.choice(EXTRAS) if "loop" in causes else ""}


def draw_loader(dice: Dice, shape: Drawn, causes: Sequence[Cause]) -> Drawn:
    """Return all parameters of a program of that kind, but its folders and the number of samples."""
    drawn = shape | _data_set(dice, shape) | draw_decoding(dice, shape, causes)
    drawn |= _workers(dice, causes) if reads_ahead(dice, causes) else {"threads": 0}
    # Its steps are found.
    drawn |= draw_training(dice, drawn) | {"marked": False, "ahead": drawn["threads"] > 0}
    return drawn | {"hugging_face": shape["shape"] == "torch_map" and dice.happens(0.25)}


def _data_set(dice: Dice, shape: Drawn) -> Drawn:
    if shape["shape"] == "torch_iterable":
        return {"shards": dice.whole(2, MOST_SHARDS)}
    shuffled = shape["access"] == "random" or dice.happens(0.7)
    drawn: Drawn = {"shuffle": "paths" if shuffled else ""}
    return drawn | ({"chunk_bytes": dice.whole(512, 65_536)} if shape["access"] == "small_reads" else {})


def _workers(dice: Dice, causes: Sequence[Cause]) -> Drawn:
    workers = dice.whole(1, MOST_WORKERS)
    started = dice.choice(("", "", "spawn", "forkserver")) if workers <= MOST_STARTED else ""
    return {
        "threads": workers,
        "start_method": started,
        "prefetch_factor": dice.whole(1, MOST_AHEAD) if dice.happens(0.3) else 0,
        "persistent": not causes or dice.happens(0.5),
        "any_order": dice.happens(0.1),
    }


def loader_unit(drawn: Drawn) -> int:
    """Return how many samples there are a multiple of: a worker that has shards makes whole batches."""
    batch = int(drawn["batch"])
    if drawn["access"] == "reopened":
        return math.lcm(batch, PACKED)
    if drawn["access"] in WHOLE_FILES:
        return batch * PARTS
    if drawn["access"] == "shards":
        return batch * math.lcm(drawn["shards"], max(1, drawn["threads"]))
    return batch
