"""What pytest loads of tfdarshan: the marker and the fixture `io_budget`.

It is imported at the start of every pytest run where tfdarshan is installed, so it imports pytest alone.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

MARKER = (
    "io_budget(limits, options): fail the test where its body does more file I/O than this, such as "
    "io_budget(opens=100, bytes_read='10MB'); see tfdarshan.testing.io_budget"
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(wrapper=True)  # type: ignore[untyped-decorator]
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hold the body of a marked test, without its fixtures, to its budget."""
    marker = item.get_closest_marker("io_budget")
    if marker is None:
        return (yield)
    from tfdarshan.testing import io_budget

    with io_budget(**marker.kwargs):
        return (yield)


@pytest.fixture  # type: ignore[untyped-decorator]
def io_budget() -> Any:
    """Return `tfdarshan.testing.io_budget`."""
    from tfdarshan.testing import io_budget as budget

    return budget
