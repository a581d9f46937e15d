"""A page for each finding, from what its module says, and the tables of docs/reference/findings.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from tfdarshan.findings.about import About
from tfdarshan.findings.all_findings import CAUSES
from tfdarshan.replay.priors import PRIORS, Prior
from tfdarshan.thresholds import THRESHOLDS
from tfdarshan.units import human_bytes, human_seconds

Rows = Iterable[tuple[str, ...]]
AMOUNTS: Mapping[str, Callable[[float], str]] = {
    "B": human_bytes,
    "B/s": lambda value: f"{human_bytes(value)}/s",
    "log": lambda value: f"{100 * math.expm1(value):.0f} %",
    "s": human_seconds,
    "s/B": lambda value: f"{human_seconds(value)} a byte",
    "share": lambda value: f"{100 * value:.0f} %",
    "times": lambda value: f"{value:g}x",
}


def finding_page(name: str, about: About) -> str:
    """Return the page of a finding, Markdown; parts about which its module says nothing are left out."""
    title = f"# {about.title} (`{name}`)"
    parts = [title, about.cause, _table(("you see", "in"), _seen(about)), *_fix(about)]
    if about.estimate:
        parts.append(f"**Speedup.** {about.estimate}")
    return "\n\n".join([*parts, f"**Ignore this** if {about.ignore}."]) + "\n"


def finding_rows() -> Rows:
    """Yield a row for each finding: its name as a link to its page, and its title."""
    for cause in CAUSES:
        yield f"[`{cause.NAME}`](findings/{cause.NAME}.md)", cause.ABOUT.title


def prior_rows() -> Rows:
    """Yield a row for each quantity that a session leaves open."""
    for prior in PRIORS:
        yield f"{prior.meaning}{' (a probe tells)' * prior.by_probe}", _range(prior), prior.source


def threshold_rows() -> Rows:
    """Yield a row for each number that says what is worth a word."""
    for setting in THRESHOLDS:
        yield setting.meaning, _amount(setting.value, setting.unit), setting.source


def _seen(about: About) -> Rows:
    yield f'"{about.says}"', "`tfdarshan findings`"
    if about.seen:
        yield about.seen


def _fix(about: About) -> list[str]:
    if not about.fixes:
        return []
    return ["**Fix.**", _table(("for", "change"), about.fixes.items())]


def _range(prior: Prior) -> str:
    if prior.scale == "chance":
        return f"in {100 * prior.low:.0f} % of the drawn jobs"
    if prior.unit not in AMOUNTS:
        return f"{prior.low:g} to {prior.high:g} {prior.unit}"
    return f"{_amount(prior.low, prior.unit)} to {_amount(prior.high, prior.unit)}"


def _amount(value: float, unit: str) -> str:
    worded = AMOUNTS.get(unit)
    return f"{value:g} {unit}" if worded is None else worded(value)


def _table(head: tuple[str, str], rows: Rows) -> str:
    lines = [head, ("---", "---"), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)
