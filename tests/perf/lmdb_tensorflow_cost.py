"""LMDB in tf.data: tfdarshan's op, py-lmdb in a generator, and tensorflow-io's data set."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.perf import progress
from tests.perf.lmdb_cost import SMALL_BYTES, SMALL_RECORDS, on_each_storage
from tests.perf.row import Row, quartiles
from tfdarshan.workloads.cache_clearing import drop_from_cache

GROUP = "LMDB in tf.data: MB/s, and by py-lmdb in a generator"
PEER = "tensorflow-io"
PROBE = Path(__file__).with_name("tensorflow_io_probe.py")
SMALL_MEGABYTES = SMALL_RECORDS * SMALL_BYTES // 1_000_000 // 2
LONGEST_S = 1800


def lmdb_tensorflow_cost(
    folder: Path, *, runs: int, megabytes: int, kinds: Sequence[str]
) -> tuple[list[Row], list[str]]:
    """Return the rows, and a sentence for each thing left out."""

    def measured(storage: str, shown: Path, stored: Path) -> Iterator[Row]:
        yield from _case(f"{storage}, 110 KB", shown / "large", stored / "large", runs, megabytes)
        yield from _case(
            f"{storage}, 110 KB, random", shown / "large", None, runs, megabytes, "--shuffle", "exact"
        )
        if storage == "cached":
            yield from _case(f"{storage}, 1 KB", shown / "small", stored / "small", runs, SMALL_MEGABYTES)

    return on_each_storage(folder, megabytes, kinds, measured)


def _case(
    name: str, shown: Path, stored: Path | None, runs: int, megabytes: int, *options: str
) -> Iterator[Row]:
    """Yield rows of one database.

    tensorflow-io reads in order alone: it has a row where `stored` says what lies below.
    """
    progress.show(f"LMDB in tf.data: {name}")
    is_cold = not name.startswith("cached")
    command = [sys.executable, "-m", "tfdarshan", "lmdb", "bench", str(shown), "--tensorflow", "--json"]
    command += ["--runs", str(runs), "--bytes", f"{megabytes}M", *options, *(["--cold"] if is_cold else [])]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LONGEST_S)
    readers = json.loads(ran.stdout)["readers"]
    base = _speeds(readers[-1]["runs"])
    for reader in readers[:-1]:
        what = reader["reader"].rsplit(", ", 1)[-1]
        yield _row(f"{name}, {what}", "tfdarshan.lmdb", _speeds(reader["runs"]), base)
    if stored is not None:
        yield _peer_row(name, shown, stored, is_cold, len(base), megabytes, base)


def _speeds(runs: list[dict[str, Any]]) -> list[float]:
    return [run["value_bytes"] / 1e6 / run["elapsed_s"] for run in runs]


def _row(name: str, subject: str, speeds: list[float], base: list[float], note: str = "") -> Row:
    low, high = quartiles(speeds)
    ratio = statistics.median(own / other for own, other in zip(speeds, base, strict=True))
    middle, other = statistics.median(speeds), statistics.median(base)
    note = f"{ratio:.2g}x{note}"
    return Row(GROUP, name, subject, "MB/s", middle, low, high, len(speeds), other, note=note)


def _peer_row(
    name: str, shown: Path, stored: Path, is_cold: bool, runs: int, megabytes: int, base: list[float]
) -> Row:
    """Return the row of tensorflow-io, or one that says why there are no figures."""
    python = os.environ.get("TENSORFLOW_IO_PYTHON", "")
    name = f"{name}, {PEER}"
    if not python:
        return _without_figures(name, "TENSORFLOW_IO_PYTHON names no Python that has it")
    found: list[dict[str, Any]] = []
    # As the others: what is cached by one process that goes on, what is not by one each.
    at_once = 1 if is_cold else runs
    for _ in range(runs // at_once):
        if is_cold:
            drop_from_cache([shown / "data.mdb", stored / "data.mdb"])
        command = [python, str(PROBE), str(shown / "data.mdb"), str(megabytes * 1_000_000), str(at_once)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S)
        if ran.returncode:
            return _without_figures(name, (ran.stderr.strip().splitlines() or ["it ended"])[-1])
        found += map(json.loads, ran.stdout.splitlines()[-at_once:])
    return _row(name, PEER, _speeds(found), base, f", {found[0]['versions']}")


def _without_figures(name: str, why: str) -> Row:
    return Row(GROUP, name, PEER, "MB/s", 0, 0, 0, 0, note=f"left out: {why[:160]}")
