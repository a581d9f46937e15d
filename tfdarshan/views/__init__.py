"""Views of a session, as data: the report and the TensorBoard tab draw them with the same page code.

VIEWS lists them in the order of the page's tabs.
"""

from __future__ import annotations

from collections.abc import Callable

from tfdarshan.views.checkpoints import checkpoints_view
from tfdarshan.views.files import files_view
from tfdarshan.views.overview import overview_view
from tfdarshan.views.panel import Panel
from tfdarshan.views.patterns import patterns_view
from tfdarshan.views.source import Source
from tfdarshan.views.staging import staging_view
from tfdarshan.views.steps import steps_view
from tfdarshan.views.timeline import timeline_view

VIEWS: dict[str, tuple[str, Callable[[Source], list[Panel]]]] = {
    "overview": ("Overview", overview_view),
    "timeline": ("Timeline", timeline_view),
    "files": ("Files", files_view),
    "patterns": ("Patterns", patterns_view),
    "steps": ("Steps", steps_view),
    "checkpoints": ("Checkpoints", checkpoints_view),
    "staging": ("Staging", staging_view),
}
