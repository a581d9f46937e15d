"""Files of made-up sessions need not outlive a power cut: waiting for the disk is most of writing them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from tfdarshan.durable.file_operations import Storage


@contextmanager
def undurable() -> Iterator[None]:
    """Write files without waiting until the disk has them."""
    with mock.patch.object(Storage, "sync", return_value=None):
        yield
