"""Draws a program that reads by a dataset of Grain's."""

from __future__ import annotations

from collections.abc import Sequence

from ..dice import Dice
from ..pipeline_draw import Cause, Drawn, draw_decoding, draw_training, reads_ahead
from ..program import GRAIN, Access, Extra

# What one connection, or one thread, reads is drawn of plain Python.
ACCESSES: tuple[Access, ...] = ("file", "file", "stats", "until_empty", "small_reads", "reopened", "random")
EXTRAS: tuple[Extra, ...] = ("numpy_checkpoint", "synced_log", "small_writes", "validation")
MOST_THREADS, MOST_PROCESSES = 32, 4
MOST_AHEAD = 4  # batches for each thread


def draw_grain_shape(dice: Dice, causes: Sequence[Cause]) -> Drawn:
    """Return how a sample is read, and what the loop does besides."""
    extra = dice.choice(EXTRAS) if "loop" in causes else ""
    return {"shape": GRAIN, "access": dice.choice(ACCESSES), "extra": extra}


def draw_grain(dice: Dice, shape: Drawn, causes: Sequence[Cause]) -> Drawn:
    """Return all parameters of such a program, but its folders and the number of samples."""
    shuffled = shape["access"] == "random" or dice.happens(0.7)
    drawn = shape | {"shuffle": "paths" if shuffled else ""} | draw_decoding(dice, shape, causes)
    drawn |= {"chunk_bytes": dice.whole(512, 65_536)} if shape["access"] == "small_reads" else {}
    drawn |= _readers(dice) if reads_ahead(dice, causes) else {"threads": 0}
    # Its steps are found.
    return drawn | draw_training(dice, drawn) | {"marked": False, "ahead": drawn["threads"] > 0}


def _readers(dice: Dice) -> Drawn:
    threads = dice.whole(1, MOST_THREADS)
    return {
        "threads": threads,
        "prefetch_factor": dice.whole(1, MOST_AHEAD) if dice.happens(0.5) else 0,
        "processes": dice.whole(1, MOST_PROCESSES) if dice.happens(0.2) else 0,
    }
