"""Tiers: which storage a workload runs on, made ready and measured before use."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import tfdarshan
from tfdarshan.errors import ConfigurationError
from tfdarshan.storage_model import STORAGE_MODELS, StorageModel, find_model
from tfdarshan.units import human_rate

from .cache_clearing import drop_from_cache
from .disk_room import check_room
from .fuse_mount import build_server, check_fuse, described, fuse_mount
from .place import DATA, DEVICE, DIRECTORY, EMULATION, FUSE, Place
from .throttled_device import MOUNT, TIERS, clean_tiers, throttled_device

SHM = "shm"
CACHED = "cached"
DEVICE_BYTES = 4 << 30
PROBE_BYTES = 32 << 20
PROBE_CHUNK_BYTES = 1 << 20
PROBE_FILES = 48
PROBE_FILE_BYTES = 100_000
PROBE_THREADS = 8


@dataclass(frozen=True)
class Speed:
    """What a tier does: one large file in order, and small files by 1 and by 8 threads."""

    sequential: float  # bytes per second
    small_files: float  # files per second
    small_files_threads: float

    def worded(self) -> str:
        """Return it in words."""
        return (
            f"{human_rate(self.sequential, 1)} in order; files of 100 kB a second: "
            f"{self.small_files:,.0f} by 1 thread, {self.small_files_threads:,.0f} by {PROBE_THREADS} threads"
        )


@contextmanager
def open_tier(
    tier: str, work_dir: Path, *, backend: str = EMULATION, capacity_bytes: int = DEVICE_BYTES
) -> Iterator[Place]:
    """Yield a tier that is ready and measured; what was made for it alone is removed at the end.

    Args:
        tier: A storage model's name, "shm", "cached", or a folder.
        work_dir: Where data, devices and results are.
        backend: What plays a storage model: "emulation", "device" or "fuse".
        capacity_bytes: Size of a device.

    Raises:
        ConfigurationError: There is no such tier, or this machine or user cannot have it.
    """
    if is_model(tier):
        opened = {
            DEVICE: lambda: _device(tier, work_dir, capacity_bytes),
            FUSE: lambda: _fuse(tier, work_dir),
            EMULATION: lambda: _emulated(tier, work_dir),
        }[backend]()
    elif tier == SHM:
        opened = _shm()
    elif tier == CACHED:
        opened = _cached(work_dir)
    else:
        opened = _directory(tier)
    with opened as place:
        place.directory.mkdir(parents=True, exist_ok=True)
        yield replace(place, said=f"{place.said}; measured: {measure(place).worded()}")


def is_model(tier: str) -> bool:
    """Return whether a tier is a storage model's name, so that a backend plays it."""
    return tier in [model.name for model in STORAGE_MODELS]


def shm_folder() -> Path:
    """Return the folder of the tier "shm", one for each user."""
    return Path(f"/dev/shm/tfdarshan-workload-{os.getuid()}")


def measure(place: Place) -> Speed:
    """Measure a place with files of its own."""
    check_room(place.directory, PROBE_BYTES + PROBE_FILES * PROBE_FILE_BYTES, "measuring the tier")
    with tempfile.TemporaryDirectory(prefix="probe-", dir=place.directory) as name:
        large, small = Path(name) / "large", [Path(name) / str(number) for number in range(PROBE_FILES)]
        large.write_bytes(os.urandom(PROBE_CHUNK_BYTES) * (PROBE_BYTES // PROBE_CHUNK_BYTES))
        for path in small:
            path.write_bytes(os.urandom(PROBE_FILE_BYTES))
        with tempfile.TemporaryDirectory(prefix="tfdarshan-probe-") as logdir, _emulation(place, logdir):
            sequential = PROBE_BYTES / _timed(place, [large], 1)
            one, many = (PROBE_FILES / _timed(place, small, threads) for threads in (1, PROBE_THREADS))
    return Speed(sequential, one, many)


def _emulation(place: Place, logdir: str) -> tfdarshan.Profile | nullcontext[None]:
    """Emulation goes with a session; this one is thrown away."""
    if place.as_if is None:
        return nullcontext()
    folder = f"{glob.escape(str(place.directory))}/"
    return tfdarshan.profile(logdir, include=[folder], as_if=place.as_if, as_if_paths=[folder])


def _timed(place: Place, paths: list[Path], threads: int) -> float:
    if not place.keeps_cache:
        drop_from_cache(paths)
    place.make_ready()
    start_s = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(_read_whole, paths))
    return time.perf_counter() - start_s


def _read_whole(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while os.read(descriptor, PROBE_CHUNK_BYTES):
            pass
    finally:
        os.close(descriptor)


@contextmanager
def _emulated(tier: str, work_dir: Path) -> Iterator[Place]:
    model = find_model(tier)
    said = f"emulated in the process: {model.about}; no cache; times are the model's"
    yield Place(tier, EMULATION, work_dir.absolute() / DATA, as_if=tier, said=said)


@contextmanager
def _device(tier: str, work_dir: Path, capacity_bytes: int) -> Iterator[Place]:
    bandwidth = int(find_model(tier).read_bandwidth)
    said = (
        f"ext4 on a loop device, limited to {human_rate(bandwidth, 1)} by the block layer, no latency added"
    )
    with throttled_device(work_dir, tier, bandwidth=bandwidth, capacity_bytes=capacity_bytes) as device:
        yield Place(tier, DEVICE, device.mount_point, said=said, make_ready=device.renew_limits)


@contextmanager
def _fuse(tier: str, work_dir: Path) -> Iterator[Place]:
    check_fuse()
    model = fuse_model(find_model(tier))
    backing, folder = work_dir.absolute() / DATA, work_dir.absolute() / TIERS / f"{tier}-fuse"
    backing.mkdir(parents=True, exist_ok=True)
    clean_tiers(folder)
    program = build_server(work_dir.absolute() / TIERS / "server")
    said = f"a FUSE server of our own: {described(model)} (seconds, bytes a second), 128 KiB of read-ahead"
    try:
        with fuse_mount(program, backing, folder / MOUNT, model) as mount:
            yield Place(
                tier, FUSE, mount.mount_point, said=said,
                make_ready=mount.begin, backing=backing, fetched=mount.bytes_given, requests=mount.answered,
            )  # fmt: skip
    finally:
        with suppress(OSError):
            (folder / MOUNT).rmdir()
            folder.rmdir()


def fuse_model(model: StorageModel) -> dict[str, float | str]:
    """Return a model in the FUSE server's words; it has no elevator that shortens seeks."""
    words = {
        "open_s": model.open_s,
        "read_s": model.read_s,
        "empty_read_s": model.empty_read_s,
        "stat_s": model.stat_s,
        "write_s": model.write_s,
        "sync_s": model.sync_s,
        "seek_s": model.seek_s,
        "bandwidth": model.read_bandwidth,
    }
    given = {word: f"{value:.10g}" for word, value in words.items() if value}
    return {"concurrency": model.concurrency, **given}


@contextmanager
def _cached(work_dir: Path) -> Iterator[Place]:
    said = "the work directory, its files in the page cache"
    yield Place(CACHED, DIRECTORY, work_dir.absolute() / DATA, said=said, keeps_cache=True)


@contextmanager
def _shm() -> Iterator[Place]:
    if not Path("/dev/shm").is_dir():
        raise ConfigurationError("there is no /dev/shm here: name a folder on a tmpfs as the tier.")
    try:
        yield Place(SHM, DIRECTORY, shm_folder(), said="/dev/shm, in memory")
    finally:
        shutil.rmtree(shm_folder(), ignore_errors=True)


@contextmanager
def _directory(tier: str) -> Iterator[Place]:
    folder = Path(tier).absolute()
    if not folder.is_dir():
        names = ", ".join(model.name for model in STORAGE_MODELS)
        raise ConfigurationError(
            f"there is no tier {tier!r}: give {names}, {SHM}, {CACHED} or an existing folder."
        )
    yield Place(tier, DIRECTORY, folder / "tfdarshan-workload", said=f"the folder {folder} as it is")
