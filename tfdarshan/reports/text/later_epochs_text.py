"""What staging gives later epochs of a run, in words."""

from __future__ import annotations

from tfdarshan.staging.later_epochs import LaterEpochs
from tfdarshan.staging.question import CopyCost
from tfdarshan.units import human_bytes, percent


def which_epoch(later: LaterEpochs) -> str:
    """Names the epoch that a gain is of."""
    return "an epoch" if later.known else "the first epoch of a run"


def later_gain(later: LaterEpochs) -> str:
    """Says what later epochs gain, and why that is not known; "" where they gain alike. Has no full stop."""
    if later.known:
        return ""
    if later.measured:
        return f"the page cache served {percent(later.kept_share, 1)} of what the session read again"
    memory = "" if later.memory_bytes is None else f", with {human_bytes(later.memory_bytes)} of memory"
    size = human_bytes(later.input_bytes)
    least, kept = "nothing", f"the {size}"
    if later.kept_share < 1:
        least, kept = f"{percent(1 - later.kept_share, 1)} of it", f"what it can of the {size}"
    return (
        f"later epochs gain as much at most, and {least} if the page cache keeps {kept}{memory}: "
        "a session of two epochs shows whether it does"
    )


def pays(copy: CopyCost, later: LaterEpochs) -> str:
    """Says when copying is won back, as a part of a sentence."""
    epoch, kept = copy.break_even_epoch, copy.break_even_if_kept
    if epoch is None:
        return "never won back"
    text = "won back in the first epoch" if epoch == 1 else f"won back in epoch {epoch:,}"
    if later.known or kept == epoch:
        return text
    at_worst = f"by the first epochs of {epoch:,} runs" if kept is None else f"in epoch {kept:,}"
    if later.measured:
        return f"won back {at_worst}"
    return f"won back {at_worst} if the page cache keeps what it can, in epoch {epoch:,} if it keeps nothing"
