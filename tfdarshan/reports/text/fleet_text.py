"""Words what is true of a fleet of jobs: data in, text out."""

from __future__ import annotations

import posixpath
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfdarshan.file_name import printable
from tfdarshan.fleet.breakdown import StepPart
from tfdarshan.fleet.catalogue_update import Update
from tfdarshan.fleet.fleet_view import FleetView
from tfdarshan.fleet.job_groups import JobGroup
from tfdarshan.fleet.outliers import Outlier
from tfdarshan.fleet.population import Distribution, Totals
from tfdarshan.fleet.trends import Change
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout, begun
from tfdarshan.terminal.paint import Paint
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_bytes, human_seconds, percent, plural, shortened

WIDEST_NAME = 24
MOST_GROUPS, MOST_SENTENCES = 8, 8
QUANTILE_NAMES = ("10 %", "median", "90 %", "99 %", "most")


def overview_text(done: Update, view: FleetView, paint: Paint) -> str:
    """Return the overview, ending in a newline.

    Args:
        done: What was read for it.
        view: What is true of all jobs.
        paint: How wide it may be, and whether it has colours.
    """
    parts = [_first(done, view.totals, paint)]
    if view.totals.jobs:
        parts += [
            _stands_out_lines(view, paint),
            _sums(view.totals),
            _breakdown_lines(view.breakdown, paint),
            worst_lines(view.worst_jobs, paint),
            *(_group_lines(kind, groups, paint) for kind, groups in view.groups.items()),
            _spread(view.distributions, paint),
        ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def change_sentence(change: Change) -> str:
    """Say since when a file system costs more, or less."""
    verb = "cost" if change.ratio > 1 else "cost only"
    per = "each" if change.figure == "call_s" else "a GB"
    extra = change.extra_process_hours
    spent = f"{hours(abs(extra))} of process time {'more' if extra > 0 else 'less'}"
    return (
        f"Since {change.since} {change.what} {verb} {change.ratio:.2f} times as much on {change.mount_point} "
        f"({change.low:.2f} to {change.high:.2f}; {human_seconds(change.before_s)} before, "
        f"{human_seconds(change.after_s)} since, {per}; {change.jobs_before:,} and "
        f"{plural(change.jobs_after, 'job')}): {spent} since then."
    )


def outlier_sentence(outlier: Outlier) -> str:
    """Return who stands out, with what, and in which application."""
    total, rate, usual = f"{outlier.total:,}", f"{outlier.rate:,.1f}", f"{outlier.typical_rate:,.2g}"
    if outlier.figure.endswith("bytes"):
        total, rate, usual = map(human_bytes, (outlier.total, outlier.rate, outlier.typical_rate))
    mostly = (
        f", {percent(outlier.application_share, 1)} of them in {outlier.application}"
        if outlier.application is not None
        else ""
    )
    return (
        f"{outlier.user} made {percent(outlier.share, 1)} of all {outlier.what}: {total} in "
        f"{plural(outlier.jobs, 'job')}{mostly}; {rate} a second of these, {usual} are usual."
    )


def _stands_out_lines(view: FleetView, paint: Paint) -> list[str]:
    said = [*map(change_sentence, view.changes), *map(outlier_sentence, view.outliers)]
    lines = []
    for sentence in said[:MOST_SENTENCES]:
        lines += textwrap.wrap(printable(f"* {sentence}"), paint.width, subsequent_indent="  ")
    if len(said) > MOST_SENTENCES:
        lines.append(f"  {len(said) - MOST_SENTENCES:,} more: --json")
    return lines


def _group_lines(kind: str, groups: Sequence[JobGroup], paint: Paint) -> list[str]:
    """Return a line for each of the groups that lose most."""
    names = [printable(group.name) for group in groups[:MOST_GROUPS]]
    width = min(max([len(kind), *map(len, names)]), WIDEST_NAME)
    table: list[tuple[int | str, ...]] = [
        ("", "jobs", "lost node-h", "read h", "meta h", "read", "written", "open, stat"),
        *(
            (
                shortened(name, width), group.jobs, f"{group.lost_node_hours:,.1f}",
                f"{group.read_process_hours:,.1f}", f"{group.meta_process_hours:,.1f}",
                human_bytes(group.bytes_read), human_bytes(group.bytes_written),
                "-" if group.call_s is None else human_seconds(group.call_s),
            )
            for name, group in zip(names, groups, strict=False)
        ),
    ]  # fmt: skip
    columns = Columns(-width, 9, 13, 10, 10, 10, 10, 12)
    title = f"By {kind.replace('-', ' ')}; reads and metadata in hours of processes"
    lines = [*wrap(title, paint.width, hang="  "), *_table(columns, table, paint, least=(7, 6, 4, 3))]
    if len(groups) > MOST_GROUPS:
        lines.append(paint.dim(f"{len(groups) - MOST_GROUPS:,} more: --json"))
    return lines


def hours(value: float) -> str:
    """Return hours as people read them, short times in their own units."""
    size = abs(value)
    if size >= 100 or not value:
        return f"{value:,.0f} h"
    return f"{value:.1f} h" if size >= 1 else job_seconds(value * 3600)


def job_seconds(seconds: float) -> str:
    """Return seconds of a job, of which nobody needs thousandths."""
    return f"{seconds:,.0f} s" if abs(seconds) >= 9.5 else human_seconds(seconds)


def worst_lines(worst: Sequence[Mapping[str, Any]], paint: Paint) -> list[str]:
    """Return a line for each job, the worst first."""
    if not worst:
        return []
    width = min(max(len(job_name(job)) for job in worst), WIDEST_NAME)
    table: list[tuple[int | str, ...]] = [
        ("job", "user", "lost", "node-h", "I/O", "read", "what stands out"),
        *(
            (
                shortened(job_name(job), width),
                printable(str(job["user"] or "-"))[:10],
                job_seconds(job["lost_s"]),
                f"{'' if job['nodes_known'] else '>= '}{job['lost_node_hours']:,.1f}",
                percent(job["io_job_s"], job["duration_s"]),
                human_bytes(job["bytes_read"]),
                _stands_out(job),
            )
            for job in worst
        ),
    ]
    columns = Columns(-width, "  ", -10, 9, 10, 7, 9, "  ", 0)
    return ["Jobs that lose most node-hours to I/O", *_table(columns, table, paint, least=(5, 1), cut=begun)]


def _table(
    columns: Columns,
    table: Sequence[tuple[int | str, ...]],
    paint: Paint,
    least: Sequence[int],
    cut: Callable[[str, int], str] | None = None,
) -> list[str]:
    """Return the lines of a table, whose first row are its heads."""
    layout = Layout(columns, table, paint.width, least, cut)
    return [
        *map(paint.dim, layout.lines(table[0])),
        *layout.all_lines(table[1:]),
        *map(paint.dim, wrap(layout.note(), paint.width)),
    ]


def _first(done: Update, totals: Totals, paint: Paint) -> list[str]:
    """Describe how many jobs there are, what I/O costs them, and what is not in the figures."""
    when = f", {totals.first[:10]} to {totals.last[:10]}" if totals.first and totals.last else ""
    lines = [paint.bold(f"{plural(totals.jobs, 'job')}{when}")]
    if totals.jobs:
        least = "at least " if totals.nodes_unknown else ""
        share = percent(totals.lost_node_hours, totals.node_hours)
        lines.append(
            f"{least}{hours(totals.lost_node_hours)} of node time ({share}) go into I/O, "
            f"{hours(totals.lost_process_hours)} of process time"
        )
    lines.append(f"read {plural(done.read, 'input')} of {done.inputs:,}; the others are as they were")
    return [*lines, *_notes(done)]


def notes_text(done: Update) -> str:
    """Return what the figures leave out, a line each; "" if nothing."""
    return "".join(f"{line}\n" for line in [*_notes(done), *([""] if done.notes else [])])


def _notes(done: Update) -> list[str]:
    return [f"! {printable(note)}" for note in done.notes]


def _sums(totals: Totals) -> list[str]:
    columns = Columns(-30, 14, "  ", 0)
    lines = [
        columns.row("job time", hours(totals.job_hours)),
        columns.row("node time", hours(totals.node_hours), _nodes(totals)),
        columns.row("reads, summed over processes", hours(totals.read_process_hours)),
        columns.row("writes", hours(totals.write_process_hours)),
        columns.row("opens, stats, closes, syncs", hours(totals.meta_process_hours)),
        columns.row("bytes read", human_bytes(totals.bytes_read)),
        columns.row("bytes written", human_bytes(totals.bytes_written)),
        columns.row("opens", totals.opens),
        columns.row("stats", totals.stats),
    ]
    if totals.checkpoint_stall_hours is not None:
        lines.append(columns.row("checkpoint stalls", hours(totals.checkpoint_stall_hours)))
    return lines


def _breakdown_lines(parts: Sequence[StepPart], paint: Paint) -> list[str]:
    """Return a line for each part of the steps; one that no job says is unknown, and 0 is 0."""
    if not parts:
        return []
    table: list[tuple[int | str, ...]] = [
        ("steps", "", "of step time", "mean of the jobs", "known jobs"),
        *((f"{part.what} ({part.name})", *part_figures(part), part.known_jobs) for part in parts),
    ]
    return _table(Columns(-30, 14, 13, 18, 12), table, paint, least=(4, 3))


def part_figures(part: StepPart) -> tuple[str, str, str]:
    """Return a part's hours, its share of all step time, and the mean of the jobs' shares."""
    if part.hours is None or part.steps_hours is None or part.mean_share is None:
        return "unknown", "-", "-"
    return hours(part.hours), percent(part.hours, part.steps_hours), percent(part.mean_share, 1)


def _nodes(totals: Totals) -> str:
    if not totals.nodes_unknown:
        return ""
    return f"nodes of {plural(totals.nodes_unknown, 'job')} unknown: --processes-per-node"


def _spread(spread: Sequence[Distribution], paint: Paint) -> list[str]:
    table: list[tuple[int | str, ...]] = [
        ("", *QUANTILE_NAMES, "jobs"),
        *((one.name, *_quantiles(one), f"{one.jobs:,}") for one in spread),
    ]
    columns = Columns(-30, *([11] * len(QUANTILE_NAMES)), 12)
    return _table(columns, table, paint, least=(1, 4, 6, 3))


def _quantiles(one: Distribution) -> list[str]:
    return [figure_text(value, one.unit) for value in one.values]


def figure_text(value: float, unit: str) -> str:
    """Return a figure of a distribution with its unit."""
    if unit == "s":
        return job_seconds(value)
    if unit == "B":
        return human_bytes(value)
    return percent(value, 1) if unit == "share" else f"{value:,.2f}"


def job_name(job: Mapping[str, Any]) -> str:
    """Return a log's name up to the job's number, which Darshan puts after user and program; a session's."""
    name = posixpath.basename(str(job["input"])).removesuffix(".darshan")
    found = re.search(r".*?_id[0-9]+", name)
    return printable(found[0] if found else name)


def _stands_out(job: Mapping[str, Any]) -> str:
    if job["finding_title"]:
        return printable(str(job["finding_title"]))
    where = f"mostly on {job['mount_point']}" if job["mount_point"] else ""
    return printable(f"{job['application'] or ''} {where}".strip())
