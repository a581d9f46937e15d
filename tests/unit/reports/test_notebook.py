"""What a notebook shows of a session: its HTML, parsed."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.made_up_session import HOST, job_of, write_session
from tests.role_session import role_session
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.panel import Tiles
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import open_session

MS = 1_000_000
# What tfdarshan 0.1.0 showed of `shown_session`, when the HTML was put together by hand.
BEFORE = Path(__file__).with_name("notebook.html")
EMULATION = {
    "paths": ["/data/<a> & 'b'"],
    "model": {"name": "hdd"},
    "delayed_ns": 5 * MS,
    "delayed_calls": 3,
}


class Pieces(HTMLParser):
    """Gathers tags with their attributes, and text without the white space around it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, *attrs))

    def handle_endtag(self, tag):
        self.found.append((f"/{tag}",))

    def handle_data(self, data):
        if data.strip():
            self.found.append(("text", data.strip()))


def session_of(logdir, paths, **meta):
    calls = [
        call
        for file in range(len(paths))
        for call in (
            (file * 40 * MS, (file * 40 + 10) * MS, 1000, "pread", file, 1_000_000 * (file + 1)),
            ((file * 40 + 15) * MS, (file * 40 + 20) * MS, 1000, "pwrite", file, 500_000),
        )
    ]
    session = write_session(logdir, job_of(calls, paths, [2_000_000] * len(paths)))
    path = session.path / f"{HOST}.100.meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | meta))
    return open_session(session.path)


@pytest.fixture
def shown_session(tmp_path):
    """A session with emulated storage, reads, writes, and names that are markup."""
    return session_of(
        tmp_path,
        ["/data/plain.jpg", "/data/<b>bold</b>.jpg", "/data/\"a\" & 'b'.jpg"],
        options={"as_if": "hdd"},
        emulation=EMULATION,
    )


def test_the_template_shows_what_was_shown_before_it(shown_session):
    # WHEN
    shown = Pieces(shown_session._repr_html_()).found

    # THEN below the verdict, above the files
    before = Pieces(BEFORE.read_text()).found
    numbers = before[before.index(("/b",)) + 1 : before.index(("/svg",))]
    end = shown.index(("/svg",))
    assert shown[end - len(numbers) : end] == numbers
    assert sum(piece[0] == "rect" for piece in shown) > 3
    assert any("Emulated storage, as if hdd" in piece[1] for piece in shown if piece[0] == "text")


def test_the_slowest_files_have_what_the_brief_table_has(shown_session):
    # WHEN
    texts = [piece[1] for piece in Pieces(shown_session._repr_html_()).found if piece[0] == "text"]

    # THEN 3 MB were read of the last file in 10 ms, and 0.5 MB written
    first = texts.index("slowest files")
    assert texts[first : first + 6] == ["slowest files", "time", "reads", "read", "bandwidth", "written"]
    row = texts.index("/data/\"a\" & 'b'.jpg")
    assert texts[row + 1 : row + 6] == ["15.0 ms", "1", "3.0 MB", "300.0 MB/s", "500.0 kB"]
    assert "session.files_brief" in texts[-1]
    assert "session.steps_brief" in texts[-1]


def test_rows_of_one_file_name_their_processes(tmp_path):
    texts = [piece[1] for piece in Pieces(role_session(tmp_path)._repr_html_()).found if piece[0] == "text"]
    assert {f"/data/a ({one})" for one in ("main", "worker 1", "worker 2")} <= set(texts)


def test_files_without_rows_are_said_to_be_missing(tmp_path):
    # GIVEN a recording that ran out of rows for files
    counts = {"files": 2, "events": 4, "segments": 4, "events_dropped": 0, "files_over_cap": 3}
    session = session_of(tmp_path, ["/data/a", "/data/b"], counts=counts)

    # WHEN
    texts = [piece[1] for piece in Pieces(session._repr_html_()).found if piece[0] == "text"]
    (tiles,) = [panel for panel in overview_view(Source(session)) if isinstance(panel, Tiles)]
    shown = {tile.label: tile.value.text for tile in tiles.items}

    # THEN the number is a lower bound wherever it is
    assert "at least 2" in texts
    assert shown["Files"] == ">= 2"


def test_verdict_and_fix_come_first(tmp_path):
    # GIVEN a job that waits for its reads
    calls = [(n * 100, n * 100 + 60, 101, "pread", n % 2, 1_000_000, 0) for n in range(40)]
    session = training(tmp_path, calls, epochs_of_steps(40, 100, 60), paths=("/data/<a>", "/data/b"))

    # WHEN
    texts = [piece[1] for piece in Pieces(session._repr_html_()).found if piece[0] == "text"]

    # THEN
    assert texts[0] == session.verdict.sentence
    named = session.findings.named
    assert all(line in texts[1] for line in named.fix.line.splitlines())
    assert texts[2].startswith("A step: 100.0 ms [")


def test_a_session_without_bytes_has_no_drawing(tmp_path):
    # GIVEN
    calls = [(0, 10, 1000, "open", 0, 0)]
    session = write_session(tmp_path, job_of(calls, ["/data/a"], [0]))

    # WHEN / THEN
    tags = {piece[0] for piece in Pieces(session._repr_html_()).found}
    assert {"table", "td"} <= tags
    assert not tags & {"svg", "rect"}


NAMES = {
    "<script>alert(1)</script>": "&lt;script&gt;alert(1)&lt;/script&gt;",
    "a & b": "a &amp; b",
    '"double"': "&#34;double&#34;",
    "it's": "it&#39;s",
    "{{ 7 * 7 }}": "{{ 7 * 7 }}",
    "gpj.\u202eexe": r"gpj.\u202eexe",
    "\u2066isolated\u2069": r"\u2066isolated\u2069",
    "a\x1b[31m\nb": r"a\x1b[31m\nb",
}


@pytest.mark.parametrize(("name", "escaped"), NAMES.items(), ids=[ascii(name) for name in NAMES])
def test_a_file_s_name_is_escaped(tmp_path, name, escaped):
    # WHEN
    shown = session_of(tmp_path, [f"/data/{name}"])._repr_html_()

    # THEN a browser shows it as it is, but for what changes the line it stands in
    assert f"/data/{escaped}</td>" in shown
    assert ("text", f"/data/{name if '&' in escaped else escaped}") in Pieces(shown).found
    assert all(char.isprintable() or char == "\n" for char in shown)
