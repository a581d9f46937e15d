"""What is asked of the advisor, and what a choice of files gives."""

from __future__ import annotations

from dataclasses import dataclass

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
