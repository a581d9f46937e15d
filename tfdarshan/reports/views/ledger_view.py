"""The burst buffer's ledger: what each checkpoint made training wait for, and when it was durable."""

from __future__ import annotations

from collections.abc import Sequence

from tfdarshan.checkpoint.interval_cost import interval_costs, interval_sentence
from tfdarshan.checkpoint.ledger import CheckpointRow
from tfdarshan.reports.figures.checkpoint_ledger import MOST_BARS, ledger_figure
from tfdarshan.reports.views.panel import Cell, Chart, Panel, Table, Tile, Tiles, duration, number, size
from tfdarshan.reports.views.view_source import Source
from tfdarshan.units import human_bytes, human_seconds, percent, plural

MOST_ROWS = 500
OUTCOMES = {
    "saved": "not yet durable",
    "fast_durable": "durable on the fast tier",
    "slow_durable": "durable on both tiers",
    "skipped": "skipped: the queue was full",
    "superseded": "superseded by a newer one",
    "stale": "stale: the slow tier has a newer one",
    "failed": "failed",
}
COLUMNS = (
    ("checkpoint", "text"),
    ("step", "number"),
    ("saved at", "number"),
    ("blocked", "number"),
    ("of it in line", "number"),
    ("bytes", "number"),
    ("fast-durable at", "number"),
    ("slow-durable at", "number"),
    ("after", "number"),
    ("backlog", "number"),
    ("outcome", "text"),
)


def ledger_panels(source: Source) -> list[Panel]:
    """Return its panels; none where no burst buffer saved in the session."""
    rows = source.ledger
    if not rows:
        return []
    origin_s = (source.whole.meta[0].get("origin_realtime_ns") or 0) / 1e9
    named = _names(rows)
    drawn = [(row, name) for row, name in zip(rows, named, strict=True) if row.saved_at is not None]
    note = "Thin red: what the training loop waited for in save(). Hover a bar for its duration."
    if len(drawn) > MOST_BARS:
        note = f"The last {MOST_BARS} of {plural(len(drawn), 'checkpoint')}. {note}"
    most = max(source.ledgers, key=_blocked_s)  # the processes of a joint training wait at one time
    cost = interval_sentence(interval_costs(most))
    if cost:
        note = f"Saving {cost}. {note}"
    figure = ledger_figure([row for row, _ in drawn], [name for _, name in drawn], origin_s)
    return [
        Tiles(_tiles(source, rows, most)),
        Chart("ledger", "Burst buffer: each checkpoint until it was durable", figure, note),
        _table(rows, named, origin_s),
    ]


def _blocked_s(rows: Sequence[CheckpointRow]) -> float:
    return sum(row.blocked_s or 0.0 for row in rows)


def _tiles(source: Source, rows: Sequence[CheckpointRow], most: Sequence[CheckpointRow]) -> list[Tile]:
    """Return the key numbers of all checkpoints, and what the process that waited longest waited."""
    blocked_s = _blocked_s(most)
    others = len(source.ledgers) > 1
    whose = f", in the process that waited longest of {len(source.ledgers):,}" if others else ""
    durable = [row for row in rows if row.outcome == "slow_durable"]
    delays = [
        row.slow_durable_at - row.saved_at
        for row in durable
        if row.slow_durable_at is not None and row.saved_at is not None
    ]
    backlog = max((row.backlog_checkpoints or 0 for row in rows), default=0)
    backlog_bytes = max((row.backlog_bytes or 0 for row in rows), default=0)
    return [
        Tile("Saved through the burst buffer", number(len(rows))),
        Tile(
            "Training waited",
            duration(blocked_s),
            f"{percent(blocked_s, source.summary.duration_s)} of the session, "
            f"{human_seconds(blocked_s / len(most))} a save{whose}",
        ),
        Tile(
            "Durable on the slow tier",
            number(len(durable)),
            f"at most {human_seconds(max(delays))} after save()" if delays else "",
        ),
        Tile("Written", size(sum(row.size_bytes or 0 for row in rows))),
        Tile("Longest backlog", number(backlog), human_bytes(backlog_bytes) if backlog else "none waited"),
    ]


def _names(rows: Sequence[CheckpointRow]) -> list[str]:
    """Name the checkpoints, each differently: one may be saved again under its name."""
    seen: dict[str, int] = {}
    names = []
    for row in rows:
        name = row.checkpoint or (f"step {row.step:,}" if row.step is not None else "(skipped)")
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def _table(rows: Sequence[CheckpointRow], names: Sequence[str], origin_s: float) -> Table:
    def at(moment: float | None) -> Cell:
        return duration(None if moment is None else moment - origin_s)

    cells = [
        [
            Cell(name),
            number(row.step),
            at(row.saved_at),
            duration(row.blocked_s),
            duration(row.waited_s),
            size(row.size_bytes),
            at(row.fast_durable_at),
            at(row.slow_durable_at),
            duration(_after(row)),
            _backlog(row),
            Cell(OUTCOMES.get(row.outcome, row.outcome), row.reason or ""),
        ]
        for row, name in zip(rows, names, strict=True)
    ]
    note = (
        "Times since the session's start. In line: waiting for the queue to have room. After: from save() "
        "until durable on the slow tier. Backlog: what still waited then."
    )
    if len(cells) > MOST_ROWS:
        note = f"The last {MOST_ROWS} of {len(cells):,}. {note}"
    return Table("ledger-table", "Burst buffer: ledger", COLUMNS, cells[-MOST_ROWS:], note)


def _after(row: CheckpointRow) -> float | None:
    if row.slow_durable_at is None or row.saved_at is None:
        return None
    return row.slow_durable_at - row.saved_at


def _backlog(row: CheckpointRow) -> Cell:
    if row.backlog_checkpoints is None:
        return Cell("-")
    moved = row.backlog_bytes or 0
    return Cell(
        f"{row.backlog_checkpoints:,}" + (f" ({human_bytes(moved)})" if moved else ""), f"{moved:,} B"
    )
