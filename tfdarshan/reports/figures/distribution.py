"""Figures of how calls, files and time are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from tfdarshan.analysis.files.access_pattern import AccessPattern
from tfdarshan.analysis.files.access_sizes import SizeBucket
from tfdarshan.reports.figures.theme import (
    ACCENT,
    BETTER,
    BYTES_AXIS,
    EMPTY,
    LEVELS,
    RATE_AXIS,
    READ,
    WORSE,
    WRITE,
    Figure,
    figure,
    plain,
)
from tfdarshan.units import exact_bytes, human_seconds

OUTCOME_COLOURS = {"better": BETTER, "worse": WORSE}


def access_sizes_figure(buckets: Sequence[SizeBucket]) -> Figure:
    """Draw the histogram of read and write sizes."""
    labels = [bucket.label for bucket in buckets]
    return _columns(
        labels,
        (("reads", READ, [b.reads for b in buckets]), ("writes", WRITE, [b.writes for b in buckets])),
        "calls",
    )


def file_sizes_figure(table: pd.DataFrame) -> Figure:
    """Draw the histogram of file sizes."""
    return _columns(
        table["size"].tolist(),
        (
            ("files read", READ, plain(table["files_read"])),
            ("files written", WRITE, plain(table["files_written"])),
        ),
        "files",
    )


def pattern_figure(pattern: AccessPattern) -> Figure:
    """Draw reads and writes by where they began; empty reads are a part of their own."""
    zero = pattern.zero_length_reads or 0
    reads, writes = pattern.reads_with_data, pattern.writes
    parts = (
        ("consecutive", LEVELS[2], pattern.consecutive_reads, pattern.consecutive_writes),
        (
            "sequential, with gaps",
            LEVELS[1],
            pattern.sequential_reads - pattern.consecutive_reads,
            pattern.sequential_writes - pattern.consecutive_writes,
        ),
        (
            "neither (first after an open, or backwards)",
            LEVELS[0],
            reads - pattern.sequential_reads,
            writes - pattern.sequential_writes,
        ),
        ("zero-length", EMPTY, zero, 0),
    )
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": ["reads", "writes"],
            "x": [of_reads, of_writes],
            "marker": {"color": colour},
            "hovertemplate": f"%{{x:,}} %{{y}} {name}<extra></extra>",
        }
        for name, colour, of_reads, of_writes in parts
    ]
    return figure(
        traces,
        height=220,
        barmode="stack",
        xaxis={"title": {"text": "calls (POSIX)"}, "tickformat": ",.3~s"},
        yaxis={"type": "category", "autorange": "reversed"},
    )


def latency_figure(table: pd.DataFrame, most: int = 16) -> Figure:
    """Draw latency percentiles of the kinds and sizes of call that took most time."""
    rows = table.sort_values("total_ns", ascending=False, kind="stable").head(most)
    names = [f"{kind}  {size}".strip() for kind, size in zip(rows["operation"], rows["size"], strict=True)]
    traces = []
    for column, name, colour in (
        ("p50_ns", "half", LEVELS[0]),
        ("p90_ns", "90 %", LEVELS[1]),
        ("p99_ns", "99 %", LEVELS[2]),
        ("max_ns", "slowest", ACCENT),
    ):
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": plain(rows[column] / 1e6),
                "y": names,
                "marker": {
                    "color": colour,
                    "size": 9,
                    "symbol": "line-ns",
                    "line": {"width": 3, "color": colour},
                },
                "text": [human_seconds(value / 1e9) for value in rows[column]],
                "hovertemplate": f"%{{y}}: {name} %{{text}}<extra></extra>",
            }
        )
    return figure(
        traces,
        height=max(200, 100 + 24 * len(rows)),
        margin={"l": 160, "r": 20, "t": 12, "b": 44},
        xaxis={"type": "log", "title": {"text": "duration"}, "ticksuffix": " ms", "exponentformat": "none"},
        yaxis={"type": "category", "autorange": "reversed"},
    )


def shares_figure(rows: Sequence[tuple[str, Sequence[tuple[str, str, int]]]]) -> Figure:
    """Draw bars divided into parts: (bar's name, [(part's name, colour, bytes)])."""
    seen: dict[str, dict[str, Any]] = {}
    names = [name for name, _ in rows]
    for place, (_name, parts) in enumerate(rows):
        for part, colour, count in parts:
            trace = seen.setdefault(
                part,
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": part,
                    "y": names,
                    "x": [0] * len(rows),
                    "text": [""] * len(rows),
                    "textposition": "none",
                    "marker": {"color": colour},
                    "hovertemplate": f"%{{y}}, {part}: %{{text}}<extra></extra>",
                },
            )
            trace["x"][place] = count
            trace["text"][place] = exact_bytes(count)
    return figure(
        list(seen.values()),
        height=130 + 34 * len(rows),
        barmode="stack",
        margin={"l": 90, "r": 20, "t": 12, "b": 44},
        xaxis=BYTES_AXIS,
        yaxis={"type": "category", "autorange": "reversed"},
    )


def passes_figure(table: pd.DataFrame) -> Figure:
    """Draw what one thread got from each pass over the files."""
    bar = {
        "type": "bar",
        "x": [f"pass {number}" for number in table["read_pass"]],
        "y": plain(table["bytes_per_s"].round(1)),
        "marker": {"color": READ},
        "text": [
            f"{exact_bytes(moved)}<br>{human_seconds(taken / 1e9)} in calls"
            for moved, taken in zip(table["bytes"].tolist(), table["thread_ns"].tolist(), strict=True)
        ],
        "textposition": "none",
        "hovertemplate": "%{x}: %{y:.3~s}B/s per thread<br>%{text}<extra></extra>",
    }
    return figure(
        [bar],
        height=240,
        xaxis={"type": "category"},
        yaxis={"title": {"text": "bandwidth in calls"}} | RATE_AXIS,
    )


def ratio_figure(
    names: Sequence[str], first: Sequence[float], second: Sequence[float], outcomes: Sequence[str]
) -> Figure:
    """Draw second over first, by name; 1 is no change. What is worse is hatched as well as red."""
    known = [(n, b / a, o) for n, a, b, o in zip(names, first, second, outcomes, strict=True) if a and b]
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": [name for name, _, _ in known],
        "x": [ratio - 1 for _, ratio, _ in known],
        "base": [1] * len(known),
        "text": [f"{ratio:.3f} times, {outcome}" for _, ratio, outcome in known],
        "textposition": "none",
        "marker": {
            "color": [OUTCOME_COLOURS.get(outcome, EMPTY) for _, _, outcome in known],
            "pattern": {"shape": ["/" if outcome == "worse" else "" for _, _, outcome in known]},
        },
        "hovertemplate": "%{y}: %{text}<extra></extra>",
    }
    line = {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": 1,
        "x1": 1,
        "y0": 0,
        "y1": 1,
        "line": {"color": EMPTY, "width": 1, "dash": "dot"},
    }
    return figure(
        [bar],
        height=110 + 24 * max(len(known), 1),
        shapes=[line],
        margin={"l": 170, "r": 20, "t": 12, "b": 44},
        xaxis={"type": "log", "title": {"text": "second session over first"}},
        yaxis={"type": "category", "autorange": "reversed"},
    )


def _columns(labels: list[str], series: Sequence[tuple[str, str, list[int]]], unit: str) -> Figure:
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": labels,
            "y": counts,
            "marker": {"color": colour},
            "hovertemplate": f"%{{x}}: %{{y:,}} {name}<extra></extra>",
        }
        for name, colour, counts in series
    ]
    return figure(
        traces,
        barmode="group",
        xaxis={"type": "category"},
        yaxis={"title": {"text": unit}, "rangemode": "tozero", "tickformat": ",.3~s"},
    )
