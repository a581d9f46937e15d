"""Made-up sessions, each made once, and what is said of them, each text asked for once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.one_measurement import TIER
from tests.unit.sentences.sessions import SESSIONS, Maker
from tests.unit.sentences.shown import Kept, diagnosed_once, other_terminal_texts, page_texts, raw_printed
from tfdarshan.findings import diagnosis
from tfdarshan.findings.diagnosis import Diagnosis
from tfdarshan.findings.finding import Finding
from tfdarshan.findings.measurement import measure, measure_leading
from tfdarshan.findings.measures import Measures
from tfdarshan.session import Session

# What each of these commands prints; {} is the session, and FAST a fast tier.
FAST = "FAST"
FILES = 5
COMMANDS: dict[str, tuple[str, ...]] = {
    "summary": ("summary", "{}"),
    "summary -v": ("summary", "{}", "-v"),
    "findings": ("findings", "{}"),
    "whatif": ("whatif", "{}", "--latency", "0.5x"),
    "advise": ("advise", "--logdir", "{}", "--fast", FAST),
}


class ShownSessions:
    """Keeps them.

    Args:
        top: Where sessions are made.
    """

    def __init__(self, top: Path) -> None:
        self.top = top
        self._sessions: dict[Maker, Session] = {}
        self._measures: dict[Maker, Measures] = {}
        self._printed: dict[tuple[Maker, str], str] = {}
        self._shared: Kept = {}

    def session(self, made: str | Maker) -> Session:
        """Return a session of the table by its name, or what a maker makes."""
        maker = _maker(made)
        if maker not in self._sessions:
            self._sessions[maker] = maker(self.top / str(len(self._sessions)) / "logs")
        return self._sessions[maker]

    def measures(self, made: str | Maker) -> Measures:
        """Return what is measured of it."""
        maker = _maker(made)
        if maker not in self._measures:
            session = self.session(maker)
            alone = session.joint is None
            self._measures[maker] = measure(session, FILES) if alone else measure_leading(session)
        return self._measures[maker]

    def diagnosis(self, made: str | Maker) -> Diagnosis:
        """Return what is found in it."""
        with diagnosed_once(self._shared):
            return diagnosis.diagnose(self.session(made))

    def finding(self, made: str | Maker, name: str) -> Finding | None:
        """Return a finding of it by name, None if it has none."""
        return next((one for one in self.diagnosis(made).findings if one.name == name), None)

    def without_place(self, text: str) -> str:
        """Return a text with "FOLDER" for where a session was made."""
        return re.sub(rf"{re.escape(str(self.top))}/\d+", "FOLDER", text)

    def printed(self, made: str | Maker, command: str) -> str:
        """Return what one of COMMANDS prints of it; the tier is measured always the same."""
        key = (_maker(made), command)
        if key not in self._printed:
            path, fast = str(self.session(made).path), str(self.top)
            words = (path if word == "{}" else fast if word == FAST else word for word in COMMANDS[command])
            with pytest.MonkeyPatch.context() as patch, diagnosed_once(self._shared):
                patch.setattr("tfdarshan.staging.probe.probe_tier", lambda *_: TIER)
                self._printed[key] = raw_printed(*words).replace(fast, "FOLDER")
        return self._printed[key]

    def everything(self, made: str | Maker) -> set[str]:
        """Return all that people are shown of it, each text in one line."""
        session = self.session(made)
        said = {" ".join(self.printed(made, command).split()) for command in COMMANDS}
        with diagnosed_once(self._shared):
            return said | page_texts(session) | other_terminal_texts(session)


def _maker(made: str | Maker) -> Maker:
    return SESSIONS[made] if isinstance(made, str) else made
