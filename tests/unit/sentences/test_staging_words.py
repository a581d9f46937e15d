"""What advice, the Staging view, checks and probes say."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.golden.golden_file import Golden, besides_first
from tests.unit.sentences.made_up_advice import ALIKE, CHECK, EVEN, advised
from tests.unit.sentences.rows import texts_in
from tests.unit.sentences.sessions import SESSIONS
from tests.unit.staging.synthetic import FAST, HDD, file_use, malware_like
from tfdarshan.analysis.storage.time_model import fit_time_model
from tfdarshan.reports.text.advice_text import render
from tfdarshan.reports.text.later_epochs_text import later_gain, pays
from tfdarshan.reports.text.probe_text import probe_text
from tfdarshan.reports.text.staging_check_text import render_check
from tfdarshan.reports.views.staging_view import StagingQuery, staging_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import Advice
from tfdarshan.staging.later_epochs import LaterEpochs
from tfdarshan.staging.question import CopyCost
from tfdarshan.storage_probe.depth_scaling import Level, Scaling
from tfdarshan.storage_probe.probe_result import StorageProbe, _why_not
from tfdarshan.storage_probe.prober import Probing
from tfdarshan.storage_probe.slow_places import SlowPlaces

HOT = file_use(np.full(1000, 1_000_000), np.repeat([1000, 1], [20, 980]))
TWICE = file_use(malware_like(500), np.full(500, 2), storage_opens=np.full(500, 2))
CACHED_LATER = file_use(malware_like(500), np.full(500, 4), storage_opens=np.ones(500))
KNEE = file_use(np.full(1000, 1_000_000), np.repeat([50, 1], [100, 900]))
SORTED = np.sort(malware_like(500))
OFTEN = np.where(np.arange(500) < 250, 3, 2)
SMALL_OFTEN, LARGE_OFTEN = file_use(SORTED, OFTEN), file_use(SORTED, OFTEN[::-1])
TMPFS = dataclasses.replace(file_use(malware_like(500), np.ones(500)), in_memory=np.ones(500, bool))
NAMES = ["/data/a.db", "/data/a.db-journal", *(f"/data/{n}" for n in range(498))]
SQLITE = dataclasses.replace(ALIKE, paths=pa.chunked_array([pa.array(NAMES, pa.large_string())]))
ONLY_STATS = dataclasses.replace(ALIKE, stat_s=np.full(500, 1e-3, np.float32))
SLOW_COPY = dataclasses.replace(FAST, write_bytes_per_s=2e5)
SLOWER = dataclasses.replace(FAST, model=dataclasses.replace(FAST.model, base_s=1.0))
HALF = int(ALIKE.size_bytes.sum()) // 2
# 20 of 1,000 files are read 1,000 times, and computing takes half.
HOT_S = float((HOT.opens * (HDD[0] + HOT.size_bytes * HDD[1])).sum())
ADVICE: dict[str, Callable[[], Advice]] = {
    "files alike": lambda: advised(ALIKE),
    "files alike, all of them": lambda: advised(ALIKE, everything=True),
    "files alike, room for half of them": lambda: advised(ALIKE, everything=True, room_bytes=HALF),
    "files alike, room for half": lambda: advised(ALIKE, room_bytes=HALF),
    "files alike, three epochs": lambda: advised(ALIKE, epochs=3),
    "files of one size": lambda: advised(EVEN),
    "files of one size, little room": lambda: advised(EVEN, room_bytes=5_000_000),
    "some files hot": lambda: advised(HOT, other_s=HOT_S / 4),
    "some files hot, all of them": lambda: advised(HOT, everything=True),
    "some files read more often": lambda: advised(KNEE, everything=True),
    "small files read more often": lambda: advised(
        SMALL_OFTEN, everything=True, room_bytes=int(SORTED[:250].sum())
    ),
    "large files read more often": lambda: advised(
        LARGE_OFTEN, everything=True, room_bytes=int(SORTED[:250].sum())
    ),
    "a slower tier": lambda: advised(ALIKE, fast=SLOWER),
    "a slow copy": lambda: advised(ALIKE, fast=SLOW_COPY),
    "a slow copy, three epochs": lambda: advised(ALIKE, fast=SLOW_COPY, epochs=3),
    "files read twice": lambda: advised(TWICE),
    "files cached later": lambda: advised(CACHED_LATER),
    "files in memory": lambda: advised(TMPFS),
    "databases": lambda: advised(SQLITE),
    "files asked about": lambda: advised(ONLY_STATS),
}


def test_advice_says_what_its_job_is_like(golden: Golden):
    golden("advice.txt", besides_first({name: render(make()) for name, make in ADVICE.items()}))


ALL_ALIKE = LaterEpochs(first_s=1.0, later_s=1.0, epochs=2)
FIRST_ONLY = LaterEpochs(first_s=2.0, later_s=0.5, epochs=2)
UNKNOWN = LaterEpochs(first_s=1.0, later_s=None, input_bytes=10**9, memory_bytes=4 * 10**9)
PAID: dict[str, tuple[int | None, int | None, LaterEpochs]] = {
    "at once": (1, 1, ALL_ALIKE),
    "late": (1200, 1200, ALL_ALIKE),
    "never": (None, None, FIRST_ONLY),
    "not known": (None, None, UNKNOWN),
    "not known if kept": (3, None, UNKNOWN),
}


def test_a_copy_is_won_back_when_it_is(golden: Golden):
    won = {name: pays(CopyCost(1.0, epoch, kept), later) for name, (epoch, kept, later) in PAID.items()}
    gains = {"first only": FIRST_ONLY, "unknown": UNKNOWN}

    golden("later_epochs.txt", won | {name: later_gain(later) for name, later in gains.items()})
    assert later_gain(ALL_ALIKE) == ""


RNG = np.random.default_rng(0)
SIZES = RNG.integers(10_000, 10_000_000, 200)
FITS = {
    "few": (SIZES[:5], 1e-3 + SIZES[:5] * 1e-8),
    "one size": (np.full(200, 1_000_000), np.full(200, 1e-3)),
    "less with size": (SIZES, 1 - SIZES * 1e-8),
    "bytes alone": (SIZES, SIZES.astype(float) ** 1.5),
    "poor": (SIZES, 1e-3 + SIZES * 1e-7 + RNG.exponential(1.0, 200)),
    "none": (SIZES[:0], SIZES[:0]),
}


def test_a_fit_says_what_is_wrong_with_it(golden: Golden):
    golden("fits.txt", {name: fit_time_model(*measured).note for name, measured in FITS.items()})
    assert fit_time_model(SIZES, 1e-3 + SIZES * 1e-8).note == ""


CHECKS: dict[str, dict[str, Any]] = {
    "by steps": {"by_steps": True},
    "by reading": {"by_steps": False, "by_reading": True},
    "by sessions": {"by_steps": False, "by_reading": False},
    "few other programs": {"others_share": 0.05},
    "other programs": {"others_share": 0.3},
    "as promised": {"obtained_s": 5.2},
    "shorter than promised": {"obtained_s": 3.0},
    "longer than promised": {"obtained_s": 9.0},
    "one copy read": {"copies_read": 1, "originals_read": 0},
    "an original read": {"copies_read": 4, "originals_read": 1},
    "no copy read": {"copies_read": 0, "originals_read": 5},
}


def test_checks_say_what_their_times_are_of(golden: Golden):
    checks = {name: dataclasses.replace(CHECK, **change) for name, change in CHECKS.items()}

    golden("staging_checks.txt", besides_first({name: render_check(check) for name, check in checks.items()}))


def scaling(size: int, share: float | None, low: float = 0.0, high: float = 1.0) -> Scaling:
    """Return what 1 and 8 readers got: 100 reads a second, and 400."""
    levels = (Level(1, 0.01, 100.0, 100.0 * size), Level(8, 0.02, 400.0, 400.0 * size))
    return Scaling(size, levels, share, low, high)


PROBE = StorageProbe(
    "/data", "/data", "nfs", "node7", 0, 2.5, 10**6, 24, 0, True, True, 1, open_s=0.003, places=SlowPlaces(24)
)
PROBES: dict[str, dict[str, Any]] = {
    "as usual": {},
    "full of operations": {"small": scaling(4096, 0.9, 0.8, 0.99)},
    "waiting for bytes": {"large": scaling(131072, 0.05, 0.01, 0.09)},
    "neither": {"large": scaling(131072, 0.5, 0.2, 0.8)},
    "more readers not shown": {"small": scaling(4096, None)},
    "page cache not known": {"cached_share": None},
    "page cache": {"cached_share": 0.25},
    "idle": {"direct": True, "idle": True},
    "through the page cache": {"direct": False, "idle": False},
    "unreadable files": {"unreadable": 3},
    "slow places not shown": {"places": SlowPlaces(1)},
}
REFUSED = PermissionError(13, "Permission denied")
NOTHING: dict[str, Probing] = {
    "too little to read": Probing(opened=3, moved=1000, seconds=2.0),
    "all cached": Probing(opened=3, cached=5),
    "not to be asked": Probing(blind=2, opened=3),
    "no content": Probing(),
    "not to be read": Probing(unreadable=4, error=REFUSED),
}


def test_probes_say_what_they_measured(golden: Golden):
    texts = {name: probe_text(dataclasses.replace(PROBE, **change)) for name, change in PROBES.items()}

    texts |= {f"nothing: {name}": _why_not(found) for name, found in NOTHING.items()}
    golden("probes.txt", besides_first(texts))


@pytest.mark.parametrize("measured", [True, False])
def test_the_staging_view_says_whether_its_tier_was_measured(measured: bool, tmp_path: Path):
    source = Source(SESSIONS["slow storage"](tmp_path), fast_tier=FAST if measured else None)

    text = "\n".join(texts_in(staging_view(source, StagingQuery())))

    assert ("The fast tier was measured." in text) == measured
    assert ("The fast tier is assumed; advise measures" in text) != measured
