"""What is said of a burst buffer's ledger and of LMDB databases, where it is so and where it is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.golden.golden_file import Golden, besides_first
from tests.unit.sentences.rows import texts_in
from tests.unit.sentences.sessions import SESSIONS
from tfdarshan.checkpoint.ledger import CheckpointRow
from tfdarshan.lmdb.measured_reading import Reading
from tfdarshan.lmdb.speed_test import PY_LMDB, Run, Speed
from tfdarshan.lmdb.verification import Verified
from tfdarshan.reports.figures.checkpoint_ledger import MOST_BARS, ledger_figure
from tfdarshan.reports.text.lmdb_text import info_text, reading_text, speed_text, verified_text
from tfdarshan.reports.views.checkpoints_view import checkpoints_view
from tfdarshan.reports.views.ledger_view import MOST_ROWS, OUTCOMES, ledger_panels
from tfdarshan.reports.views.panel import Table
from tfdarshan.reports.views.view_source import Source

ORIGIN_S, MB = 1_700_000_000.0, 1_000_000
SLOW = CheckpointRow(
    id="a", checkpoint="ckpt-1", step=20, outcome="slow_durable", saved_at=ORIGIN_S + 1, blocked_s=0.25,
    waited_s=0.125, size_bytes=4 * MB, fast_durable_at=ORIGIN_S + 2, slow_durable_at=ORIGIN_S + 4,
)  # fmt: skip
FAST = replace(SLOW, id="b", checkpoint="ckpt-2", outcome="fast_durable", slow_durable_at=None,
               backlog_checkpoints=2, backlog_bytes=6 * MB)  # fmt: skip


def shown(folder: Path, *rows: CheckpointRow) -> str:
    """Return all that the view says of a ledger with such rows, a line each."""
    source = Source(SESSIONS["checkpoints"](folder))
    source.__dict__["ledgers"] = [list(rows)] if rows else []
    return "\n".join(sorted(texts_in(ledger_panels(source))))


def long(count: int) -> list[CheckpointRow]:
    """Return the rows of so many checkpoints."""
    return [replace(SLOW, id=str(n), checkpoint=f"ckpt-{n}", saved_at=ORIGIN_S + n) for n in range(count)]


LEDGERS: dict[str, list[CheckpointRow]] = {
    "durable on both tiers, and on the fast one": [SLOW, FAST],
    "durable on the fast tier": [FAST],
    "more than are drawn": long(MOST_BARS + 1),
    "more than are listed": long(MOST_ROWS + 1),
} | {outcome: [replace(SLOW, outcome=outcome)] for outcome in OUTCOMES}


def test_a_ledger_says_what_became_of_its_checkpoints(golden: Golden, tmp_path: Path):
    texts = {name: shown(tmp_path / name, *rows) for name, rows in LEDGERS.items()}

    golden("ledger.txt", besides_first(texts))
    assert shown(tmp_path / "none") == ""


def test_processes_that_wait_at_one_time_do_not_add_up(tmp_path):
    # GIVEN two processes of a joint training, which save at the same time, one of them in twice the time
    source = Source(SESSIONS["checkpoints"](tmp_path))
    rows = [replace(row, step=20 * n) for n, row in enumerate(long(4), 1)]
    slower = [replace(row, saved_at=row.saved_at + 0.9, blocked_s=0.5) for row in rows]
    source.__dict__["ledgers"] = [rows, slower]
    alone = Source(source.whole)
    alone.__dict__["ledgers"] = [slower]

    # WHEN
    panels, of_slower = ledger_panels(source), ledger_panels(alone)

    # THEN training waited as long as the slower one did
    waited, expected = (found[0].items[1] for found in (panels, of_slower))
    assert waited.value.text == expected.value.text == "2.000 s"
    assert waited.note == f"{expected.note}, in the process that waited longest of 2"
    assert panels[1].note == of_slower[1].note
    assert "every 20 steps costs 50.0 % of run time" in panels[1].note


def test_of_many_bursts_the_last_are_listed(tmp_path):
    source = Source(SESSIONS["checkpoints"](tmp_path))
    found = source.bursts
    source.__dict__["bursts"] = found.iloc[[n % len(found) for n in range(MOST_ROWS + 1)]]

    (table,) = [panel for panel in checkpoints_view(source) if isinstance(panel, Table)]

    assert len(table.rows) == MOST_ROWS
    assert table.note == f"The last {MOST_ROWS} of {MOST_ROWS + 1:,}."


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
INFOS: dict[str, dict[str, Any]] = {
    "the main database": {},
    "another one": {"database": "images"},
    "no values": {"value_bytes": 0},
    "values in the tree": {"values_in_pages": 0},
    "integer keys": {"kinds": ["integer keys"]},
    "one page": {"depth": 1, "leaf_pages": 1},
    "cached in part": {"reading": {"cached_share": 0.25, "from_cache": True}},
    "cached": {"reading": {"cached_share": 1.0, "from_cache": True}},
    "cache unknown": {"reading": {"cached_share": None, "from_cache": False}},
    "no records": {"records": 0},
    "sub-databases": {"databases": ["images"]},
}


READING = Reading(access="auto", in_flight=8, from_cache=False, cached_share=0.1)
LOOKED = replace(READING, looks=3, speeds={8: 4e6, 1: 1e6})
READINGS = {
    "from the page cache": replace(READING, from_cache=True, cached_share=0.9),
    "too little": READING,
    "looked at": LOOKED,
    "by turns": replace(LOOKED, takes_turns=True),
}


def speed(reader: str, *elapsed_s: float) -> Speed:
    """Return a reader of 30 MB, whose runs took so long."""
    return Speed(reader, tuple(Run(30 * MB, 0.25, one, 0.5, None) for one in elapsed_s))


def test_a_database_is_said_to_be_what_it_is(golden: Golden):
    # GIVEN databases, how they were read and verified, and how quickly
    infos = {name: info_text(INFO | change) for name, change in INFOS.items()}
    readings = {name: reading_text(reading) for name, reading in READINGS.items()}
    found = [Verified(b"images", 3, 30 * MB, "abc")]
    verified = {
        name: verified_text("/data/train", found, compared=name == "compared")
        for name in ("verified", "compared")
    }
    ours, theirs = speed("merged reads", 1.0, 3.0, 2.0), speed(PY_LMDB, 8.0)
    speeds = {
        "alone": speed_text("/data/train", [ours]),
        "beside py-lmdb": speed_text("/data/train", [ours, theirs]),
    }

    # THEN
    golden("lmdb.txt", besides_first(infos) | readings | verified | speeds)
    assert reading_text(replace(READING, access="direct")) == ""
