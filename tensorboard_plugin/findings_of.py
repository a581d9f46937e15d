"""The findings of a session, worked out once; those of a large one in a process of its own.

All findings of ten million calls take a gigabyte for some ten seconds. TensorBoard is not to keep that.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from tfdarshan.errors import SessionDataError
from tfdarshan.findings.kept_verdicts import KeptVerdict, kept_verdict
from tfdarshan.reports.views.findings_view import diagnosis_for, findings_panels
from tfdarshan.reports.views.panel import as_json
from tfdarshan.session import Session

from .session_store import MOST_CALLS_KEPT, Listed, age, open_readable

KEPT = 16
LONGEST_S = 600
END_WITH_PARENT = 1
# Imports from where TensorBoard does: Python would look into the working directory first, whatever is there.
PROGRAM = "import sys; sys.path[:] = {path!r}; import tfdarshan.tensorboard_plugin.findings_of as f; f.main()"


class FindingsOf:
    """Keeps the panels of the sessions that were asked for last.

    Args:
        keep: Is told the verdict on a session.
    """

    def __init__(self, keep: Callable[[Path, KeptVerdict], None]) -> None:
        self._keep = keep
        self._lock = Lock()
        self._kept: OrderedDict[tuple[object, ...], tuple[Lock, list[Any]]] = OrderedDict()

    def panels(self, listed: Listed) -> list[dict[str, Any]]:
        """Return the panels of a complete session as data.

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
                answer = _work_out(listed.path)
                found.append(answer["panels"])
                self._keep(listed.path, KeptVerdict(**answer["verdict"]))
            panels: list[dict[str, Any]] = found[0]
            return panels


def _work_out(path: Path) -> dict[str, Any]:
    session = open_readable(path)
    if sum(int(meta["counts"]["segments"]) for meta in session.meta) <= MOST_CALLS_KEPT:
        return _answer(session)
    command = [sys.executable, "-c", PROGRAM.format(path=list(map(str, sys.path))), str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, check=True)
        answer: dict[str, Any] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SessionDataError(f"the findings of {path.name} could not be worked out.") from error
    return answer


def _answer(session: Session) -> dict[str, Any]:
    """Return the panels, and the verdict as lists of sessions have it."""
    diagnosis = diagnosis_for(session)
    verdict = kept_verdict(diagnosis, in_part=session.left_out)
    return {"panels": as_json(findings_panels(diagnosis)), "verdict": dataclasses.asdict(verdict)}


def _end_with_parent() -> None:
    """Have this process end when TensorBoard does.

    Source: prctl(2), PR_SET_PDEATHSIG.
    """
    ctypes.CDLL(None).prctl(END_WITH_PARENT, signal.SIGTERM)


def main() -> None:
    """Write the answer on a session, which the command line names."""
    _end_with_parent()
    os.nice(10)  # whoever looks at the session meanwhile comes first
    json.dump(_answer(open_readable(Path(sys.argv[1]))), sys.stdout)
