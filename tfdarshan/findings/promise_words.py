"""How a gain is said: as a range if the session supports it, else as what it may be."""

from __future__ import annotations

from tfdarshan.findings.finding import Gain
from tfdarshan.units import human_speedup, human_times


def promise_words(gain: Gain) -> str:
    """Word it: "1.76x (1.39x to 1.90x)", or "up to 2.79x"; and what the range hangs on."""
    return f"{speedup_words(gain)}{condition_words(gain)}"


def speedup_words(gain: Gain) -> str:
    """Word it alone: "1.76x (1.39x to 1.90x)"; if the range is not firm, "up to 2.79x"."""
    return human_speedup(gain.speedup, *gain.speedup_range) if gain.supported else most_words(gain)


def most_words(gain: Gain) -> str:
    """Word the most that it gives: "up to 2.79x"."""
    return f"up to {human_times(gain.speedup_range[1])}"


def condition_words(gain: Gain) -> str:
    """Word the command that narrows the range: "; `tfdarshan probe ...` narrows that"; "" without one."""
    commands = dict.fromkeys(entry.told_by for entry in gain.hangs_on if entry.told_by)
    return "".join(f"; `{command}` narrows that" for command in commands)
