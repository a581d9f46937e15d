"""Pairs of sessions, and what is said of the one that is not said of the other."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import Session

FIGURE = re.compile(r"[^a-zA-Z]*[a-zA-Z]{0,2}(/s)?")
Maker = Callable[[Path], Session]
Kept = Callable[[Session], Session]


def as_made(session: Session) -> Session:
    """Return a session as it is."""
    return session


@dataclass(frozen=True)
class Row:
    """Two sessions, of which something is true and false.

    Attributes:
        true: Makes the one of which it is true.
        false: Makes the one of which it is false.
        kept: What becomes of both sessions before anything is said, such as a loss of single calls.
        kept_false: What becomes of the second one, if it is something else.
    """

    true: Maker
    false: Maker
    kept: Kept = as_made
    kept_false: Kept | None = None


def texts_in(value: Any) -> set[str]:
    """Return the texts within data."""
    if isinstance(value, str):
        return {value}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return set().union(*(texts_in(getattr(value, name)) for name in vars(value)), set())
    if isinstance(value, dict):
        return set().union(*map(texts_in, value.values()), set())
    return set().union(*map(texts_in, value), set()) if isinstance(value, (list, tuple)) else set()


def diagnosed(session: Session) -> str:
    """Return all that is said of a session's findings."""
    return "\n".join(sorted(texts_in(diagnose(session))))


def contrasts(
    rows: Mapping[str, Row], folder: Path, said: Callable[[Session], str] = diagnosed
) -> dict[str, str]:
    """Return by row the lines, but bare figures, that are said where it is true and not where it is false.

    Args:
        rows: By name.
        folder: Where their sessions are made.
        said: What is said of a session, a line each.
    """
    names = iter(range(2 * len(rows)))

    @cache
    def lines(make: Maker, kept: Kept) -> list[str]:
        place = folder / f"{next(names):03}"
        text = said(kept(make(place))).replace(str(place), "FOLDER")
        return [line.strip() for line in text.splitlines() if not FIGURE.fullmatch(line.strip())]

    found = {}
    for name, row in rows.items():
        elsewhere = lines(row.false, row.kept_false or row.kept)
        only_here = [line for line in lines(row.true, row.kept) if line not in elsewhere]
        assert only_here, f"{name}: nothing is said of the one that is not said of the other"
        found[name] = "\n".join(only_here)
    return found
