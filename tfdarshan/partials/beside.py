"""Work beside the caller: by one thread, or by the caller if this user may have no more threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

Wait = Callable[[], Any]
Submit = Callable[..., Wait]


@contextmanager
def one_thread_beside() -> Iterator[Submit]:
    """Yield a function that begins `function(*arguments)` and returns what waits for its result."""
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(int).result()
        except RuntimeError:  # `ulimit -u`
            yield _at_once
        else:
            yield lambda function, *arguments: pool.submit(function, *arguments).result


def _at_once(function: Callable[..., Any], *arguments: Any) -> Wait:
    result = function(*arguments)
    return lambda: result
