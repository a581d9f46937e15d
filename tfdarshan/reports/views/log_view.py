"""What views show of an imported Darshan log: its other layers, striping, and what is of no file."""

from __future__ import annotations

from tfdarshan.analysis.files.log_layers import Layer
from tfdarshan.reports.text.layers_text import TITLES, no_files_text, striping_text
from tfdarshan.reports.views.panel import Cell, Panel, Table, Text, number, size
from tfdarshan.reports.views.view_source import Source
from tfdarshan.units import human_seconds

COLUMNS = (
    ("layer", "text"), ("opens", "number"), ("reads", "number"), ("writes", "number"),
    ("collective", "number"), ("read", "number"), ("written", "number"), ("in reads", "number"),
    ("in writes", "number"), ("in opens", "number"),
)  # fmt: skip
NOTE = "Their bytes reach files as POSIX calls: do not add the two. Seconds are added up over ranks."


def log_panels(source: Source) -> list[Panel]:
    """Return the panels; none for a session that is not of a log."""
    log = source.summary.log
    panels: list[Panel] = []
    if log.layers:
        panels.append(Table("layers", "Other layers of the log", COLUMNS, list(map(_row, log.layers)), NOTE))
    lines = [f"Lustre: {striping_text(log.striping)}."] if log.striping is not None else []
    lines += [f"{no_files_text(log.no_files)}."] if log.no_files else []
    return [*panels, Text(lines)] if lines else panels


def _row(layer: Layer) -> list[Cell]:
    return [
        Cell(TITLES.get(layer.module, layer.module)),
        *map(number, (layer.opens, layer.reads, layer.writes, layer.collective)),
        *map(size, (layer.bytes_read, layer.bytes_written)),
        *map(_time, (layer.read_s, layer.write_s, layer.meta_s)),
    ]


def _time(seconds: float | None) -> Cell:
    return Cell("-") if seconds is None else Cell(human_seconds(seconds))
