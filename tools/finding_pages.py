"""The last line of each finding's page, and the tables of docs/reference/findings.md."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tfdarshan.findings.all_findings import CAUSES
from tfdarshan.replay.priors import PRIORS, Prior
from tfdarshan.thresholds import THRESHOLDS
from tfdarshan.units import human_bytes, human_seconds

Rows = Iterable[tuple[str, ...]]
PAGES = Path(__file__).parent.parent / "docs" / "reference" / "findings"
IGNORE = re.compile(r"(?<=\*\*Ignore this\*\* if ).*(?=\.$)", re.MULTILINE)
AMOUNTS: Mapping[str, Callable[[float], str]] = {
    "B": human_bytes,
    "B/s": lambda value: f"{human_bytes(value)}/s",
    "log": lambda value: f"{100 * math.expm1(value):.0f} %",
    "s": human_seconds,
    "s/B": lambda value: f"{human_seconds(value)} a byte",
    "share": lambda value: f"{100 * value:.0f} %",
    "times": lambda value: f"{value:g}x",
}


def page_of(name: str) -> Path:
    """Return the path of a finding's page."""
    return PAGES / f"{name}.md"


def with_ignore(ignore: str, text: str) -> str:
    """Return a page that ends with when to ignore the finding, as its module says it."""
    return IGNORE.sub(lambda _: ignore, text)


def finding_rows() -> Rows:
    """Yield a row for each finding: its name as a link to its page, and the page's title."""
    for cause in CAUSES:
        head = page_of(cause.NAME).read_text(encoding="utf-8").partition("\n")[0]
        title = head.removeprefix("# ").removesuffix(f" (`{cause.NAME}`)")
        yield f"[`{cause.NAME}`](findings/{cause.NAME}.md)", title


def prior_rows() -> Rows:
    """Yield a row for each quantity that a session leaves open."""
    for prior in PRIORS:
        yield f"{prior.meaning}{' (a probe tells)' * prior.by_probe}", _range(prior), prior.source


def threshold_rows() -> Rows:
    """Yield a row for each number that says what is worth a word."""
    for setting in THRESHOLDS:
        yield setting.meaning, _amount(setting.value, setting.unit), setting.source


def _range(prior: Prior) -> str:
    if prior.scale == "chance":
        return f"in {100 * prior.low:.0f} % of the drawn jobs"
    if prior.unit not in AMOUNTS:
        return f"{prior.low:g} to {prior.high:g} {prior.unit}"
    return f"{_amount(prior.low, prior.unit)} to {_amount(prior.high, prior.unit)}"


def _amount(value: float, unit: str) -> str:
    worded = AMOUNTS.get(unit)
    return f"{value:g} {unit}" if worded is None else worded(value)
