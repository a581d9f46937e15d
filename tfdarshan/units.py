"""Numbers as people read them: decimal units, thousands separators, lines of fixed width."""

from __future__ import annotations

import time

BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
MOST_TIMES = 100


def human_bytes(count: float) -> str:
    """Return bytes with three or four digits and a decimal unit: 88123 is "88.1 kB"."""
    value, unit = float(count), 0
    while abs(value) >= 999.95 and unit < len(BYTE_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{count:,.0f} B" if unit == 0 else f"{value:.1f} {BYTE_UNITS[unit]}"


def exact_bytes(count: int) -> str:
    """Return bytes both ways: "88.1 kB (88,123 B)"."""
    return human_bytes(count) if abs(count) < 1000 else f"{human_bytes(count)} ({count:,} B)"


def human_seconds(seconds: float) -> str:
    """Return a duration with a unit that keeps it readable, from ns to s."""
    for limit, scale, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if abs(seconds) < limit * 0.9995:
            return f"{seconds * scale:.{0 if unit == 'ns' else 1}f} {unit}"
    return f"{seconds:,.3f} s" if abs(seconds) < 1000 else f"{seconds:,.0f} s"


def human_rate(bytes_moved: float, seconds: float) -> str:
    """Return a bandwidth, "-" where no time passed."""
    return f"{human_bytes(bytes_moved / seconds)}/s" if seconds > 0 else "-"


def percent(part: float, whole: float) -> str:
    """Return a share with one digit, "-" of nothing; never "100.0 %" or "0.0 %" where that is not exact."""
    if not whole:
        return "-"
    share = 100 * part / whole
    # Sums of times that are equal may differ in their last bits.
    if part < whole * (1 - 1e-12) and share >= 99.95:
        return "> 99.9 %"
    if part > 0 and share < 0.05:
        return "< 0.1 %"
    return f"{share:.1f} %"


def percent_at_most(part: float, whole: float) -> str:
    """Return a share that is an upper bound: "at most 62.0 %"; of nearly all it is "at most 100.0 %"."""
    share = percent(part, whole)
    if share.startswith(">"):
        return "at most 100.0 %"
    return share if share.startswith("<") else f"at most {share}"


def signed_percent(ratio: float) -> str:
    """Return a change with its sign: "+12.0 %"; of next to none it is "< 0.1 %"."""
    share = percent(abs(ratio), 1).removeprefix("> ")
    return share if share.startswith("<") else f"{'-' if ratio < 0 else '+'}{share}"


def human_times(factor: float) -> str:
    """Return a factor: "2.79x"; "100x or more" where it says little but that next to nothing is left."""
    return f"{factor:.2f}x" if factor < MOST_TIMES else f"{MOST_TIMES}x or more"


def human_range(low: float, high: float) -> str:
    """Return the bounds of a factor: "1.39x to 1.90x"."""
    return f"{human_times(low)} to {human_times(high)}"


def human_speedup(expected: float, low: float, high: float) -> str:
    """Return a factor with its bounds: "1.76x (1.39x to 1.90x)"."""
    return f"{human_times(expected)} ({human_range(low, high)})"


def human_faster(expected: float, low: float, high: float) -> str:
    """Return a speedup as a part of a sentence: "1.76x faster (likely 1.39x to 1.90x)"."""
    return f"{human_times(expected)} faster (likely {human_range(low, high)})"


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """Return a count with its noun: "1 process", "2 processes"."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def started_at(start_ns: int) -> str:
    """Return a moment in ns since the epoch as local time, "2024-01-31 16:05"; "-" for 0, an unknown one."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(start_ns // 1_000_000_000)) if start_ns else "-"


def shortened(text: str, width: int) -> str:
    """Return `text`, or its end after "..." where it is longer than `width`."""
    return text if len(text) <= width else "..." + text[len(text) - width + 3 :]


def shortened_inside(text: str, width: int) -> str:
    """Return `text`, or its beginning and its end around " ... " if it is longer than `width`, 7 or more."""
    if len(text) <= width:
        return text
    end = (width - 5) // 2
    return f"{text[: width - 5 - end]} ... {text[len(text) - end :]}"
