"""What MkDocs calls while it builds: fills in what is too long to keep in pages.

A page marks such a part with `<!-- at build: NAME -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tfdarshan.fleet.job_columns import JOB_COLUMNS
from tools.command_pages import command_line
from tools.fill_docs import columns, hooks, table
from tools.finding_pages import prior_rows, threshold_rows

MARK = re.compile(r"<!-- at build: ([a-z-]+) -->")
PARTS: Mapping[str, Callable[[], str]] = {
    "command-line": command_line,
    "fleet-columns": lambda: columns(JOB_COLUMNS),
    "hooks": hooks,
    "priors": lambda: table(("left open", "range", "source"), prior_rows()),
    "thresholds": lambda: table(("number", "value", "source"), threshold_rows()),
}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page with the parts that it marks."""
    return MARK.sub(lambda match: PARTS[match[1]](), markdown)
