"""Two sessions side by side."""

from __future__ import annotations

from tfdarshan.comparison.change import BETTER, CHANGED, NOISE, WORSE, Change, changes_between
from tfdarshan.comparison.file_set import FilePair
from tfdarshan.comparison.likeness import NO, SAME, YES, check_likeness, verdict_of
from tfdarshan.comparison.measured_run import Side
from tfdarshan.comparison.metric import BYTES, COUNT, RATE, SECONDS, Metric
from tfdarshan.comparison.rank_change import rank_changes
from tfdarshan.reports.figures.distribution import ratio_figure
from tfdarshan.reports.text.comparison_text import (
    change_text,
    headline,
    noise_text,
    of_the_job,
    rank_cells,
    sentence_of,
)
from tfdarshan.reports.views.panel import (
    Cell,
    Chart,
    Headline,
    Panel,
    Table,
    Text,
    bytes_per_s,
    duration,
    number,
    size,
)
from tfdarshan.reports.views.view_source import Source
from tfdarshan.units import plural

SAID = (BETTER, WORSE, CHANGED, NOISE)
NOISE_NOTE = (
    "Noise: how much a time may differ though nothing has changed, judged by how even each session was."
)
# Parts of a path that a name has: more are no name.
MOST_PARTS = 3
MOST_RANKS = 16
WORDED = {SECONDS: duration, BYTES: size, RATE: bytes_per_s, COUNT: number}


def compare_view(first: Source, second: Source) -> list[Panel]:
    """Return whether both sessions can be compared, the figures of both, and second over first."""
    names = _names(first, second)
    files = FilePair(first.files, second.files).sets()
    checks = check_likeness(first, second, files, names)
    verdict = verdict_of(checks)
    differ = [f"{check.name}: {check.sentence}." for check in checks if check.state != SAME]
    sides = Side("first", [first]), Side("second", [second])
    changes = changes_between(*sides, same_work=verdict != NO)
    both = [change for change in changes if change.before and change.after]
    columns = [("", "text"), *((name, "number") for name in (*names, "noise", "change"))]
    rows = [_row(change) for change in changes]
    return [
        Headline(headline(verdict, changes), _state(changes, verdict)),
        Text(
            [sentence_of(verdict, checks), *differ],
            "Can they be compared?",
            tone="plain" if verdict == YES else "warning",
        ),
        Table("compare", f"{names[0]} -> {names[1]}", columns, rows, NOISE_NOTE),
        *_ranks(first, second, names),
        Chart(
            "ratios",
            f"{names[1]} over {names[0]}",
            ratio_figure(
                [change.metric.label for change in both],
                [change.before or 0.0 for change in both],
                [change.after or 0.0 for change in both],
                [change.outcome for change in both],
            ),
            "Green: better. Red and hatched: worse. Grey: neither, or within noise.",
        ),
    ]


def _ranks(first: Source, second: Source, names: tuple[str, str]) -> list[Panel]:
    """Return the ranks that changed most, if both sessions have ranks."""
    found = rank_changes(first.summary.ranks, second.summary.ranks)
    if found is None or not found.changes:
        return []
    columns = [("rank", "number"), ("host", "text"), *((name, "number") for name in (*names, "change"))]
    rows = [
        [
            number(change.rank),
            Cell(change.host),
            duration(change.before_s),
            duration(change.after_s),
            Cell(rank_cells(change)[2], f"{change.difference_s:+,.6g}"),
        ]
        for change in found.changes[:MOST_RANKS]
    ]
    note = f"The {len(rows)} of {plural(len(found.changes), 'rank')} whose seconds changed most."
    return [Table("compare-ranks", f"Ranks: {found.measure}", columns, rows, note)]


def _names(first: Source, second: Source) -> tuple[str, str]:
    """Return what tells the sessions apart: the ends of their logdirs' paths, or when they began."""
    if first.redaction is None and second.redaction is None:
        logdirs = _logdir(first), _logdir(second)
        for parts in range(1, MOST_PARTS + 1):
            ends = tuple("/".join(logdir[-parts:]) for logdir in logdirs)
            if ends[0] != ends[1] and all(ends):
                return ends[0], ends[1]
    sessions = first.summary.session, second.summary.session
    return sessions if sessions[0] != sessions[1] else ("the first", "the second")


def _logdir(source: Source) -> tuple[str, ...]:
    """Return the parts of the path of a session's logdir, or of the run below it."""
    return source.whole.path.absolute().parts[1:-3]


def _state(changes: list[Change], verdict: str) -> str:
    """Return the headline's colour."""
    change = of_the_job(changes)
    if change is None or verdict == NO:
        return "unknown"
    return {BETTER: "healthy", WORSE: "slow"}.get(change.outcome, "unknown")


def _row(change: Change) -> list[Cell]:
    metric = change.metric
    return [
        Cell(metric.label, metric.about),
        _value(metric, change.before),
        _value(metric, change.after),
        Cell(noise_text(change)),
        _change(change),
    ]


def _value(metric: Metric, value: float | None) -> Cell:
    return WORDED[metric.unit](value) if metric.unit in WORDED else Cell(metric.worded(value))


def _change(change: Change) -> Cell:
    text, outcome = change_text(change), change.outcome
    if change.before is None or change.after is None or outcome not in SAID:
        return Cell(text)
    return Cell(text, f"{change.after - change.before:+,.6g}", outcome=outcome)
