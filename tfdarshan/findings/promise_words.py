"""How a gain is said: as a range if the session supports it, else as what it may be."""

from __future__ import annotations

from tfdarshan.findings.finding import Gain, OpenQuestion
from tfdarshan.units import human_speedup, human_times


def promise_words(gain: Gain) -> str:
    """Word it: "1.76x (1.39x to 1.90x)", or "up to 2.79x"; and what the range hangs on."""
    return f"{speedup_words(gain)}{condition_words(gain)}"


def speedup_words(gain: Gain) -> str:
    """Word it alone: "1.76x (1.39x to 1.90x)"; if the range is not firm, "up to 2.79x"."""
    return human_speedup(gain.speedup, *gain.speedup_range) if gain.supported else most_words(gain)


def faster_words(gain: Gain) -> str:
    """Word it: "1.76x faster (1.39x to 1.90x)", or "up to 2.79x faster"."""
    if not gain.supported:
        return f"{most_words(gain)} faster"
    low, high = gain.speedup_range
    return f"{human_times(gain.speedup)} faster ({human_times(low)} to {human_times(high)})"


def uncertain_sentences(gain: Gain | None) -> list[str]:
    """Say how uncertain it is: that no speedup is certain, and what the session leaves open."""
    if gain is None:
        return []
    nothing = gain.speedup_range[0] <= 1
    return [*(["No speedup is certain."] if nothing else []), *map(open_sentence, gain.hangs_on)]


def open_sentence(entry: OpenQuestion) -> str:
    """Say what the session leaves open, and which command tells."""
    told = f"; `{entry.told_by}` tells" if entry.told_by else ""
    return f"The range is wide because the session does not show this: {entry.claim}{told}."


def most_words(gain: Gain) -> str:
    """Word the most that it gives: "up to 2.79x"."""
    return f"up to {human_times(gain.speedup_range[1])}"


def condition_words(gain: Gain) -> str:
    """Word the command that narrows the range: "; `tfdarshan probe ...` narrows that"; "" without one."""
    commands = dict.fromkeys(entry.told_by for entry in gain.hangs_on if entry.told_by)
    return "".join(f"; `{command}` narrows that" for command in commands)
