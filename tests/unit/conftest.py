"""What all unit tests share."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.unit.golden.golden_file import Golden, assert_golden, titled


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return what asserts that a golden file has these texts, each under its title."""

    def check(name: str, texts: Mapping[str, str]) -> None:
        assert_golden(name, titled(texts), request.config)

    return check
