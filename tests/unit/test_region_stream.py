"""Regions come back whole, of one stream or many, and a region that is cut off does not pass for one."""

import bz2
import itertools
import zlib

import numpy as np
import pytest

from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.region_stream import PIECE, decompressed

PACK = {darshan_format.ZLIB: zlib.compress, darshan_format.BZIP2: bz2.compress}
NOISE = np.random.default_rng(1).bytes(1000)
# Of several pieces and streams, one of which is empty and one of which expands much.
PARTS = (NOISE, b"", bytes(2 * PIECE + 1), NOISE * 100, *(NOISE[n : n + 1] for n in range(1000)))


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("streams", [1, len(PARTS)])
def test_all_of_a_region_comes_in_pieces(compression, streams):
    # GIVEN
    parts = [b"".join(PARTS)] if streams == 1 else PARTS
    packed = [PACK[compression](part) for part in parts]
    region = b"".join(packed)

    # WHEN
    pieces, taken = zip(*decompressed(region, compression), strict=True)

    # THEN
    assert b"".join(pieces) == b"".join(PARTS)
    assert {len(piece) for piece in pieces[:-1]} == {PIECE}
    assert all(before <= after for before, after in itertools.pairwise(taken))
    assert taken[-1] == len(region)


@pytest.mark.parametrize("compression", PACK)
def test_a_region_that_is_cut_off_ends_with_an_error(compression):
    region = PACK[compression](NOISE)

    for kept in range(1, len(region)):
        with pytest.raises(EOFError):
            list(decompressed(region[:kept], compression))


@pytest.mark.parametrize("compression", PACK)
def test_no_other_bytes_may_follow(compression):
    with pytest.raises((zlib.error, OSError)):
        list(decompressed(PACK[compression](NOISE) + b"no stream at all", compression))


def test_what_is_not_compressed_comes_at_once():
    assert list(decompressed(NOISE, darshan_format.UNCOMPRESSED)) == [(NOISE, len(NOISE))]


def test_a_compression_without_a_name_is_an_error():
    with pytest.raises(ValueError, match="no compression has the number 9"):
        list(decompressed(NOISE, 9))
