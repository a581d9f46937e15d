"""All that people are shown of a session: the page's views, and what commands print."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fleet_population import write_population
from tests.unit.sentences.rows import texts_in
from tfdarshan.commands import main
from tfdarshan.commands.summary import MOST_FILES
from tfdarshan.findings import diagnosis
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.banner import banner
from tfdarshan.reports.views.files_view import file_page
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.reports.views.overlap_view import overlap_banner
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import Session

Kept = dict[tuple[str, int], tuple[Any, diagnosis.Diagnosis]]


@contextlib.contextmanager
def diagnosed_once(kept: Kept) -> Iterator[None]:
    """Have commands and pages share one diagnosis of each session, which takes most of their time."""
    original = diagnosis.summary_and_diagnosis

    def summary_and_diagnosis(session: Any, top: int, runner: Any = None) -> tuple[Any, diagnosis.Diagnosis]:
        key = str(session.path), top
        if key not in kept:
            kept[key] = original(session, top, runner)
        return kept[key]

    def diagnose(session: Any, runner: Any = None) -> diagnosis.Diagnosis:
        return summary_and_diagnosis(session, MOST_FILES, runner)[1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diagnosis, "summary_and_diagnosis", summary_and_diagnosis)
        patch.setattr(diagnosis, "diagnose", diagnose)
        yield


def page_texts(session: Session, *names: str) -> set[str]:
    """Return the texts of its views, of all of them by default."""
    source = Source(session)
    shown: list[Any] = [banner(source), overlap_banner(source.summary.overlapping_sessions)]
    shown += findings_panels(diagnosis.diagnose(session))
    shown += [view(source) for name, (_, view) in VIEWS.items() if not names or name in names]
    busiest = source.summary.slowest_files[:1]
    shown += [file_page(source, entry.path) for entry in busiest if not names]
    shown += [session._repr_html_() or ""] if not names else []
    return {" ".join(text.split()) for text in texts_in(shown)}


def page_text(session: Session, *names: str) -> str:
    """Return them as one text, a line each."""
    return "\n".join(sorted(page_texts(session, *names)))


def raw_printed(*words: str) -> str:
    """Return what a command prints and complains of."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        main(list(words))
    return out.getvalue()


def printed(*words: str) -> str:
    """Return it in one line."""
    return " ".join(raw_printed(*words).split())


def other_terminal_texts(session: Session) -> set[str]:
    """Return what commands print of it besides those of `shown_sessions.COMMANDS`."""
    path = str(session.path)
    return {printed("whatif", path), printed("files", path), printed("list", str(session.path.parents[2]))}


def fleet_texts(folder: Path) -> set[str]:
    """Return what is printed and shown of a made-up fleet of jobs with culprits in it."""
    write_population(folder / "logs", 100)
    where = ("--catalogue", str(folder / "catalogue"), "--findings", "0", "--processes", "1")
    page = folder / "fleet.html"
    told = {
        printed("fleet", str(folder / "logs"), *where, *more)
        for more in (
            (), ("--html", str(page)), ("--by", "user"), ("--storage-bandwidth", "2x"), ("--stage-hot", "1T"),
            ("--link", "100Gb"),
        )
    }  # fmt: skip
    data = page.read_text(encoding="utf-8").partition('id="report">')[2].partition("</script>")[0]
    return told | {" ".join(text.split()) for text in texts_in(json.loads(data)["views"])}
