"""What staging gives later epochs of a run, in words."""

from __future__ import annotations

from tfdarshan.replay.priors import SETTING
from tfdarshan.staging.later_epochs import LaterEpochs
from tfdarshan.staging.question import CopyCost
from tfdarshan.units import human_bytes, human_seconds


def which_epoch(later: LaterEpochs) -> str:
    """Name the epoch that a gain is of."""
    return "an epoch" if later.known else "the first epoch of a run"


def later_gain(later: LaterEpochs) -> str:
    """Say what later epochs gain, or why that is not known; "" if they gain alike. No full stop."""
    if later.measured and later.later_s is not None:
        less, more = sorted((later.first_s, later.later_s))
        if less >= SETTING["nearly"] * more:
            return ""
        first, each = human_seconds(later.first_s), human_seconds(later.later_s)
        return f"with all files staged a run's first epoch saves {first}, and each later one {each}"
    if later.known:
        return ""
    memory = "" if later.memory_bytes is None else f", with {human_bytes(later.memory_bytes)} of memory"
    return (
        "later epochs gain as much at most, and nothing if the page cache keeps the "
        f"{human_bytes(later.input_bytes)}{memory}: record two epochs to find out"
    )


def pays(copy: CopyCost, later: LaterEpochs) -> str:
    """Say when copying is won back, as a part of a sentence."""
    epoch, kept = copy.break_even_epoch, copy.break_even_if_kept
    if epoch is None:
        return "never pays off" if later.known else "pays off after the first epochs of several runs"
    text = "pays off in the first epoch" if epoch == 1 else f"pays off in epoch {epoch:,}"
    if kept == epoch:
        return text
    at_worst = "after the first epochs of several runs" if kept is None else f"in epoch {kept:,}"
    return f"pays off in epoch {epoch:,}, or {at_worst} if the page cache keeps the input"
