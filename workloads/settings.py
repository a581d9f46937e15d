"""Settings of a workload, changed by name from the command line."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from tfdarshan.errors import ConfigurationError

Scale = TypeVar("Scale")  # a workload's dataclass of settings


def changed(scale: Scale, given: Mapping[str, str], workload: str) -> Scale:
    """Return the settings with some of them changed; only numbers can be, and all are above 0.

    Args:
        scale: All of them.
        given: New values as they were typed, by name.
        workload: The name of the workload, for messages.

    Raises:
        ConfigurationError: There is no such setting, or it does not take that value.
    """
    now: Any = scale
    numbers = {name: value for name, value in vars(scale).items() if isinstance(value, int | float)}
    unknown = [name for name in given if name not in numbers]
    if unknown:
        names = ", ".join(numbers)
        raise ConfigurationError(f"{workload} has no setting {unknown[0]!r}: there are {names}.")
    values = {name: _number(name, text, type(numbers[name])) for name, text in given.items()}
    found: Scale = dataclasses.replace(now, **values)
    return found


def check_saves(steps: int, every: int) -> None:
    """Refuse a run that saves nothing.

    Raises:
        ConfigurationError: It has fewer steps than there are from one checkpoint to the next.
    """
    if every > steps:
        raise ConfigurationError(f"no checkpoint is due in {steps:,} steps: give every={steps} at most.")


def _number(name: str, text: str, kind: type[int | float]) -> int | float:
    try:
        value = kind(text)
    except ValueError:
        value = kind()
    if not 0 < value < math.inf:
        what = "a whole number" if kind is int else "a number"
        raise ConfigurationError(f"the setting {name} is {text!r}: give {what} above 0.")
    return value
