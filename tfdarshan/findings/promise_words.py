"""How a gain is said: as a range if the session supports it, else as what it may be, and if what."""

from __future__ import annotations

from tfdarshan.findings.finding import Gain
from tfdarshan.units import human_times


def promise_words(gain: Gain, *, told: bool = True) -> str:
    """Words it: "1.76x (1.39x to 1.90x)", or "up to 2.79x if storage serves more reads at a time".

    Args:
        gain: The gain.
        told: Name the command that tells whether that is so.
    """
    if not gain.supported:
        return f"{most_words(gain)} if {condition_words(gain, told=told)}"
    low, high = gain.speedup_range
    return f"{human_times(gain.speedup)} ({human_times(low)} to {human_times(high)})"


def most_words(gain: Gain) -> str:
    """Words the most that it gives: "up to 2.79x"."""
    return f"up to {human_times(gain.speedup_range[1])}"


def condition_words(gain: Gain, *, told: bool = True) -> str:
    """Words what has to be so and nothing shows, and the command that tells whether it is."""
    claims = " and ".join(entry.claim for entry in gain.doubts) or "it is as is assumed"
    commands = dict.fromkeys(entry.told_by for entry in gain.doubts if told and entry.told_by)
    return claims + "".join(f"; `{command}` tells" for command in commands)
