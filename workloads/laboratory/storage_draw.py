"""Draws a storage: its medium, what limits it, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tfdarshan.storage_model import find_model

from .dice import Dice
from .storage_kind import EMULATED, Medium, StorageKind

Model = dict[str, float | str]
NO_PAGE_CACHE = 0.3  # of the FUSE draws
COPIED = ("open_s", "read_s", "write_s", "empty_read_s", "stat_s", "sync_s", "concurrency", "seek_s")


def storage_names(medium: Medium, *, one_by_one: bool) -> tuple[str, ...]:
    """Return the kinds of a medium.

    Args:
        medium: One of `MEDIA`.
        one_by_one: Samples are files of their own, so that one of them may be slow.
    """
    if medium == "emulated":
        return EMULATED
    if medium == "ext4":
        return ("bandwidth", "operations")
    return tuple(name for name in FUSE_KINDS if one_by_one or name != "slow file")


def draw_storage(dice: Dice, medium: Medium, name: str) -> StorageKind:
    """Return a storage of that kind."""
    if medium == "emulated":
        return _emulated(name)
    words, model = KINDS[name](dice)
    if medium == "ext4":
        return StorageKind(medium, name, f"ext4 of {words}", model)
    if name != "server cache" and dice.happens(NO_PAGE_CACHE):
        model["page_cache"] = 0
        words += ", no page cache"
    return StorageKind(medium, name, f"FUSE, {words}", model)


def _emulated(name: str) -> StorageKind:
    known = find_model(name)
    model: Model = {word: getattr(known, word) for word in COPIED}
    model["bandwidth"] = known.read_bandwidth
    return StorageKind("emulated", name, f"emulated {name}", model, as_if=name)


def _latency(dice: Dice) -> tuple[str, Model]:
    read_s, at_a_time = dice.between(50e-6, 40e-3), dice.whole(1, 64)
    model: Model = {
        "read_s": read_s,
        "open_s": read_s * dice.between(0.1, 2),
        "empty_read_s": read_s * dice.evenly(0.5, 1),
        "stat_s": read_s * dice.between(0.1, 1) * dice.choice((0, 1)),
        "write_s": read_s * dice.between(0.3, 3),
        "sync_s": read_s * dice.between(1, 5),
        "concurrency": at_a_time,
    }
    return f"{_milliseconds(read_s)} a read, {at_a_time} at a time", model


def _bandwidth(dice: Dice) -> tuple[str, Model]:
    rate = dice.between(10e6, 2e9)
    return f"{_megabytes(rate)}/s", {"bandwidth": rate}


def _bucket(dice: Dice) -> tuple[str, Model]:
    rate, burst = dice.between(10e6, 500e6), dice.between(1e6, 100e6)
    words = f"a bucket of {_megabytes(rate)}/s, bursts of {_megabytes(burst)}"
    return words, {"bucket_rate": rate, "bucket_burst": burst}


def _operations(dice: Dice) -> tuple[str, Model]:
    calls = dice.whole(80, 5000)
    return f"{calls} calls/s", {"operations_per_s": calls}


def _seek(dice: Dice) -> tuple[str, Model]:
    seek_s, rate = dice.between(1e-3, 20e-3), dice.between(40e6, 400e6)
    return f"seeks of {_milliseconds(seek_s)}, {_megabytes(rate)}/s", {"seek_s": seek_s, "bandwidth": rate}


def _quick(dice: Dice) -> Model:
    read_s = dice.between(2e-4, 4e-3)
    return {"open_s": read_s * dice.between(0.1, 2), "read_s": read_s}


def _periodic(dice: Dice) -> tuple[str, Model]:
    model, times = _quick(dice), dice.between(4, 40)
    every_s = dice.between(0.3, 3)
    for_s = every_s * dice.evenly(0.15, 0.55)
    slow = f"{times:g} times slower for {for_s * 1000:.0f} ms of each {every_s:g} s"
    model |= {"slow_for_s": for_s, "slow_every_s": every_s, "slow_times": times}
    return f"{_milliseconds(float(model['read_s']))} a read, {slow}", model


def _slow_mount(dice: Dice) -> tuple[str, Model]:
    model, times = _quick(dice), dice.between(5, 60)
    model |= {"path_times": times, "slow_path": "/part-3/"}
    return f"{_milliseconds(float(model['read_s']))} a read, one folder of 8 {times:g} times slower", model


def _slow_file(dice: Dice) -> tuple[str, Model]:
    model, times = _quick(dice), dice.between(50, 1000)
    model |= {"path_times": times, "slow_path": "/part-3/00003."}
    return f"{_milliseconds(float(model['read_s']))} a read, one file {times:g} times slower", model


def _server_cache(dice: Dice) -> tuple[str, Model]:
    words, model = _latency(dice)
    held = dice.between(4e6, 300e6)
    return f"{words}, {_megabytes(held)} of cache in the server", model | {
        "page_cache": 0,
        "server_cache": held,
    }


def _mixture(dice: Dice) -> tuple[str, Model]:
    (words, model), (more, rate) = _latency(dice), _bandwidth(dice)
    return f"{words}, {more}", model | rate


def _fast(dice: Dice) -> tuple[str, Model]:
    read_s = dice.between(5e-6, 50e-6)
    return f"{read_s * 1e6:g} us a read", {"read_s": read_s}


KINDS: Mapping[str, Callable[[Dice], tuple[str, Model]]] = {
    "latency": _latency,
    "bandwidth": _bandwidth,
    "bucket": _bucket,
    "operations": _operations,
    "seek": _seek,
    "periodic": _periodic,
    "slow mount": _slow_mount,
    "slow file": _slow_file,
    "server cache": _server_cache,
    "mixture": _mixture,
    "fast": _fast,
}
FUSE_KINDS = tuple(KINDS)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"


def _megabytes(count: float) -> str:
    return f"{count / 1e6:.3g} MB"
