"""A small real job, recorded: images read by threads for two epochs, two checkpoints through stdio."""

from __future__ import annotations

import functools
import os
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tfdarshan

FILES, EPOCHS, THREADS, SAVES = 300, 2, 4, 2
CHECKPOINT_BYTES = 4 << 20


@dataclass(frozen=True)
class Job:
    """What the job did: `sizes` by path of the files read."""

    session: tfdarshan.Session
    sizes: dict[str, int]

    @property
    def bytes_read(self) -> int:
        return EPOCHS * sum(self.sizes.values())


def record_job(logdir: Path, data: Path, *, files: int = FILES, seed: int = 0) -> Job:
    """Read files whole with THREADS threads, as tf.io.read_file would, EPOCHS times; save after each."""
    _rehearse()
    sizes = _write_files(data, files, seed)
    weights = np.zeros(CHECKPOINT_BYTES, np.uint8)
    (data / "checkpoints").mkdir()
    path = _record(logdir, data, sizes, weights, pause_s=0.6)
    return Job(tfdarshan.open_session(path), sizes)


def _record(logdir: Path, data: Path, paths: Iterable[str], weights: np.ndarray, pause_s: float) -> Path:
    with tfdarshan.profile(logdir, spool_dir=data) as recorded, ThreadPoolExecutor(THREADS) as pool:
        for epoch in range(EPOCHS):
            list(pool.map(_read_whole, paths))
            weights.tofile(data / "checkpoints" / f"model-{epoch + 1}.weights")
            time.sleep(pause_s)
    return recorded.path


@functools.cache
def _rehearse() -> None:
    """Run the code once: what counts lines here asks for the folders of code that it sees first."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "checkpoints").mkdir()
        (folder / "file").write_bytes(b"x")
        _record(folder / "logs", folder, [str(folder / "file")], np.zeros(1, np.uint8), pause_s=0)


def _write_files(data: Path, files: int, seed: int) -> dict[str, int]:
    rng = np.random.default_rng(seed)
    sizes = {}
    for number in range(files):
        folder = data / "images" / f"class-{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        size = int(np.exp(rng.normal(11.2, 0.6)))
        (folder / f"{number:04}.jpg").write_bytes(bytes(size))
        sizes[str(folder / f"{number:04}.jpg")] = size
    return sizes


def _read_whole(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    offset = 0
    while moved := len(os.pread(handle, 1 << 20, offset)):
        offset += moved
    os.close(handle)
