"""A sentence, a session of which it is said with figures of the raw tables, and one of which it is not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.unit.sentences.raw_figures import Raw, raw
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import Session

Maker = Callable[[Path], Session]
Words = Callable[[Raw], str | list[str]]
Kept = Callable[[Session], Session]
# What is said of sessions that many rows are false of; by what makes them, and what is done with them.
_others: dict[tuple[Maker, Kept, Callable[[Session], str]], str] = {}


def as_made(session: Session) -> Session:
    """Gives a session as it is."""
    return session


@dataclass(frozen=True)
class Row:
    """One sentence.

    Attributes:
        sentence: Words of it that it always has.
        true: Makes a session of which it is true.
        words: Gives from the session's raw tables what is said, with figures.
        false: Makes one of which it is false.
        kept: What becomes of both sessions before anything is said, such as a loss of single calls.
        kept_false: What becomes of the second one, if it is something else.
    """

    sentence: str
    true: Maker
    words: Words
    false: Maker
    kept: Kept = as_made
    kept_false: Kept | None = None


def texts_in(value: Any) -> set[str]:
    """Gives the texts within data."""
    if isinstance(value, str):
        return {value}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return set().union(*(texts_in(getattr(value, name)) for name in vars(value)), set())
    if isinstance(value, dict):
        return set().union(*map(texts_in, value.values()), set())
    return set().union(*map(texts_in, value), set()) if isinstance(value, (list, tuple)) else set()


def diagnosed(session: Session) -> str:
    """Gives all that is said of a session's findings."""
    return "\n".join(sorted(texts_in(diagnose(session))))


def check_said(row: Row, folder: Path, said: Callable[[Session], str] = diagnosed) -> None:
    """Asserts that it is said where it is true, with the figures of the raw tables, and nowhere else."""
    # GIVEN a session, and what its tables say
    session = row.true(folder / "true")
    words = row.words(raw(session))
    words = [words] if isinstance(words, str) else words

    # WHEN
    text = said(row.kept(session))
    other = _said_of_other(row, folder / "false", said)

    # THEN
    assert [part for part in words if part not in text] == [], text
    assert row.sentence in text, text
    assert row.sentence not in other, other


def _said_of_other(row: Row, folder: Path, said: Callable[[Session], str]) -> str:
    """Gives what is said of the session that a row is false of."""
    kept = row.kept_false or row.kept
    key = (row.false, kept, said)
    if key not in _others:
        _others[key] = said(kept(row.false(folder)))
    return _others[key]
