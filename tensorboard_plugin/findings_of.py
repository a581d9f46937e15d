"""The findings of a session, worked out once; those of a large one in a process of its own.

All findings of ten million calls take a gigabyte for some ten seconds. TensorBoard is not to keep that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

from tfdarshan.errors import SessionDataError
from tfdarshan.reports.views.findings_view import diagnosis_for, findings_panels
from tfdarshan.reports.views.panel import as_json

from .session_store import MOST_CALLS_KEPT, Listed, age, open_readable

KEPT = 16
LONGEST_S = 600


class FindingsOf:
    """Keeps the panels of the sessions that were asked for last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[tuple[object, ...], tuple[Lock, list[Any]]] = OrderedDict()

    def panels(self, listed: Listed) -> list[dict[str, Any]]:
        """Gives the panels of a complete session as data.

        Raises:
            SessionDataError: Its data cannot be read.
        """
        key = (listed.path, age(listed.path))
        with self._lock:
            lock, found = self._kept.setdefault(key, (Lock(), []))
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        with lock:
            if not found:
                found.append(_work_out(listed.path))
            panels: list[dict[str, Any]] = found[0]
            return panels


def _work_out(path: Path) -> list[dict[str, Any]]:
    session = open_readable(path)
    if sum(int(meta["counts"]["segments"]) for meta in session.meta) <= MOST_CALLS_KEPT:
        return as_json(findings_panels(diagnosis_for(session)))
    command = [sys.executable, "-m", "tfdarshan.tensorboard_plugin.findings_of", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, check=True)
        panels: list[dict[str, Any]] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SessionDataError(f"the findings of {path.name} could not be worked out.") from error
    return panels


if __name__ == "__main__":
    os.nice(10)  # whoever looks at the session meanwhile comes first
    json.dump(as_json(findings_panels(diagnosis_for(open_readable(Path(sys.argv[1]))))), sys.stdout)
