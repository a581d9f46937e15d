"""Advises on a synthetic session of many files, and says how long that took and how much memory."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from tests.perf.peak_memory import peak_mib
from tests.synthetic_session import SyntheticRun, write_session
from tfdarshan.analysis.storage.time_model import TimeModel
from tfdarshan.session import open_session
from tfdarshan.staging.advice import decide
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.question import Question

FILES_PER_FOLDER = 1_000
FAST = TierProbe(TimeModel(20e-6, 1 / 2e9, 50, 1.0), 1e9, True, "assumed")


def write_many(directory: Path, files: int) -> None:
    """Write a session of `files` files of ImageNet-like sizes, read with Zipf-like frequencies."""
    random = np.random.default_rng(1)
    size = (110_000 * np.exp(0.6 * random.standard_normal(files))).astype(np.int64)
    opens = np.minimum(random.zipf(2.0, files), 1_000)
    read_s = opens * (3e-3 + size / 1e9) * np.exp(0.2 * random.standard_normal(files))

    def counters(first: int, last: int) -> dict[str, object]:
        rows = slice(first, last)
        return {
            "size_bytes": size[rows],
            "POSIX_OPENS": opens[rows],
            "POSIX_READS": 2 * opens[rows],
            "TFD_ZERO_READS": opens[rows],
            "POSIX_BYTES_READ": opens[rows] * size[rows],
            "POSIX_F_READ_TIME": read_s[rows],
            "POSIX_F_META_TIME": opens[rows] * 2e-3,
            "POSIX_F_OPEN_START_TIMESTAMP": np.arange(first, last) / 1e3,
            "POSIX_F_READ_END_TIMESTAMP": np.arange(first, last) / 1e3 + 1,
        }

    def paths(first: int, last: int) -> list[str]:
        return [f"/data/train/{i // FILES_PER_FOLDER:06}/{i:08}.jpeg" for i in range(first, last)]

    thread_s = float(read_s.sum() + opens.sum() * 2e-3)
    run = SyntheticRun(duration_s=thread_s / 16, io_s=thread_s / 16, thread_s=thread_s, readers=16)
    write_session(directory, run, files, paths, counters)


def advise(directory: Path, unit: str) -> dict[str, object]:
    """Advise with room for a quarter of the bytes; return seconds, peak memory and what was chosen."""
    before = time.perf_counter()
    session = open_session(directory)
    room = int(session.processes[0].meta["counts"]["files"] * 130_000 * 0.25)
    decision = decide([session], Question(fast="/fast", room_bytes=room, unit=unit), FAST)
    seconds = time.perf_counter() - before
    used = resource.getrusage(resource.RUSAGE_SELF)
    advice = decision.advice
    return {
        "seconds": seconds,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_bytes": round(peak_mib() * (1 << 20)),
        "files": advice.files,
        "unit": advice.unit,
        "chosen": advice.chosen.files,
        "gain": advice.chosen.expected.gain,
        "bound_share": advice.chosen.saved_thread_s / advice.best_possible_s,
    }


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write_many(Path(sys.argv[2]), int(sys.argv[3]))
        print(json.dumps({"files": int(sys.argv[3])}))
    else:
        print(json.dumps(advise(Path(sys.argv[2]), sys.argv[3])))
