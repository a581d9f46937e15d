"""A golden file: compared with what is said now, or written anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).parent

# Asserts that a golden file has these texts, each under its title.
Golden = Callable[[str, Mapping[str, str]], None]


def assert_golden(name: str, text: str, config: pytest.Config) -> None:
    """Assert that a golden file has a text; with the option --golden, write it first."""
    path = HERE / name
    if config.getoption("--golden"):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path} is missing: the option --golden writes it"
    assert text == path.read_text(encoding="utf-8"), f"{path} has other words: --golden writes it anew"


def titled(texts: Mapping[str, str]) -> str:
    """Return one text of several, each under its title."""
    return "\n".join(f"# {title}\n{text.rstrip()}\n" for title, text in texts.items())


def besides_first(texts: Mapping[str, str]) -> dict[str, str]:
    """Return texts, of all but the first only the lines that the first one does not have."""
    first, *others = texts
    had = set(texts[first].splitlines())
    lines = {name: [line for line in texts[name].splitlines() if line not in had] for name in others}
    return {first: texts[first]} | {name: "\n".join(own) for name, own in lines.items()}
