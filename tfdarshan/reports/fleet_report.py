"""Writes what is true of a fleet as one HTML file, in the style of a session's report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfdarshan.durable.output_file import write_output
from tfdarshan.fleet.attainable import Attainable, attainable
from tfdarshan.fleet.catalogue_update import Update
from tfdarshan.fleet.faster_parts import hot_tier, node_link, storage_bandwidth
from tfdarshan.fleet.fleet_view import fleet_view
from tfdarshan.fleet.job_groups import KINDS
from tfdarshan.fleet.job_models import nothing_told
from tfdarshan.fleet.job_table import JobTable
from tfdarshan.reports.figures.theme import CONFIG, templates
from tfdarshan.reports.html_report import page_of
from tfdarshan.reports.views.fleet_views import groups_view, jobs_view, trends_view, whatif_view
from tfdarshan.reports.views.panel import Panel, as_json
from tfdarshan.units import plural

# What the page asks: factors of bandwidth, sizes of a fast tier, and speeds of a link in bits a second.
BANDWIDTHS, ROOMS_BYTES, LINKS = (1.5, 2.0, 4.0), (10**12, 10**13, 10**14), (50e9, 100e9, 400e9)


def write_fleet_report(
    done: Update,
    jobs: JobTable,
    path: Path,
    *,
    top: int,
    fast_bytes_per_s: float,
    link_now: float,
    force: bool = False,
) -> int:
    """Write the page and return its size in bytes.

    Args:
        done: What was read for it.
        jobs: The jobs.
        path: The file to write.
        top: How many of the jobs that lose most it lists.
        fast_bytes_per_s: The fast tier of what-ifs.
        link_now: The nodes' link today, in bits a second.
        force: Replace a file that is there.

    Raises:
        StorageError: The file is there, or cannot be written.
    """
    view = fleet_view(jobs, top, KINDS)
    views = [_view("jobs", "Jobs", jobs_view(done, view))]
    if view.totals.jobs:
        asked = whatif_view(_answers(jobs, fast_bytes_per_s, link_now))
        views += [
            _view("groups", "Groups", groups_view(view)),
            _view("trends", "Trends", trends_view(view)),
            _view("whatif", "What if", asked),
        ]
    when = f"{(view.totals.first or '')[:10]} to {(view.totals.last or '')[:10]}" if view.totals.first else ""
    data = {"config": CONFIG, "templates": templates(), "views": views}
    page = page_of(f"tfdarshan: fleet of {plural(view.totals.jobs, 'job')}", when, data).encode()
    write_output(path, page, force=force)
    return len(page)


def _answers(jobs: JobTable, fast_bytes_per_s: float, link_now: float) -> list[Attainable]:
    parts = [
        *(storage_bandwidth(factor) for factor in BANDWIDTHS),
        *(hot_tier(room, fast_bytes_per_s) for room in ROOMS_BYTES),
        *(node_link(speed, link_now) for speed in LINKS),
    ]
    return [attainable(jobs, part, nothing_told(jobs)) for part in parts]


def _view(name: str, title: str, panels: list[Panel]) -> dict[str, Any]:
    return {"name": name, "title": title, "banner": [], "panels": as_json(panels)}
