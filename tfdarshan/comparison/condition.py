"""Conditions on what changed, for `--fail-if`: `read_bandwidth<-10%`.

    condition = metric ("<" | "<=" | ">" | ">=") value
    value     = ["+" | "-"] number "%"        the change, relative to the first run; a share's needs its sign
              | ("+" | "-") number [unit]     the change
              | number [unit]                 the figure of the later run itself
    unit      = "B" | "kB" ... "TB" | "KiB" ... "TiB", with "/s" for bandwidths;
                "ns" | "us" | "ms" | "s" | "min" for times

Spaces are allowed between the parts. Without a unit a number is in bytes, seconds or bytes per second.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass

from tfdarshan.comparison.metric import BYTES, RATE, SECONDS, SHARE, Metric, find_metric
from tfdarshan.errors import ConfigurationError

OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
RELATIVE, CHANGE, VALUE = "relative change", "change", "value"
_SIZES = {
    prefix + "B": factor
    for prefix, factor in (
        ("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12),
        ("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30), ("Ti", 1 << 40),
    )
}  # fmt: skip
UNITS: dict[str, dict[str, float]] = {
    BYTES: {name: float(factor) for name, factor in _SIZES.items()},
    RATE: {f"{name}/s": float(factor) for name, factor in _SIZES.items()},
    SECONDS: {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0},
}
_FORM = re.compile(
    r"\s*([A-Za-z_]\w*)\s*(<=|>=|<|>)\s*([+-]?)\s*(\d+(?:\.\d*)?|\.\d+)\s*(%|[A-Za-z]+(?:/s)?)?\s*"
)


@dataclass(frozen=True)
class Condition:
    """One condition; `limit` is in percent for RELATIVE, else in the metric's unit."""

    text: str
    metric: Metric
    sign: str
    kind: str
    limit: float

    def holds(self, before: float | None, after: float | None) -> bool | None:
        """Return whether it holds; None where the figures do not tell."""
        if after is None or (before is None and self.kind != VALUE):
            return None
        if self.kind == VALUE:
            measured = after
        elif self.kind == CHANGE:
            measured = after - (before or 0.0)
        elif before:
            measured = 100 * (after - before) / before
        elif after == before:
            measured = 0.0
        else:
            return None
        return bool(OPERATORS[self.sign](measured, self.limit))


def parse_condition(text: str) -> Condition:
    """Read a condition.

    Raises:
        ConfigurationError: It is none; the message says what is wrong with it.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ConfigurationError(
            f"{text!r} is not a condition: write METRIC<VALUE or METRIC>VALUE, such as "
            "'read_bandwidth<-10%', "
            "'opens>+100' or 'duration>90s'."
        )
    name, sign, direction, digits, unit = found.groups()
    metric = find_metric(name)
    number = float(digits) * (-1 if direction == "-" else 1)
    if unit == "%":
        if metric.unit == SHARE and not direction:
            share = f"{name}{sign}{number / 100:g}"
            raise ConfigurationError(
                f"{text!r} may mean two things: write '{share}' for the figure itself, "
                f"or '{name}{sign}+{digits}%' for its change."
            )
        return Condition(text, metric, sign, RELATIVE, number)
    factor = 1.0 if not unit else UNITS.get(metric.unit, {}).get(unit)
    if factor is None:
        units = ", ".join(UNITS.get(metric.unit, {})) or "none"
        raise ConfigurationError(
            f"{text!r} has a unit that {name} does not: {unit!r}; its units are: {units} (or % for a change)."
        )
    return Condition(text, metric, sign, CHANGE if direction else VALUE, number * factor)
