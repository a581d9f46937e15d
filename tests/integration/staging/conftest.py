"""A slow folder with files, an empty fast one, and the proof that staging leaves originals alone."""

import pytest

from tests.integration.staging.tree import make_files, snapshot

COUNT = 30


@pytest.fixture
def slow(tmp_path):
    make_files(tmp_path / "slow", COUNT)
    return tmp_path / "slow"


@pytest.fixture
def fast(tmp_path):
    (tmp_path / "fast").mkdir()
    return tmp_path / "fast"


@pytest.fixture
def originals_untouched(request):
    """Prove that staging wrote, moved and deleted no original; tests that do so themselves say it."""
    if "slow" not in request.fixturenames:
        yield
        return
    slow = request.getfixturevalue("slow")
    before = snapshot(slow)
    yield
    if "changes_originals" not in request.keywords:
        assert snapshot(slow) == before
