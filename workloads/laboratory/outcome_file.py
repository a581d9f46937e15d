"""The outcomes of a draw in a file, written after each job: a draw that was stopped goes on from there."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfdarshan.errors import ConfigurationError

from .fix_pair import FixPair
from .judgement import Judgement
from .said import said_from


def write_outcomes(outcomes: Sequence[Judgement], path: Path) -> None:
    """Write them, in place of what was there."""
    plain = [dataclasses.asdict(one) for one in outcomes]
    path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")


def read_outcomes(path: Path) -> list[Judgement]:
    """Return what `write_outcomes` wrote.

    Raises:
        ConfigurationError: There are none, or they are of another shape.
    """
    try:
        found = [_judgement(dict(plain)) for plain in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{path} holds no outcomes to go on from: {error!r}") from error
    if not found:
        raise ConfigurationError(f"{path} holds no outcomes to go on from.")
    return found


def _judgement(plain: dict[str, Any]) -> Judgement:
    said = said_from(plain.pop("said"))
    pairs = tuple(FixPair(**_with_tuples(pair)) for pair in plain.pop("pairs", ()))
    return Judgement(**_with_tuples(plain), said=said, pairs=pairs)


def _with_tuples(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
