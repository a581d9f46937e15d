"""What one pass over each candidate costs on the slow tier and on the fast one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.time_model import TimeModel, fit_time_model
from tfdarshan.staging.candidate import Candidates, databases
from tfdarshan.staging.file_use import FileUse, Mount
from tfdarshan.staging.shared_bandwidth import with_shared_bandwidth
from tfdarshan.staging.slow_places import ORDINARY, slow_places

Array = Any

FEWEST_FILES = 32
# Passes that storage served only in part say little about storage.
FEWEST_PASSES = 0.5
FIT_AT_MOST = 500_000
# What takes as long as its pages do, and not as other files of its size.
DATABASES = "databases"


@dataclass(frozen=True)
class SlowTier:
    """A mount point's time model; `mount` is None for the model of all files of small mounts together.

    `place` names the folder or the files that are slow by themselves and have this model, "" otherwise.
    """

    mount: Mount | None
    model: TimeModel
    place: str = ""


def slow_tiers(use: FileUse, found: Candidates, readers: float) -> tuple[tuple[SlowTier, ...], Array, Array]:
    """Fits a model to each slow place, to each mount point with enough other files, and one to the rest.

    Databases that are read beside other files have a model of their own.

    Returns:
        The tiers, for each candidate its tier's place among them, and the seconds of a pass that storage
        serves: by the model, not as measured, for the files that happened to be slow this time are not the
        ones that will be.
    """
    seconds = np.zeros(len(found.rows), np.float32)
    fitted = found.storage_passes >= FEWEST_PASSES
    codes = use.mount[found.rows]
    slow = slow_places(use, found)
    tiers: list[SlowTier] = []
    by_page = _read_by_page(use, found)
    ordinary = (slow.place == ORDINARY) & ~by_page
    rest = ordinary.copy()
    tier_of = np.zeros(len(codes), np.int16)
    for number, name in enumerate(slow.names, 1):
        here = (slow.place == number) & ~by_page
        if not here.any():
            continue
        model = _fit(found, here & fitted)
        seconds[here], tier_of[here] = model.seconds(found.pass_bytes[here]), len(tiers)
        tiers.append(SlowTier(use.mounts[int(codes[here][0])], model, name))
    for code in np.unique(codes).tolist():
        here = (codes == code) & ordinary
        if np.count_nonzero(here & fitted) >= FEWEST_FILES:
            model = with_shared_bandwidth(_fit(found, here & fitted), use.samples, readers)
            seconds[here], tier_of[here] = model.seconds(found.pass_bytes[here]), len(tiers)
            tiers.append(SlowTier(use.mounts[code], model))
            rest &= ~here
    if by_page.any():
        model = _fit(found, by_page & (found.storage_passes > 0))
        seconds[by_page], tier_of[by_page] = model.seconds(found.pass_bytes[by_page]), len(tiers)
        tiers.append(SlowTier(None, model, DATABASES))
    if rest.any():
        # Of files that the kernel fetched only in part there may be no others.
        fitted = fitted if (rest & fitted).any() else found.storage_passes > 0
        model = with_shared_bandwidth(_fit(found, rest & fitted), use.samples, readers)
        seconds[rest], tier_of[rest] = model.seconds(found.pass_bytes[rest]), len(tiers)
        tiers.append(SlowTier(None, model))
    return tuple(tiers), tier_of, seconds


def _read_by_page(use: FileUse, found: Candidates) -> Array:
    """Says which are databases among other files, bool: a pass over one waits for each page."""
    here: Array = databases(use.paths)[found.rows]
    return np.zeros(len(here), bool) if here.all() else here


def _fit(found: Candidates, fitted: Array) -> TimeModel:
    rows = np.flatnonzero(fitted)
    rows = rows[:: max(1, len(rows) // FIT_AT_MOST)]
    return fit_time_model(found.pass_bytes[rows], found.pass_s[rows], found.storage_passes[rows])
