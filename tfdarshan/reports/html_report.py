"""Writes a session's views as one HTML file that opens from disk and asks nothing of the network."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.analysis.measured_session import measure_session
from tfdarshan.durable.output_file import write_output
from tfdarshan.file_name import printable
from tfdarshan.reports.figures.theme import CONFIG, templates
from tfdarshan.reports.page import plotly_js, static_file
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.banner import banner
from tfdarshan.reports.views.comparison_view import compare_view
from tfdarshan.reports.views.empty_views import empty_views
from tfdarshan.reports.views.findings_view import diagnosis_for, findings_panels
from tfdarshan.reports.views.overlap_view import overlap_banner
from tfdarshan.reports.views.panel import Panel, as_json
from tfdarshan.reports.views.staging_view import staged_run
from tfdarshan.reports.views.view_source import Source

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
<style>{style}</style>
<script>{plotly}</script>
</head>
<body>
<header><div class="bar"><h1>{title}</h1><span class="note">{about}</span>
<button class="plain" id="mode" type="button">Dark</button></div><nav role="tablist"></nav></header>
<main><div id="banner"></div><div id="view"></div></main>
<script type="application/json" id="report">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Report:
    """What was written."""

    path: Path
    session: str
    views: list[str]
    size_bytes: int
    redacted: bool


def write_report(source: Source, path: Path, *, compare: Source | None = None, force: bool = False) -> Report:
    """Write the report.

    Args:
        source: The session, with a redaction where paths are not to be shown.
        path: The file to write.
        compare: A second session to set beside it.
        force: Replace a file that is there.

    Raises:
        SessionDataError: A table is damaged or missing.
        StorageError: The file is there, or cannot be written.
    """
    # Advice and findings go by one look at the calls.
    measured = measure_session(source.session, files=source.named_files)
    staged_run(source, measured)
    shown = {name: entry for name, entry in VIEWS.items() if name not in empty_views(source)}
    views = [_view(name, title, [source], view(source)) for name, (title, view) in shown.items()]
    found = findings_panels(diagnosis_for(source.session, source.redaction, source.read_files, measured))
    views[0]["panels"] = [*as_json(found), *views[0]["panels"]]
    if compare is not None:
        views.append(_view("compare", "Compare", [source, compare], compare_view(source, compare)))
    data = {"config": CONFIG, "templates": templates(), "views": views}
    write_output(path, _page(source, data).encode("utf-8"), force=force)
    names = [view["name"] for view in views]
    return Report(path, source.summary.session, names, path.stat().st_size, source.redaction is not None)


def _view(name: str, title: str, sources: list[Source], panels: list[Panel]) -> dict[str, Any]:
    others = [path for source in sources for path in source.summary.overlapping_sessions]
    shown = as_json([*overlap_banner(others), *banner(*sources)])
    return {"name": name, "title": title, "banner": shown, "panels": as_json(panels)}


def _page(source: Source, data: dict[str, Any]) -> str:
    summary = source.summary
    about = f"{summary.command}, on {summary.host}, engine {summary.engine.get('name', '')}"
    return page_of(f"tfdarshan: {summary.session}", about, data)


def page_of(title: str, about: str, data: dict[str, Any]) -> str:
    """Return a page of views: `data` has `config` and `templates` of figures, and `views`."""
    modules = static_file("panels.js").decode().replace("export ", "")
    main = "\n".join(
        line for line in static_file("report.js").decode().splitlines() if not line.startswith("import ")
    )
    return PAGE.format(
        title=html.escape(printable(title)),
        about=html.escape(printable(about)),
        style=static_file("style.css").decode(),
        plotly=plotly_js().decode("utf-8").replace("</script", "<\\/script"),
        data=json_in_html(data),
        script=f"{modules}\n{main}",
    )


def json_in_html(data: Any) -> str:
    """Return JSON that may stand inside a script element, whatever texts it holds."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
