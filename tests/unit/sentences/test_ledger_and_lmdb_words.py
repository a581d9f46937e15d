"""What is said of a burst buffer's ledger and of LMDB databases, where it is so and where it is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sentences.rows import texts_in
from tests.unit.sentences.sessions import SESSIONS
from tfdarshan.checkpoint.ledger import CheckpointRow
from tfdarshan.lmdb.measured_reading import Reading
from tfdarshan.lmdb.speed_test import PY_LMDB, Run, Speed
from tfdarshan.lmdb.verification import Verified
from tfdarshan.reports.figures.checkpoint_ledger import MOST_BARS, ledger_figure
from tfdarshan.reports.text.lmdb_text import info_text, reading_text, speed_text, verified_text
from tfdarshan.reports.views.ledger_view import MOST_ROWS, OUTCOMES, ledger_panels
from tfdarshan.reports.views.view_source import Source
from tfdarshan.units import exact_bytes, human_bytes, human_seconds, percent

ORIGIN_S, MB = 1_700_000_000.0, 1_000_000
SLOW = CheckpointRow(
    id="a", checkpoint="ckpt-1", step=20, outcome="slow_durable", saved_at=ORIGIN_S + 1, blocked_s=0.25,
    waited_s=0.125, size_bytes=4 * MB, fast_durable_at=ORIGIN_S + 2, slow_durable_at=ORIGIN_S + 4,
)  # fmt: skip
FAST = replace(SLOW, id="b", checkpoint="ckpt-2", outcome="fast_durable", slow_durable_at=None,
               backlog_checkpoints=2, backlog_bytes=6 * MB)  # fmt: skip


def shown(folder: Path, *rows: CheckpointRow) -> str:
    """Gives all that the view says of a ledger with such rows, a line each."""
    source = Source(SESSIONS["checkpoints"](folder))
    source.__dict__["ledger"] = list(rows)
    return "\n".join(sorted(texts_in(ledger_panels(source))))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_what_became_of_a_checkpoint_is_said(outcome, tmp_path):
    text = shown(tmp_path, replace(SLOW, outcome=outcome))

    assert OUTCOMES[outcome] in text.splitlines()
    assert [said for name, said in OUTCOMES.items() if name != outcome and said in text.splitlines()] == []


def test_outcomes_have_words_of_their_own():
    assert OUTCOMES == {
        "saved": "not yet durable",
        "fast_durable": "durable on the fast tier",
        "slow_durable": "durable on both tiers",
        "skipped": "skipped: the queue was full",
        "superseded": "superseded by a newer one",
        "stale": "stale: the slow tier has a newer one",
        "failed": "failed",
    }


def test_a_ledger_is_added_up(tmp_path):
    # GIVEN two checkpoints, one of which is durable on both tiers, 3 s after it was saved
    source = Source(SESSIONS["checkpoints"](tmp_path / "a"))
    text, alone = shown(tmp_path / "b", SLOW, FAST), shown(tmp_path / "c", FAST)

    # THEN
    blocked = percent(0.5, source.summary.duration_s)
    assert f"{blocked} of the session, {human_seconds(0.25)} a save" in text
    assert f"at most {human_seconds(3.0)} after save()" in text
    assert "after save()" not in alone
    assert human_bytes(8 * MB) in text.splitlines()
    assert human_bytes(6 * MB) in text.splitlines()
    for label in ("Saved through the burst buffer", "Durable on the slow tier", "of it in line",
                  "fast-durable at", "slow-durable at", "Burst buffer: ledger",
                  "Burst buffer: each checkpoint until it was durable"):  # fmt: skip
        assert label in text.splitlines()
    assert shown(tmp_path / "d") == ""


NOTE = "Thin red: what the training loop waited for in save(). Hover a bar for its duration."
TIMES = (
    "Times since the session's start. In line: waiting for the queue to have room. After: from save() until "
    "durable on the slow tier. Backlog: what still waited then."
)


@pytest.mark.parametrize("count", [2, MOST_BARS + 1, MOST_ROWS + 1])
def test_a_long_ledger_says_what_is_left_out(count, tmp_path):
    rows = [replace(SLOW, id=str(n), checkpoint=f"ckpt-{n}", saved_at=ORIGIN_S + n) for n in range(count)]

    lines = shown(tmp_path, *rows).splitlines()

    assert any(line.endswith(NOTE) for line in lines)
    bars = f"The last {MOST_BARS} of {count:,} checkpoints. {NOTE}"
    assert any(line.endswith(bars) for line in lines) == (count > MOST_BARS)
    assert (f"The last {MOST_ROWS} of {count:,}. {TIMES}" in lines) == (count > MOST_ROWS)
    assert (TIMES in lines) == (count <= MOST_ROWS)


@pytest.mark.parametrize(
    ("row", "lengths_s"),
    [
        (SLOW, {"on its way to the slow tier": [2.0], "on its way to the fast tier": [1.0],
                "training waits": [0.25]}),
        (FAST, {"on its way to the slow tier": [], "on its way to the fast tier": [1.0],
                "training waits": [0.25]}),
    ],
)  # fmt: skip
def test_a_bar_is_as_long_as_what_it_is_called_took(row, lengths_s):
    drawn = ledger_figure([row], ["ckpt"], ORIGIN_S)

    assert {trace["name"]: trace["x"] for trace in drawn["data"]} == lengths_s


INFO: dict[str, Any] = {
    "path": "/data/train", "database": "", "records": 3, "value_bytes": 30 * MB, "values_in_pages": 2,
    "kinds": [], "file_bytes": 40 * MB, "page_bytes": 4096, "depth": 2, "leaf_pages": 7, "transaction": 5,
    "read_by": "merged reads", "reading": {"cached_share": 0.25, "from_cache": False}, "databases": [],
    "least_bytes": 1000, "median_bytes": 2000, "most_bytes": 3000,
}  # fmt: skip
SAID_OF: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "/data/train, the main database": ({}, {"database": "images"}),
    "/data/train, images": ({"database": "images"}, {}),
    f"values {exact_bytes(30 * MB)}": ({}, {"value_bytes": 0}),
    "values of their own pages 2": ({}, {"values_in_pages": 0}),
    "kind one value a key": ({}, {"kinds": ["integer keys"]}),
    "kind integer keys": ({"kinds": ["integer keys"]}, {}),
    "tree 2 levels, 7 leaf pages": ({}, {"depth": 1, "leaf_pages": 1}),
    "page cache has 25 % of it: what is in flight is measured while it is read":
        ({}, {"reading": {"cached_share": 0.25, "from_cache": True}}),
    "page cache has 100 % of it: read from there":
        ({"reading": {"cached_share": 1.0, "from_cache": True}}, {}),
    "page cache unknown": ({"reading": {"cached_share": None, "from_cache": False}}, {}),
    "sizes 1.0 kB to 3.0 kB, median 2.0 kB": ({}, {"records": 0}),
    "sub-databases images": ({"databases": ["images"]}, {}),
}  # fmt: skip


@pytest.mark.parametrize("words", SAID_OF)
def test_a_database_is_said_to_be_what_it_is(words):
    there, elsewhere = (" ".join(info_text(INFO | change).split()) for change in SAID_OF[words])

    assert words in there
    assert words not in elsewhere


READING = Reading(access="auto", in_flight=8, from_cache=False, cached_share=0.1)
READINGS = {
    "": replace(READING, access="direct"),
    "read from the page cache, which has 90 % of it": replace(READING, from_cache=True, cached_share=0.9),
    "read with 8 reads in flight: too little to measure more": READING,
    "read with 8 reads in flight, which gave most of those tried: 1: 1.0 MB/s, 8: 4.0 MB/s":
        replace(READING, looks=3, speeds={8: 4e6, 1: 1e6}),
    "read with 8 reads in flight, which gave most of those tried: 8: 4.0 MB/s; readers of a process take "
    "turns":
        replace(READING, looks=3, speeds={8: 4e6}, takes_turns=True),
}  # fmt: skip


@pytest.mark.parametrize("words", READINGS)
def test_how_a_database_was_read_is_said(words):
    assert reading_text(READINGS[words]) == words


@pytest.mark.parametrize("compared", [True, False])
def test_what_was_verified_is_counted(compared):
    text = verified_text("/data/train", [Verified(b"images", 3, 30 * MB, "abc")], compared=compared)

    assert text.startswith("/data/train is whole" + (", and py-lmdb reads the same:" if compared else ":"))
    assert f"3 records, {exact_bytes(30 * MB)} of values, abc" in text


def speed(reader: str, *elapsed_s: float) -> Speed:
    """Gives a reader of 30 MB, whose runs took so long."""
    return Speed(reader, tuple(Run(30 * MB, 0.25, one, 0.5, None) for one in elapsed_s))


@pytest.mark.parametrize("other", [True, False])
def test_speeds_are_medians_beside_py_lmdbs(other):
    speeds = [speed("merged reads", 1.0, 3.0, 2.0)] + ([speed(PY_LMDB, 8.0)] if other else [])

    text = " ".join(speed_text("/data/train", speeds).split())

    assert f"/data/train, {exact_bytes(30 * MB)} of values, 3 runs each by turns, medians" in text
    figures = f"15.0 MB/s, processor {human_seconds(0.5)}, opened in {human_seconds(0.25)}"
    assert f"merged reads {figures}" in text
    assert ("; 4.0x" in text) == other
    missing = "py-lmdb is not installed: there is nothing to compare with (pip install lmdb)."
    assert (missing in text) != other
