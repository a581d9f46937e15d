"""What multiprocessing calls the children of this process, where it says so."""

from __future__ import annotations

import sys


def child_names() -> dict[int, str]:
    """Return the names of living children by their numbers; multiprocessing is not imported for it."""
    module = sys.modules.get("multiprocessing.process")
    names: dict[int, str] = {}
    for child in list(getattr(module, "_children", ())):
        try:
            pid, name = child.pid, child.name
        except Exception:  # of a class that the job has made its own, or closed meanwhile
            continue
        if isinstance(pid, int) and isinstance(name, str):
            names[pid] = name
    return names
