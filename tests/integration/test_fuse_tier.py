"""Tiers that a FUSE server of our own plays: calls and page faults alike reach the storage."""

from __future__ import annotations

import dataclasses
import mmap
import os

import pytest

from tfdarshan.errors import ConfigurationError
from tfdarshan.storage_model import HDD, LUSTRE, SSD
from tfdarshan.workloads.cache_clearing import drop_from_cache, drops_here
from tfdarshan.workloads.fuse_mount import check_fuse
from tfdarshan.workloads.lmdbio.arm import COAL, DIO, OURS
from tfdarshan.workloads.lmdbio.caffe_records import CIFAR10, make_database
from tfdarshan.workloads.lmdbio.reader_team import read_all
from tfdarshan.workloads.place import DATA, FUSE
from tfdarshan.workloads.throttled_device import TIERS, clean_tiers
from tfdarshan.workloads.tiers import fuse_model, open_tier

SIZE = 4 << 20
# The most that the kernel asks a FUSE server for at a time, with any version of it.
LARGEST_REQUEST = 1 << 20


@pytest.fixture(scope="module")
def tier(tmp_path_factory):
    """Lustre, as a FUSE server plays it; skipped where there is none. The last test here unmounts it."""
    try:
        check_fuse()
    except ConfigurationError as error:
        pytest.skip(str(error))
    with open_tier(LUSTRE.name, tmp_path_factory.mktemp("runs"), backend=FUSE) as place:
        yield place


def test_mapped_reads_reach_the_storage_and_cached_ones_do_not(tier):
    # GIVEN a file that was made at full speed
    made = tier.backing / "made.bin"
    made.write_bytes(os.urandom(SIZE))
    shown = tier.shown(made)
    drop_from_cache([shown])
    # WHEN all of it is read through a mapping, twice
    before = tier.requests()
    with shown.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        first = bytes(mapped)
        between = tier.requests()
        again = bytes(mapped)
        after = tier.requests()
    # THEN the first time needs requests, the second none
    assert first == again == made.read_bytes()
    assert between - before >= SIZE // LARGEST_REQUEST
    assert after == between
    # AND it is known that its files can be dropped from the cache
    assert drops_here([shown], tier.fetched)


def test_direct_reads_pass_the_page_cache(tier):
    # GIVEN a file that the page cache has
    made = tier.backing / "made.bin"
    made.write_bytes(os.urandom(SIZE))
    shown = tier.shown(made)
    assert shown.read_bytes() == made.read_bytes()
    # WHEN it is read with O_DIRECT
    buffer, number = mmap.mmap(-1, SIZE), os.open(shown, os.O_RDONLY | os.O_DIRECT)
    before = tier.requests()
    try:
        read = os.preadv(number, [buffer], 0)
    finally:
        os.close(number)
    # THEN the storage gives it once more
    assert tier.requests() - before >= SIZE // LARGEST_REQUEST
    assert (read, buffer[:]) == (SIZE, made.read_bytes())


@pytest.mark.parametrize(
    ("kind", "asks"), [(DIO, True), (COAL, True), (OURS, False)], ids=["DIO", "COAL", "cached"]
)
def test_arms_past_the_page_cache_ask_the_storage_for_what_it_has(tier, kind, asks):
    # GIVEN a database that the page cache has
    pytest.importorskip("lmdb", reason="py-lmdb is not installed")
    made = make_database(tier.backing, CIFAR10, 20, seed=0)
    shown = dataclasses.replace(made, folder=tier.shown(made.folder))
    assert len(shown.path.read_bytes()) == made.size_bytes
    # WHEN
    before = tier.fetched()
    reading = read_all(kind, shown, 2, "threads")
    # THEN its values come from there once more, or not at all
    assert reading.content == made.content
    assert (tier.fetched() - before >= made.content.value_bytes) is asks


def test_nothing_stays_mounted(tier):
    assert os.path.ismount(tier.directory)
    # WHEN what a killed run left behind is taken back
    done = clean_tiers(tier.backing.parent / TIERS)
    # THEN
    assert done == [f"unmounted {tier.directory}"]
    assert not os.path.ismount(tier.directory)
    assert tier.backing.name == DATA


def test_a_model_is_said_in_the_servers_words():
    assert fuse_model(HDD) == {"concurrency": 1, "seek_s": "0.008", "bandwidth": "163000000"}
    assert fuse_model(SSD) == {
        "concurrency": 32, "read_s": "0.0001", "write_s": "0.0001", "bandwidth": "280000000",
    }  # fmt: skip
