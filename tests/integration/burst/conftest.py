"""Checkpoints with known values for the crash tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.burst.checkpoint_pool import make_pool


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of real TensorFlow checkpoints of several shards."""
    folder = tmp_path_factory.mktemp("pool")
    make_pool(folder)
    return folder
