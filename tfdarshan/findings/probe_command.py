"""The command that measures the storage under a session's input."""

from __future__ import annotations

import shlex

from tfdarshan.findings.measures import Measures
from tfdarshan.sessions.session_directory import is_of_a_url


def probe_command(measures: Measures) -> str:
    """Return it; "" if the storage was emulated, or is of another machine."""
    if measures.imported or measures.summary.emulation is not None:
        return ""
    # The copy of what a URL names is removed.
    path = "LOGDIR" if is_of_a_url(measures.session.path) else measures.summary.path
    return f"tfdarshan probe --logdir {shlex.quote(path)}"
