"""The sessions of the table, for all tests of sentences."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.sentences.shown_sessions import ShownSessions
from tests.unit.sentences.staged_files import staged_files
from tfdarshan.staging.plan_file import Plan


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> ShownSessions:
    """Return the sessions of the table, which no test changes, and what is said of them."""
    return ShownSessions(tmp_path_factory.mktemp("shown"))


@pytest.fixture
def staged(tmp_path: Path) -> tuple[Plan, Path, Path]:
    """Return a plan of six files that is applied, with its two folders."""
    return staged_files(tmp_path)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder whose path is as long in each run, so that lines of golden files break at one word."""
    with tempfile.TemporaryDirectory(prefix="golden-", dir="/tmp") as name:
        yield Path(name)
