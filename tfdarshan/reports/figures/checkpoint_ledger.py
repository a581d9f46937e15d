"""The burst buffer's checkpoints over time: what training waited for, and when each one was durable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfdarshan.reports.figures.over_time import TIME_AXIS
from tfdarshan.reports.figures.theme import HIDDEN, WAIT, WRITE, Figure, escaped, figure
from tfdarshan.units import human_seconds

if TYPE_CHECKING:
    from tfdarshan.checkpoint.ledger import CheckpointRow

MOST_BARS = 60


def ledger_figure(rows: Sequence[CheckpointRow], names: Sequence[str], origin_s: float) -> Figure:
    """Draw a bar for each of the last checkpoints: blocked, then until it was durable on either tier.

    Args:
        rows: The checkpoints in the order of saving, with `saved_at`.
        names: What each one is called, all different.
        origin_s: The session's start, in seconds since the epoch.
    """
    rows, names = rows[-MOST_BARS:], names[-MOST_BARS:]
    parts = [
        (
            "on its way to the slow tier",
            HIDDEN,
            [_part(r, r.fast_durable_at, r.slow_durable_at) for r in rows],
        ),
        ("on its way to the fast tier", WRITE, [_part(r, r.saved_at, r.fast_durable_at) for r in rows]),
        ("training waits", WAIT, [_blocked(r) for r in rows]),
    ]
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "base": [round(part[0] - origin_s, 6) for part in spans if part],
            "x": [round(part[1] - part[0], 6) for part in spans if part],
            "y": [escaped(label) for label, part in zip(names, spans, strict=True) if part],
            "marker": {"color": colour},
            "width": 0.7 if colour != WAIT else 0.35,
            "text": [human_seconds(part[1] - part[0]) for part in spans if part],
            "textposition": "none",
            "hovertemplate": f"%{{y}}: {name} %{{text}}<extra></extra>",
        }
        for name, colour, spans in parts
    ]
    return figure(
        traces,
        height=max(180, 100 + 24 * len(rows)),
        barmode="overlay",
        margin={"l": 130, "r": 20, "t": 12, "b": 44},
        xaxis=TIME_AXIS,
        yaxis={
            "type": "category",
            "categoryorder": "array",
            "categoryarray": [escaped(name) for name in names],
            "autorange": "reversed",
        },
    )


def _part(row: CheckpointRow, start: float | None, end: float | None) -> tuple[float, float] | None:
    if start is None:
        start = row.saved_at
    return None if start is None or end is None or end < start else (start, end)


def _blocked(row: CheckpointRow) -> tuple[float, float] | None:
    if row.saved_at is None or row.blocked_s is None:
        return None
    return row.saved_at, row.saved_at + max(row.blocked_s, 0.0)
