"""NumPy's file I/O: half descriptors, half streams on duplicates of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

VALUES = np.arange(300_007, dtype=np.float64)


def save_and_load(directory: Path) -> None:
    np.save(directory / "values.npy", VALUES)
    np.testing.assert_array_equal(np.load(directory / "values.npy"), VALUES)


def prepare_load_memory_map(directory: Path) -> None:
    np.save(directory / "values.npy", VALUES)


def load_memory_map(directory: Path) -> None:
    assert np.load(directory / "values.npy", mmap_mode="r").sum() == VALUES.sum()


def tofile_and_fromfile(directory: Path) -> None:
    VALUES.tofile(directory / "values.bin")
    np.testing.assert_array_equal(np.fromfile(directory / "values.bin"), VALUES)
    VALUES[:100].tofile(directory / "values.txt", sep="\n")
    np.testing.assert_array_equal(np.fromfile(directory / "values.txt", sep="\n"), VALUES[:100])


def npz(directory: Path) -> None:
    np.savez(directory / "plain.npz", one=VALUES, two=VALUES[:1000])
    np.savez_compressed(directory / "packed.npz", one=VALUES, two=VALUES[:1000])
    for name in ("plain.npz", "packed.npz"):
        with np.load(directory / name) as arrays:
            np.testing.assert_array_equal(arrays["one"], VALUES)
            assert len(arrays["two"]) == 1000


def memmap(directory: Path) -> None:
    mapped = np.memmap(directory / "mapped.bin", np.float64, "w+", shape=(100_000,))
    mapped[:] = 1.5
    mapped.flush()
    again = np.memmap(directory / "mapped.bin", np.float64, "r")
    assert again.sum() == 150_000
