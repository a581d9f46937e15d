"""All that people are shown of a session: the page's views, and what commands print."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest

from tests.one_measurement import TIER
from tests.unit.sentences.rows import texts_in
from tfdarshan.commands import main
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.banner import banner
from tfdarshan.reports.views.overlap_view import overlap_banner
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import Session


def page_texts(session: Session, *names: str) -> set[str]:
    """Gives the texts of its views, of all of them by default."""
    source = Source(session)
    shown: list[Any] = [banner(source), overlap_banner(source.summary.overlapping_sessions)]
    shown += [view(source) for name, (_, view) in VIEWS.items() if not names or name in names]
    return {" ".join(text.split()) for text in texts_in(shown)}


def page_text(session: Session, *names: str) -> str:
    """Gives them as one text, a line each."""
    return "\n".join(sorted(page_texts(session, *names)))


def printed(*words: str) -> str:
    """Gives what a command prints and complains of, in one line."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        main(list(words))
    return " ".join(out.getvalue().split())


def terminal_texts(session: Session, fast: Path) -> set[str]:
    """Gives what commands print of it."""
    path = str(session.path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tfdarshan.staging.probe.probe_tier", lambda *_: TIER)
        return {
            printed("summary", path), printed("summary", path, "-v"), printed("findings", path),
            printed("whatif", path), printed("whatif", path, "--latency", "0.5x"),
            printed("advise", "--logdir", path, "--fast", str(fast)), printed("files", path),
            printed("list", str(session.path.parents[2])),
        }  # fmt: skip
