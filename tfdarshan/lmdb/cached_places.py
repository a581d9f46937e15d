"""Which places of a data file are in the page cache, without reading any."""

from __future__ import annotations

from tfdarshan.native.lmdb_file import cached_pages
from tfdarshan.native.residency import PAGE, is_resident


def are_cached(handle: int, places: list[int], length: int = PAGE) -> list[bool] | None:
    """Return for each place whether any byte there is in the page cache; None if the kernel does not say.

    Args:
        handle: A descriptor that may read the file.
        places: Where, in bytes: multiples of the page size.
        length: How many bytes at each.
    """
    # The first page was read when the file was opened: where that shows, so does the rest.
    pages = cached_pages(handle, [0, *places], length)
    if pages is not None and pages[0]:
        return [count > 0 for count in pages[1:]]
    found = [is_resident(handle, place, length) for place in places]
    return None if None in found else list(map(bool, found))
