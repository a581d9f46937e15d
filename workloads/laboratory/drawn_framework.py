"""The frameworks whose jobs are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .dice import Dice
from .grain.grain_draw import draw_grain, draw_grain_shape
from .pipeline_draw import Cause, Drawn, draw_pipeline, draw_shape
from .python_source import PACKED
from .pytorch.loader_draw import draw_loader, draw_loader_shape, loader_unit


@dataclass(frozen=True)
class DrawnFramework:
    """One.

    Attributes:
        draw_shape: Draws what kind of program it is.
        draw_input: Draws all parameters of one of that kind, but its folders and the number of samples.
        unit: Gives how many samples there are a multiple of.
    """

    draw_shape: Callable[[Dice, Sequence[Cause]], Drawn]
    draw_input: Callable[[Dice, Drawn, Sequence[Cause]], Drawn]
    unit: Callable[[Drawn], int]


def _unit(drawn: Drawn) -> int:
    batch = int(drawn["batch"])
    return math.lcm(batch, PACKED) if drawn.get("access") == "reopened" else batch


# By the library that is imported.
FRAMEWORKS: Mapping[str, DrawnFramework] = {
    "tensorflow": DrawnFramework(draw_shape, draw_pipeline, _unit),
    "torch": DrawnFramework(draw_loader_shape, draw_loader, loader_unit),
    "grain": DrawnFramework(draw_grain_shape, draw_grain, _unit),
}
