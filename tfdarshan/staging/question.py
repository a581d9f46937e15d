"""What is asked of the advisor, and what a choice of files gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdarshan.staging.expectation import Expectation

UNITS = ("file", "directory")


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked.

    Attributes:
        fast: Folder on the fast tier.
        room_bytes: What may be used of it.
        slow: Only files below this folder; None for all data files.
        epochs: Epochs the job will run, None if unknown: bounds when the copy has to have paid.
        session_epochs: Epochs in the sessions; None to take the median of the files' passes.
        unit: One of UNITS.
        block_bytes: What the fast tier allots space in.
        everything: Stage all that fits; by default the small set, where a few files give nearly all.
    """

    fast: str
    room_bytes: int
    slow: str | None = None
    epochs: int | None = None
    session_epochs: float | None = None
    unit: str = "file"
    block_bytes: int = 4096
    everything: bool = False


@dataclass(frozen=True)
class RuleResult:
    """What a rule chooses: the files' own `bytes`, the room that they take, readers' seconds saved per epoch.

    `room_bytes` are those on the fast tier, in whole blocks.
    """

    name: str
    files: int
    bytes: int
    room_bytes: int
    saved_thread_s: float
    expected: Expectation


@dataclass(frozen=True)
class CopyCost:
    """What staging itself takes, and in which epoch that is won back (None: never).

    Attributes:
        seconds: What it takes.
        break_even_epoch: The epoch; if nothing tells what later ones gain, as if they gain as the first.
        break_even_if_kept: The same if the page cache keeps all of the first epoch.
    """

    seconds: float
    break_even_epoch: int | None
    break_even_if_kept: int | None


@dataclass(frozen=True)
class Promise:
    """What a plan promises, in the terms that a later session can be held against. Times are per epoch.

    Attributes:
        epoch_s: An epoch before: of the steps' time where the sessions have steps, else of all their time.
        saved_s: What staging saves of it.
        low_s: Lower bound of `saved_s`.
        high_s: Upper bound of `saved_s`.
        readers: Threads that read.
        staged_passes: Passes over the staged files.
        staged_bytes: Bytes of these.
        staged_slow_s: Readers' time that they took on the slow tier, by the model.
        staged_fast_s: Readers' time that they are to take on the fast tier.
        rest_passes: Passes over the other files.
        rest_slow_s: Readers' time of these.
        whole_epoch_s: Where `epoch_s` is of the steps' time, an epoch of all time; None otherwise.
        reading_epoch_s: An epoch from the first read of the data set to the last, so without start-up; None
            where the sessions do not have all calls.
        cached_share: 1 if the page cache may keep the input from a run's first epoch on: that one is what is
            promised; else 0.
    """

    epoch_s: float
    saved_s: float
    low_s: float
    high_s: float
    readers: float
    staged_passes: float
    staged_bytes: float
    staged_slow_s: float
    staged_fast_s: float
    rest_passes: float
    rest_slow_s: float
    whole_epoch_s: float | None = None
    reading_epoch_s: float | None = None
    cached_share: float = 0.0
