"""The views of a fleet's page: all jobs together, groups, trends of file systems, and what-ifs."""

from __future__ import annotations

from collections.abc import Sequence

from tfdarshan.fleet.attainable import Attainable
from tfdarshan.fleet.breakdown import StepPart
from tfdarshan.fleet.catalogue_update import Update
from tfdarshan.fleet.fleet_view import FleetView
from tfdarshan.fleet.job_groups import JobGroup
from tfdarshan.fleet.population import Distribution, Totals
from tfdarshan.fleet.trends import FIGURES, Trend
from tfdarshan.reports.figures.fleet_figures import groups_figure, trend_figure, weeks_figure
from tfdarshan.reports.text.fleet_text import (
    QUANTILE_NAMES,
    change_sentence,
    figure_text,
    hours,
    job_name,
    job_seconds,
    outlier_sentence,
    part_figures,
)
from tfdarshan.reports.views.panel import (
    Cell,
    Chart,
    Panel,
    Table,
    Text,
    Tile,
    Tiles,
    bytes_per_s,
    duration,
    number,
    size,
)
from tfdarshan.units import percent, plural

MOST_GROUPS, MOST_ROWS = 15, 100
UNITS = {"call_s": "s an open or stat", "read_s_per_gb": "s a GB read", "write_s_per_gb": "s a GB written"}


def jobs_view(done: Update, view: FleetView) -> list[Panel]:
    """Return what is true of all jobs, and those that lose most."""
    panels: list[Panel] = []
    if done.notes:
        panels.append(Text(done.notes, "Left out of all that is below", tone="warning"))
    if not view.totals.jobs:
        return [*panels, Text(["No job could be read."])]
    said = [*map(change_sentence, view.changes), *map(outlier_sentence, view.outliers)]
    if said:
        panels.append(Text(said, "What stands out"))
    panels.append(Tiles(_tiles(view.totals)))
    if view.breakdown:
        panels.append(Tiles([_part_tile(part) for part in view.breakdown]))
    if len(view.weeks) > 1:
        panels.append(Chart("weeks", "Node-hours lost to I/O, week by week", weeks_figure(view.weeks)))
    return [*panels, _worst(view), _spread(view.distributions)]


def groups_view(view: FleetView) -> list[Panel]:
    """Return a chart and a table for each kind of group."""
    panels: list[Panel] = []
    for kind, groups in view.groups.items():
        title = f"By {kind.replace('-', ' ')}"
        panels.append(Chart(f"{kind}-chart", title, groups_figure(groups[:MOST_GROUPS])))
        panels.append(_groups(kind, title, groups))
    return panels


def trends_view(view: FleetView) -> list[Panel]:
    """Return what file systems cost from week to week."""
    panels: list[Panel] = [Text([change_sentence(change) for change in view.changes], "Changes")]
    if not view.changes:
        panels = [Text(["No file system costs more, or less, since a day that could be told."])]
    for figure, unit in UNITS.items():
        trends = [trend for trend in view.trends if trend.figure == figure and len(trend.weeks) > 1]
        changes = [change for change in view.changes if change.figure == figure]
        if trends:
            most = sorted(trends, key=_jobs, reverse=True)
            note = "Medians of each week's jobs. Dotted: where a mount changed."
            title = f"What {FIGURES[figure]} cost"
            panels.append(Chart(figure, title, trend_figure(most, changes, unit), note))
    return panels


def whatif_view(answers: Sequence[Attainable]) -> list[Panel]:
    """Return a line for each question, and what they assume."""
    columns = [
        ("what if", "text"), ("node-hours saved", "number"), ("of all", "number"),
        ("job-hours saved", "number"), ("jobs that may gain", "number"),
    ]  # fmt: skip
    rows = [
        [
            Cell(one.question),
            Cell(f"up to {hours(one.high_node_hours)}"),
            Cell(percent(one.high_node_hours, one.node_hours)),
            Cell(f"up to {hours(one.high_job_hours)}"),
            number(one.gaining_jobs),
        ]
        for one in answers
    ]
    assumed = {one.topic: one.assumptions for one in answers}
    note = "Bounds: every call was waited for. `tfdarshan fleet whatif` asks the models of sessions."
    return [
        Table("whatif", "What a faster part would save", columns, rows, note),
        *(
            Text([f"{text[:1].upper()}{text[1:]}." for text in texts], f"What is assumed of {topic}")
            for topic, texts in assumed.items()
        ),
    ]


def _jobs(trend: Trend) -> int:
    return sum(week.jobs for week in trend.weeks)


def _tiles(totals: Totals) -> list[Tile]:
    return [
        Tile("Jobs", number(totals.jobs), f"{(totals.first or '')[:10]} to {(totals.last or '')[:10]}"),
        Tile("Lost to I/O", Cell(hours(totals.lost_node_hours)), "of node time, at most"),
        Tile("Share", Cell(percent(totals.lost_node_hours, totals.node_hours)), "of all node time"),
        Tile("Job time", Cell(hours(totals.job_hours))),
        Tile("Read", size(totals.bytes_read), f"{hours(totals.read_process_hours)} of processes"),
        Tile("Written", size(totals.bytes_written), f"{hours(totals.write_process_hours)} of processes"),
        Tile("Opens", number(totals.opens), f"{hours(totals.meta_process_hours)} with stats, syncs ..."),
        Tile("Stats", number(totals.stats)),
    ]


def _part_tile(part: StepPart) -> Tile:
    """Return a part of the steps; one that no job says is unknown."""
    took, share, _mean = part_figures(part)
    label = f"{part.what[:1].upper()}{part.what[1:]} ({part.name})"
    if not part.known_jobs:
        return Tile(label, Cell(took), "no job says it")
    return Tile(label, Cell(share), f"of step time, {took}, known of {plural(part.known_jobs, 'job')}")


def _worst(view: FleetView) -> Table:
    columns = [
        ("job", "text"), ("user", "text"), ("application", "text"), ("lost", "number"),
        ("node-hours", "number"), ("in I/O", "number"), ("read", "number"), ("written", "number"),
        ("mostly on", "text"),
        ("what stands out", "text"),
    ]  # fmt: skip
    rows = [
        [
            Cell(job_name(job), str(job["input"])),
            Cell(str(job["user"] or "-")),
            Cell(str(job["application"] or "-")),
            Cell(job_seconds(job["lost_s"]), f"{job['lost_s']:.9f} s"),
            Cell(f"{'' if job['nodes_known'] else '>= '}{job['lost_node_hours']:,.1f}"),
            Cell(percent(job["io_job_s"], job["duration_s"])),
            size(job["bytes_read"]),
            size(job["bytes_written"]),
            Cell(str(job["mount_point"] or "-")),
            Cell(str(job["finding_title"] or job["finding"] or "-")),
        ]
        for job in view.worst_jobs
    ]
    return Table("worst", "Jobs that lose most node-hours to I/O", columns, rows)


def _spread(spread: Sequence[Distribution]) -> Table:
    columns = [("figure", "text"), *((name, "number") for name in QUANTILE_NAMES), ("jobs", "number")]
    rows = [
        [Cell(one.name), *(Cell(figure_text(value, one.unit)) for value in one.values), number(one.jobs)]
        for one in spread
    ]
    return Table("distributions", "How jobs are spread", columns, rows)


def _groups(kind: str, title: str, groups: Sequence[JobGroup]) -> Table:
    columns = [
        ("name", "text"), ("jobs", "number"), ("node-hours lost", "number"), ("hours in reads", "number"),
        ("in writes", "number"), ("in metadata", "number"), ("read", "number"), ("written", "number"),
        ("opens", "number"), ("stats", "number"), ("an open or stat", "number"), ("reads at", "number"),
    ]  # fmt: skip
    rows = [
        [
            Cell(group.name),
            number(group.jobs),
            Cell(f"{group.lost_node_hours:,.1f}"),
            Cell(f"{group.read_process_hours:,.1f}"),
            Cell(f"{group.write_process_hours:,.1f}"),
            Cell(f"{group.meta_process_hours:,.1f}"),
            size(group.bytes_read),
            size(group.bytes_written),
            number(group.opens),
            number(group.stats),
            duration(group.call_s),
            bytes_per_s(group.read_bytes_per_s),
        ]
        for group in groups[:MOST_ROWS]
    ]
    more = len(groups) - len(rows)
    note = "Hours are of processes, added up." + (f" {more:,} more are not shown." if more > 0 else "")
    return Table(f"{kind}-table", title, columns, rows, note)
