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


# Not wrapper=True, for which older pytests have no word: this is loaded into all of them.
@pytest.hookimpl(hookwrapper=True)  # type: ignore[untyped-decorator]
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, None]:
    """Hold the body of a marked test, without its fixtures, to its budget."""
    marker = item.get_closest_marker("io_budget")
    if marker is None:
        yield
        return
    from tfdarshan.testing import io_budget

    item.runtest = io_budget(*marker.args, **marker.kwargs)(item.runtest)
    try:
        yield
    finally:
        del item.runtest


@pytest.fixture  # type: ignore[untyped-decorator]
def io_budget() -> Any:
    """Return `tfdarshan.testing.io_budget`."""
    from tfdarshan.testing import io_budget as budget

    return budget
