"""Databases that py-lmdb reads and does not write: of other page sizes, with values far behind in them."""

import struct

PAGE = 4096
BRANCH, LEAF, OVERFLOW, META = 1, 2, 4, 8
META_MAP_BYTES, META_PAGE_BYTES, META_LAST_PAGE = 32, 40, 136
BIG = 1


def field(content, at, kind):
    return struct.unpack_from(f"<{kind}", content, at)[0]


def pages(content):
    """Yield number, flags and how many pages it is long of each page, in order."""
    number = 0
    while number * PAGE < len(content):
        flags = field(content, number * PAGE + 10, "H")
        length = field(content, number * PAGE + 12, "I") if flags & OVERFLOW else 1
        yield number, flags, length
        number += max(length, 1)


def with_page_bytes(content, page_bytes):
    """A database of pages that are larger, each with room left: as if written on a machine of such pages.

    The database must be new: pages that are free hold what was there before.
    """
    scaled = bytearray(len(content) // PAGE * page_bytes)
    for number, flags, length in pages(content):
        at, to = number * PAGE, number * page_bytes
        scaled[to : to + length * PAGE] = content[at : at + length * PAGE]
        if flags & META:
            struct.pack_into("<I", scaled, to + META_PAGE_BYTES, page_bytes)
            map_bytes = field(content, at + META_MAP_BYTES, "Q")
            struct.pack_into("<Q", scaled, to + META_MAP_BYTES, map_bytes * page_bytes // PAGE)
    return bytes(scaled)


def leaf_nodes(content, page):
    """Yield where each node of a leaf page begins."""
    at = page * PAGE
    for slot in range((field(content, at + 12, "H") - 16) // 2):
        yield at + field(content, at + 16 + 2 * slot, "H")


def move_values_behind(path, first_page):
    """Move values in pages of their own to page `first_page` and its multiples, with holes between."""
    content = bytearray(path.read_bytes())
    moved: dict[int, int] = {}
    for number, flags, _ in list(pages(content)):
        if flags & LEAF:
            for node in leaf_nodes(content, number):
                if field(content, node + 4, "H") & BIG:
                    value = node + 8 + field(content, node + 6, "H")
                    moved[field(content, value, "Q")] = first_page * (len(moved) + 1)
                    struct.pack_into("<Q", content, value, first_page * len(moved))
    ends = max(moved.values()) + 1000
    for meta in (0, PAGE):
        struct.pack_into("<Q", content, meta + META_LAST_PAGE, ends - 1)
        struct.pack_into("<Q", content, meta + META_MAP_BYTES, ends * PAGE)
    with path.open("r+b") as file:
        file.truncate(ends * PAGE)
        for old, new in moved.items():
            run = bytearray(content[old * PAGE : (old + field(content, old * PAGE + 12, "I")) * PAGE])
            struct.pack_into("<Q", run, 0, new)
            file.seek(new * PAGE)
            file.write(run)
            content[old * PAGE : old * PAGE + len(run)] = bytes(len(run))
        file.seek(0)
        file.write(content)
    return len(moved)
