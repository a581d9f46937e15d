"""Words what a faster part of the machine would save over a fleet."""

from __future__ import annotations

import textwrap

from tfdarshan.file_name import printable
from tfdarshan.fleet.attainable import Attainable
from tfdarshan.reports.text.fleet_text import hours
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.paint import Paint
from tfdarshan.units import human_bytes, percent, plural, shortened

MOST_FOLDERS = 10
WIDEST_FOLDER = 50


def attainable_text(found: Attainable, paint: Paint) -> str:
    """Return the answer, ending in a newline."""
    least = "at least " if found.nodes_unknown else ""
    low, high = found.low_node_hours, found.high_node_hours
    shares = f"{percent(low, found.node_hours)} to {percent(high, found.node_hours)}"
    of_jobs = f"{hours(found.low_job_hours)} to {hours(found.high_job_hours)} of {hours(found.job_hours)}"
    known = f"the replay models of {found.modelled_jobs:,} say by how much"
    asked = f"{found.question[:1].upper()}{found.question[1:]}"
    lines = [
        paint.bold(f"{asked}: {hours(low)} to {hours(high)} of node time saved"),
        f"of {least}{hours(found.node_hours)} ({shares}); {of_jobs} of job time",
        f"{found.gaining_jobs:,} of {plural(found.jobs, 'job')} may gain; {known}",
    ]
    if found.nodes_unknown:
        lines.append(f"nodes of {plural(found.nodes_unknown, 'job')} unknown: --processes-per-node")
    if found.step_speedup is not None:
        talking = plural(found.talking_jobs, "job")
        lines.append(f"steps up to {found.step_speedup:.2f}x as fast, mean of {talking} that tell")
    lines += [*_folders(found, paint), *_gainers(found, paint), "", "Assumptions"]
    for text in found.assumptions:
        lines += textwrap.wrap(printable(text), paint.width, initial_indent="  - ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"


def _folders(found: Attainable, paint: Paint) -> list[str]:
    if not found.folders:
        return []
    shown = found.folders[:MOST_FOLDERS]
    size = sum(folder.size_bytes for folder in found.folders)
    columns = Columns(11, 8, 7, 11, 12, "  ", 0)
    lines = ["", f"{plural(len(found.folders), 'folder')} of {human_bytes(size)}, those that save most first"]
    lines.append(paint.dim(columns.row("size", "jobs", "users", "read", "node-h", "folder")))
    for folder in shown:
        lines.append(
            columns.row(
                human_bytes(folder.size_bytes),
                folder.jobs,
                folder.users,
                human_bytes(folder.bytes_read),
                f"{folder.high_node_hours:,.1f}",
                shortened(printable(folder.folder), WIDEST_FOLDER),
            )
        )
    more = len(found.folders) - len(shown)
    return [*lines, *([paint.dim(f"{more:,} more: --json")] if more else [])]


def _gainers(found: Attainable, paint: Paint) -> list[str]:
    if not found.gainers:
        return []
    columns = Columns(-20, 8, 12)
    rows = [
        columns.row(printable(one.user)[:20], one.jobs, f"{one.high_node_hours:,.1f}")
        for one in found.gainers
    ]
    return ["", "Users that may save most", paint.dim(columns.row("", "jobs", "node-h")), *rows]
