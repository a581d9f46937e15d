"""What advice, the Staging view, checks and probes say, where it is so and where it is not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.unit.sentences.made_up_advice import ALIKE, CHECK, EVEN, SLOW_COPY, advised, rendered
from tests.unit.sentences.rows import texts_in
from tests.unit.sentences.sessions import SESSIONS
from tests.unit.staging.synthetic import FAST, HDD, file_use, malware_like
from tfdarshan.analysis.storage.time_model import fit_time_model
from tfdarshan.reports.text.later_epochs_text import later_gain, pays
from tfdarshan.reports.text.probe_text import probe_text
from tfdarshan.reports.text.staging_check_text import render_check
from tfdarshan.reports.views.staging_view import StagingQuery, staging_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import Advice
from tfdarshan.staging.later_epochs import LaterEpochs
from tfdarshan.staging.question import CopyCost
from tfdarshan.storage_probe.depth_scaling import Level, Scaling
from tfdarshan.storage_probe.probe_result import StorageProbe
from tfdarshan.storage_probe.slow_places import SlowPlaces
from tfdarshan.units import human_bytes, human_seconds, percent

HOT = file_use(np.full(1000, 1_000_000), np.repeat([1000, 1], [20, 980]))
TWICE = file_use(malware_like(500), np.full(500, 2), storage_opens=np.full(500, 2))
CACHED_LATER = file_use(malware_like(500), np.full(500, 4), storage_opens=np.ones(500))
SLOWER = dataclasses.replace(FAST, model=dataclasses.replace(FAST.model, base_s=1.0))


def total_s(use) -> float:
    """Gives the thread time of all passes, by the figures that they were made up with."""
    return float((use.opens * (HDD[0] + use.size_bytes * HDD[1])).sum())


@dataclass(frozen=True)
class Words:
    """What advice says of one job, and does not of another."""

    said: str
    true: Callable[[], Advice]
    false: Callable[[], Advice]


def hot() -> Advice:
    """Gives the advice where 20 of 1,000 files are read 1,000 times, and computing takes half."""
    return advised(HOT, other_s=total_s(HOT) / 4)


KNOWN = int(ALIKE.size_bytes.sum())
WORDS = (
    Words("There is room for all files: the order in which they are chosen does not matter.",
          lambda: advised(ALIKE, everything=True),
          lambda: advised(ALIKE, everything=True, room_bytes=KNOWN // 2)),
    Words("Smallest first is as good here: what it chooses saves as much, to within 1 %.",
          lambda: advised(ALIKE, everything=True, room_bytes=KNOWN // 2),
          lambda: advised(ALIKE, everything=True)),
    Words("The knee is at ", lambda: advised(HOT, everything=True),
          lambda: advised(EVEN, everything=True)),
    Words("would add ", hot, lambda: advised(HOT, everything=True)),
    Words(f"With room for {human_bytes(KNOWN // 2)}", lambda: advised(ALIKE, room_bytes=KNOWN // 2),
          lambda: advised(ALIKE, room_bytes=KNOWN // 3)),
    Words("Staging will not help: the fast tier is hardly faster: an epoch's reads take "
          f"{human_seconds(total_s(ALIKE))} of the readers' time where the files are, and "
          f"{human_seconds(total_s(ALIKE))} there.",
          lambda: advised(ALIKE, fast=SLOWER), lambda: advised(ALIKE)),
    Words("Staging will not help: the copy pays from epoch ",
          lambda: advised(ALIKE, fast=SLOW_COPY, epochs=3), lambda: advised(ALIKE, fast=SLOW_COPY)),
    Words("Staging will not help: storage served 25.0 % of the passes over files: the page cache serves the "
          "rest",
          lambda: advised(CACHED_LATER), lambda: advised(TWICE)),
)  # fmt: skip


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words.said[:40])
def test_advice_says_it_of_a_job_that_is_so(words):
    there, elsewhere = rendered(words.true()), rendered(words.false())

    assert words.said in there, there
    assert words.said not in elsewhere, elsewhere


def test_what_is_staged_is_counted_by_its_own_files():
    # GIVEN 500 files of known sizes, that fit
    text = rendered(advised(ALIKE, everything=True))

    assert f"Stage 500 files, {human_bytes(KNOWN)}, to /fast" in text
    assert "100.0 % of the files, 100.0 % of the bytes" in text
    assert f"can be staged 500 files, {human_bytes(KNOWN)}" in text
    assert f"instead of {human_seconds(total_s(ALIKE) / 4)}:" in text


def test_what_would_be_added_is_counted_by_the_rest():
    # GIVEN 20 files that are read 1,000 times, and 980 that are read once, all of 1 MB
    advice = hot()

    # THEN the 20 give most of it, and a pass over each file saves the same
    assert advice.chosen.files == 20
    share = percent(980, 980 + 20 * 1000)
    more = f"980 files more, {human_bytes(980e6)}"
    assert f"{more}, would add {share} of the readers' time saved: " in rendered(advice)


ALL_ALIKE = LaterEpochs(first_s=1.0, later_s=1.0, epochs=2)
FIRST_ONLY = LaterEpochs(first_s=2.0, later_s=0.5, epochs=2)
UNKNOWN = LaterEpochs(first_s=1.0, later_s=None, input_bytes=10**9, memory_bytes=4 * 10**9)
PAID = {
    "won back in the first epoch": (1, 1, ALL_ALIKE),
    "won back in epoch 1,200": (1200, 1200, ALL_ALIKE),
    "never won back": (None, None, FIRST_ONLY),
    "won back by the first epochs of several runs": (None, None, UNKNOWN),
    "won back by the first epochs of several runs if the page cache keeps what it can, in epoch 3 if it "
    "keeps nothing": (3, None, UNKNOWN),
}  # fmt: skip


@pytest.mark.parametrize("words", PAID)
def test_a_copy_is_won_back_when_it_is(words):
    epoch, kept, later = PAID[words]

    assert pays(CopyCost(1.0, epoch, kept), later) == words


GAINS = {
    "": ALL_ALIKE,
    "with all files staged a run's first epoch saves 2.000 s, and each later one 500.0 ms": FIRST_ONLY,
    "later epochs gain as much at most, and nothing if the page cache keeps the 1.0 GB, with 4.0 GB of "
    "memory: a session of two epochs shows whether it does": UNKNOWN,
}  # fmt: skip


@pytest.mark.parametrize("words", GAINS)
def test_later_epochs_gain_what_they_do(words):
    assert later_gain(GAINS[words]) == words


RNG = np.random.default_rng(0)
SIZES = RNG.integers(10_000, 10_000_000, 200)
FITS = {
    "what one costs is a guess by so few": (SIZES[:5], 1e-3 + SIZES[:5] * 1e-8),
    "all files are of about one size: what a byte costs cannot be told from what a file costs": (
        np.full(200, 1_000_000), np.full(200, 1e-3)),
    "time does not grow with size: each file is taken to cost the same": (SIZES, 1 - SIZES * 1e-8),
    "only bytes cost time: small files gain no more than large": (SIZES, SIZES.astype(float) ** 1.5),
    "a poor fit: size explains ": (SIZES, 1e-3 + SIZES * 1e-11 + RNG.exponential(1.0, 200)),
    "storage served no pass over these": (SIZES[:0], SIZES[:0]),
    "": (SIZES, 1e-3 + SIZES * 1e-8),
}  # fmt: skip


@pytest.mark.parametrize("note", FITS)
def test_a_fit_says_what_is_wrong_with_it(note):
    size, seconds = FITS[note]

    found = fit_time_model(size, seconds)

    assert found.note.startswith(note)
    assert bool(found.note) == bool(note)
    if note.startswith("a poor fit"):
        assert found.note == f"a poor fit: size explains {100 * found.r2:.0f} % of the differences in time"


MEASURED = {
    (True, False): "Times are from the first step's start to the last one's end.",
    (False, True): "Times are from the first read of the data set to the last one, without start-up.",
    (
        False,
        False,
    ): "Times are of whole sessions, start-up included, for they do not all have steps or all calls.",
}


@pytest.mark.parametrize("way", MEASURED)
def test_a_check_says_what_its_times_are_of(way):
    text = render_check(dataclasses.replace(CHECK, by_steps=way[0], by_reading=way[1]))

    assert [words for words in MEASURED.values() if words in text] == [MEASURED[way]]
    assert "moved an epoch by" in text


@pytest.mark.parametrize(("share", "said"), [(None, False), (0.05, False), (0.3, True)])
def test_a_check_says_what_other_programs_took(share, said):
    text = render_check(dataclasses.replace(CHECK, others_share=share))

    assert ("Other programs took 30.0 % of the processors: time the job on an idle machine." in text) is said


def scaling(size: int, share: float | None, low: float = 0.0, high: float = 1.0) -> Scaling:
    """Gives what 1 and 8 readers got: 100 reads a second, and 400."""
    levels = (Level(1, 0.01, 100.0, 100.0 * size), Level(8, 0.02, 400.0, 400.0 * size))
    return Scaling(size, levels, share, low, high)


PROBE = StorageProbe(
    "/data", "/data", "nfs", "node7", 0, 2.5, 10**6, 24, 0, True, True, 1, open_s=0.003, places=SlowPlaces(24)
)
PROBES: dict[str, dict[str, Any]] = {
    "8 readers get 4.0 times the operations of one (storage is full: 90.0 % of a call served one at a time, "
    "80.0 % to 99.0 %)": {"small": scaling(4096, 0.9, 0.8, 0.99)},
    "8 readers get 4.0 times the bandwidth of one (storage waits: 5.0 % of a call served one at a time, "
    "1.0 % to 9.0 %)": {"large": scaling(131072, 0.05, 0.01, 0.09)},
    "8 readers get 4.0 times the bandwidth of one (50.0 % of a call served one at a time, 20.0 % to 80.0 %)":
        {"large": scaling(131072, 0.5, 0.2, 0.8)},
    "What more readers get is not shown: storage answers faster than the probe asks, or there was too little "
    "to read.": {"small": scaling(4096, None)},
    "What is in the page cache is not known: the kernel does not say it of other users' files.":
        {"cached_share": None},
    "Page cache: 25.0 % of the parts that were looked at are in it, and were not measured.":
        {"cached_share": 0.25},
    "24 files, past the page cache, at idle priority.": {"direct": True, "idle": True},
    "24 files, through the page cache, each part once, at least priority.": {"direct": False, "idle": False},
    "24 files, 3 more cannot be read, past": {"unreadable": 3},
    "Slowness by file is not shown: files are too small, or too few, to read one several times.":
        {"places": SlowPlaces(1)},
}  # fmt: skip


@pytest.mark.parametrize("words", PROBES)
def test_a_probe_says_what_it_measured(words):
    texts = {
        said: " ".join(probe_text(dataclasses.replace(PROBE, **change)).split())
        for said, change in PROBES.items()
    }

    assert words in texts[words], texts[words]
    # What is said where nothing else was measured is what a probe says that measured less.
    same = [other for other in texts if other != words and words in texts[other]]
    assert all(set(PROBES[words]).isdisjoint(PROBES[other]) for other in same), same
    assert not all(words in text for text in texts.values())


def test_a_probe_has_its_own_figures():
    text = " ".join(probe_text(dataclasses.replace(PROBE, small=scaling(4096, 0.5))).split())

    assert f"an open {human_seconds(0.003)}" in text
    assert f"a read of {human_bytes(4096)} {human_seconds(0.01)}, 100 a second" in text
    assert "readers at a time 1 8 small reads a second 100 400" in text
    assert f"Measured in {human_seconds(2.5)} by reading {human_bytes(10**6)} of 24 files" in text


@pytest.mark.parametrize("measured", [True, False])
def test_the_staging_view_says_whether_its_tier_was_measured(measured, tmp_path):
    source = Source(SESSIONS["slow storage"](tmp_path), fast_tier=FAST if measured else None)

    text = "\n".join(texts_in(staging_view(source, StagingQuery())))

    assert ("The fast tier was measured." in text) == measured
    assumed = "The fast tier is assumed; advise measures the folder that copies are to go to."
    assert (assumed in text) != measured
