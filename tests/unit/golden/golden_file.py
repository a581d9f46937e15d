"""A golden file: compared with what is said now, or written anew."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def assert_golden(name: str, text: str, config: pytest.Config) -> None:
    """Assert that a golden file has a text; with the option --golden, write it first."""
    path = HERE / name
    if config.getoption("--golden"):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path} is missing: pytest {HERE} --golden writes it"
    assert text == path.read_text(encoding="utf-8"), f"{path} has other words: --golden writes it anew"
