"""Decompresses a region of a Darshan log piece by piece, so that a reader can stop at any byte of it."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from tfdarshan.formats import darshan_format

# Bytes that are decompressed, and compressed ones that are given to a stream, at a time. Fewer are given: a
# few may expand to many pieces, and bz2 does not tell how many it has used.
PIECE, GIVEN = 1 << 20, 1 << 14
STREAMS: dict[int, Callable[[], Any]] = {
    darshan_format.ZLIB: zlib.decompressobj,
    darshan_format.BZIP2: bz2.BZ2Decompressor,
}


def decompressed(region: bytes, compression: int) -> Iterator[tuple[bytes, int]]:
    """Yield the content of a region: each process of a job may have written a stream of its own.

    Args:
        region: The compressed bytes.
        compression: The number of the compression, from the log's header.

    Yields:
        PIECE bytes, the last time fewer, and how many bytes of the region were taken so far; what is not
        compressed all at once.

    Raises:
        zlib.error, OSError, EOFError: The region is damaged.
        ValueError: No compression has this number.
    """
    if compression == darshan_format.UNCOMPRESSED:
        yield region, len(region)
        return
    if compression not in STREAMS:
        raise ValueError(f"no compression has the number {compression}")
    stream, given, place, piece = None, b"", 0, bytearray()
    while stream is not None or given or place < len(region):
        if stream is None:
            stream = STREAMS[compression]()
        if not given and getattr(stream, "needs_input", True):
            given = region[place : place + GIVEN]
            place += len(given)
        had = len(given)
        more = stream.decompress(given, PIECE - len(piece))
        given = stream.unused_data if stream.eof else getattr(stream, "unconsumed_tail", b"")
        if stream.eof:
            stream = None
        elif not more and not had and place == len(region):
            raise EOFError("a stream does not end")
        piece += more
        if len(piece) == PIECE:
            yield bytes(piece), place - len(given)
            piece.clear()
    yield bytes(piece), place
