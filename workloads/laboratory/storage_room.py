"""Where a drawn job's data lies: storage that is in the same state before each run."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tfdarshan.errors import ConfigurationError

from ..cache_clearing import drop_from_cache
from ..fuse_mount import build_server, check_fuse, fuse_mount
from ..throttled_device import ThrottledDevice, check_possible, throttled_device
from .data_layout import layout_folder, place_data
from .job import Job
from .program import Folders, Program
from .storage_kind import MEDIA, Medium

UNLIMITED = 10**12
IOPS_LIMITS = ("blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device")
WARMING_THREADS = 16
# Below the fast folder: where a printed burst buffer writes.
BURST = "burst"


class StorageRoom:
    """The folders of one job, below one folder of its own; `pool` keeps what all jobs need."""

    def __init__(self, job: Job, folder: Path, pool: Path) -> None:
        self.job = job
        self.folder = folder
        self.pool = pool
        self.made = folder / "made"
        self.backing = folder / "backing"
        self.slow = folder / "slow" if job.storage.medium == "fuse" else self.backing
        self.device: ThrottledDevice | None = None
        self._stack = ExitStack()

    def __enter__(self) -> StorageRoom:
        if self.job.storage.medium == "ext4":
            program = self.job.program(Path("/"))
            room_bytes = 3 * program.count * self.job.size_bytes + program.saved_bytes + (1 << 30)
            work = self.folder / "device"
            self.device = self._stack.enter_context(
                throttled_device(work, "laboratory", bandwidth=UNLIMITED, capacity_bytes=room_bytes)
            )
            self.slow = self.backing = self.device.mount_point
            self._stack.callback(self._limit_operations, 0)
        for folder in (self.backing, self.slow, self.folder / "fast"):
            folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_problem: object) -> None:
        self._stack.close()

    @property
    def folders(self) -> Folders:
        fast = self.folder / "fast"
        return Folders(
            data=self.slow / "data", out=self.slow / "out", fast=fast / "data", fast_out=fast / "out"
        )

    def place(self, program: Program) -> None:
        """Put the data that a program reads onto the slow storage, and onto the fast one."""
        layouts = [(program.layout, program.folder, program.count)]
        if program.extra == "validation":
            layouts.append(("validation", "validation", self.job.validation_count))
        for layout, name, count in layouts:
            made = layout_folder(
                self.made, layout, count, program.size_bytes, spread=self.job.spread, shards=program.shards
            )
            place_data(made, self.backing / "data" / name, link=self.device is None)
            place_data(made, self.folder / "fast" / "data" / name, link=True)

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Have the storage as the draw says for one run: nothing cached, or all of it."""
        for out in (self.backing / "out", self.folder / "fast" / "out", self.folder / "fast" / BURST):
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir(parents=True)
        data = [path for path in (self.backing / "data").rglob("*") if path.is_file()]
        with ExitStack() as stack:
            if self.device is not None:
                self._ready_device(data)
                stack.callback(self._set_limits, UNLIMITED, 0)
            elif self.job.storage.medium == "fuse":
                _read_all(data)
                program_file = build_server(self.pool / "server")
                mount = stack.enter_context(
                    fuse_mount(program_file, self.backing, self.slow, self.job.storage.model)
                )
                if self.job.warm:
                    _read_all([self.slow / path.relative_to(self.backing) for path in data])
                mount.begin()
            else:
                _read_all(data)
            _read_all([path for path in (self.folder / "fast").rglob("*") if path.is_file()])
            yield

    def _ready_device(self, data: list[Path]) -> None:
        self._set_limits(UNLIMITED, 0)
        os.sync()
        drop_from_cache(data)
        if self.job.warm:
            _read_all(data)
        storage = self.job.storage
        self._set_limits(
            int(storage.number("bandwidth")) or UNLIMITED, int(storage.number("operations_per_s"))
        )

    def _set_limits(self, bandwidth: int, operations_per_s: int) -> None:
        assert self.device is not None
        dataclasses.replace(self.device, bandwidth=bandwidth).renew_limits()
        self._limit_operations(operations_per_s)

    def _limit_operations(self, operations_per_s: int) -> None:
        assert self.device is not None
        for name in IOPS_LIMITS:
            (self.device.blkio / name).write_text(
                f"{self.device.number} {operations_per_s}\n", encoding="ascii"
            )


def check_medium(medium: Medium) -> None:
    """Return where storage of that medium can be had.

    Raises:
        ConfigurationError: It cannot, and why.
    """
    if medium == "fuse":
        check_fuse()
    elif medium == "ext4":
        check_possible()


def media_here() -> tuple[list[Medium], list[str]]:
    """Return the media that this machine has, and sentences on those it lacks."""
    there: list[Medium] = []
    lacking = []
    for medium in MEDIA:
        try:
            check_medium(medium)
            there.append(medium)
        except ConfigurationError as error:
            lacking.append(f"jobs on {medium} are left out: {error}")
    return there, lacking


def _read_all(paths: list[Path]) -> None:
    with ThreadPoolExecutor(WARMING_THREADS) as readers:
        for _ in readers.map(lambda path: len(path.read_bytes()), paths):
            pass
