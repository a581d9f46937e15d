"""Tiers with made-up files for the tests of this folder."""

import pytest

from tests.unit.checkpoint.made_up_tiers import Tiers


@pytest.fixture
def tiers(tmp_path):
    made = Tiers(tmp_path)
    yield made
    made.close()
