"""Draws a program: the shape of its input pipeline, how samples are read and decoded, what the loop does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .dice import Dice
from .known_fix import WHOLE_FILES
from .program import ACCESSES, CHECKPOINTS, EXTRAS, SHAPES, TF_DATA

Cause = Literal["reading", "decoding", "loop"]
CAUSES: tuple[Cause, ...] = ("reading", "decoding", "loop")
Drawn = dict[str, Any]
FEWEST_BYTES = {"jpeg": 2_000, "file": 1_000, "record": 200}
MOST_FILE_BYTES = 20e6
MOST_RECORD_BYTES = 2e6
STEPS_S = (0.002, 0.4)
MOST_BYTES = 400_000_000  # of a training set
FEWEST_BATCHES = 6  # of an epoch


def draw_shape(dice: Dice, causes: Sequence[Cause]) -> Drawn:
    """Return what kind of program it is: who reads, how a sample is read, and what the loop does besides."""
    shape = dice.choice(SHAPES)
    drawn: Drawn = {"shape": shape, "extra": dice.choice(EXTRAS) if "loop" in causes else ""}
    if shape in TF_DATA:
        return drawn
    access = dice.choice(("file", *ACCESSES))
    return drawn | {"access": "random" if shape == "thread_pool" and access == "sqlite" else access}


def draw_pipeline(dice: Dice, shape: Drawn, causes: Sequence[Cause]) -> Drawn:
    """Return all parameters of a program of that kind, but its folders and the number of samples."""
    drawn = shape | (_tf_data(dice, shape["shape"]) if shape["shape"] in TF_DATA else _python(dice, shape))
    drawn |= draw_decoding(dice, drawn, causes)
    drawn |= {"prefetch" if shape["shape"] in (*TF_DATA, "generator") else "ahead": reads_ahead(dice, causes)}
    return drawn | draw_training(dice, drawn)


def draw_training(dice: Dice, drawn: Drawn) -> Drawn:
    """Return how much there is of a program's input, and what its loop does."""
    loop = _loop(dice, drawn["extra"])
    size_bytes = _size_bytes(dice, drawn)
    most = int(MOST_BYTES / FEWEST_BATCHES / size_bytes)
    return loop | {
        "size_bytes": size_bytes,
        "batch": dice.whole(4, max(4, min(256, most))),
        "epochs": dice.whole(1, 6),
        "step_s": dice.between(*STEPS_S),
        "marked": dice.happens(2 / 3),
        "computes": dice.choice(("sleep", "sleep", "numpy")),
        "mixed": dice.happens(0.5),
    }


def _tf_data(dice: Dice, shape: str) -> Drawn:
    cache = dice.choice(("", "", "", "misplaced", "right"))
    drawn: Drawn = {
        "chained": dice.happens(0.5),
        "threads": dice.choice((0, 0, dice.whole(2, 32), 0 if shape == "records" else -1)),
        "gzip": False,
        "shuffle": dice.choice(("", "", "samples", "paths" if shape == "map" else "")),
        "shuffled_share": dice.evenly(0.1, 1),
        "cache": cache,
        "cut": cache == "misplaced" and dice.happens(0.5),
    }
    if shape != "map":
        drawn |= {"shards": dice.whole(4, 32), "cycle": dice.whole(2, 16)}
    return drawn


def _python(dice: Dice, shape: Drawn) -> Drawn:
    drawn: Drawn = {"threads": dice.whole(2, 32) if shape["shape"] == "thread_pool" else 0}
    return drawn | ({"chunk_bytes": dice.whole(512, 65_536)} if shape["access"] == "small_reads" else {})


def draw_decoding(dice: Dice, drawn: Drawn, causes: Sequence[Cause]) -> Drawn:
    """Choose a decoding; without a cause in it, most programs have none."""
    if not dice.happens(1 if "decoding" in causes else 0.2):
        return {}
    tf_data = drawn["shape"] in TF_DATA
    pictures = tf_data or drawn["access"] in (*WHOLE_FILES, "shards")
    if tf_data and drawn["shape"] != "map" and dice.happens(0.3):
        return {"gzip": True}
    decode = dice.choice(("arithmetic", "jpeg") if pictures else ("arithmetic",))
    return {"decode": decode} | ({"rounds": dice.whole(1, 32)} if decode == "arithmetic" else {})


def reads_ahead(dice: Dice, causes: Sequence[Cause]) -> bool:
    """Choose whether batches are prepared beside the steps: in each job that is well made."""
    return dice.happens(0.4) or not set(causes) & {"reading", "decoding"}


def _loop(dice: Dice, extra: str) -> Drawn:
    if extra in CHECKPOINTS:
        return {"weights": dice.whole(100_000, 8_000_000), "every": dice.whole(2, 64)}
    if extra == "small_writes":
        return {"lines": dice.whole(1, 32), "line_bytes": dice.whole(20, 2000)}
    return {"validated": dice.between(0.1, 1)} if extra == "validation" else {}


def _size_bytes(dice: Dice, drawn: Drawn) -> int:
    """Choose the mean size of a sample: of a file, or of a record in one."""
    if drawn.get("decode") == "jpeg":
        return dice.whole(FEWEST_BYTES["jpeg"], int(MOST_RECORD_BYTES))
    if drawn["shape"] == "map" or drawn.get("access") in WHOLE_FILES:
        return dice.whole(FEWEST_BYTES["file"], int(MOST_FILE_BYTES))
    return dice.whole(FEWEST_BYTES["record"], int(MOST_RECORD_BYTES))
