"""What MkDocs calls while it builds: fills in what is too long to keep in pages.

A page marks such a part with `<!-- at build: NAME -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tools.command_pages import command_line
from tools.fill_docs import hooks, table
from tools.finding_pages import prior_rows, threshold_rows

MARK = re.compile(r"<!-- at build: ([a-z-]+) -->")
PARTS: Mapping[str, Callable[[], str]] = {
    "command-line": command_line,
    "hooks": hooks,
    "priors": lambda: table(("left open", "range", "source"), prior_rows()),
    "thresholds": lambda: table(("number", "value", "source"), threshold_rows()),
}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page with the parts that it marks."""
    return MARK.sub(lambda match: PARTS[match[1]](), markdown)
