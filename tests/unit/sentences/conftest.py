"""The sessions of the table, for all tests of sentences."""

from __future__ import annotations

import pytest

from tests.unit.sentences.shown_sessions import ShownSessions


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> ShownSessions:
    """Gives the sessions of the table, which no test changes, and what is said of them."""
    return ShownSessions(tmp_path_factory.mktemp("shown"))
