"""Views of a session, as data: the report and the TensorBoard tab draw them with the same page code.

VIEWS lists them in the order of the page's tabs.
"""

from __future__ import annotations

from collections.abc import Callable

from tfdarshan.reports.views.checkpoints_view import checkpoints_view
from tfdarshan.reports.views.files_view import files_view
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.panel import Panel
from tfdarshan.reports.views.patterns_view import patterns_view
from tfdarshan.reports.views.staging_view import staging_view
from tfdarshan.reports.views.steps_view import steps_view
from tfdarshan.reports.views.timeline_view import timeline_view
from tfdarshan.reports.views.view_source import Source

VIEWS: dict[str, tuple[str, Callable[[Source], list[Panel]]]] = {
    "overview": ("Overview", overview_view),
    "timeline": ("Timeline", timeline_view),
    "files": ("Files", files_view),
    "patterns": ("Patterns", patterns_view),
    "steps": ("Steps", steps_view),
    "checkpoints": ("Checkpoints", checkpoints_view),
    "staging": ("Staging", staging_view),
}
