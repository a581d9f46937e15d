"""Chosen numbers stand in tables: of sessions in thresholds.py, of the replay model in priors.py."""

import ast
import math
from pathlib import Path

from tfdarshan.replay.priors import PRIORS, SETTINGS
from tfdarshan.thresholds import THRESHOLD, THRESHOLDS

ROOT = Path(__file__).parents[2] / "tfdarshan"
# The rooms that are clean.
ROOMS = ("replay",)
TABLES = {"replay/priors.py"}


def test_no_module_has_a_number_that_somebody_chose():
    # GIVEN indices, halves, the unit of time, and bits that pack two columns into one
    plain = {0, 1, 2, 1e9, 1e-9, 32, 40}
    files = {str(path.relative_to(ROOT)): path for room in ROOMS for path in (ROOT / room).rglob("*.py")}

    # WHEN
    found = {
        (name, node.lineno, node.value)
        for name, path in files.items()
        if name not in TABLES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in plain
    }

    # THEN
    assert len(files) > 10
    assert not found


def test_the_tables_have_no_more_rows_than_are_allowed():
    assert len(PRIORS) + len(SETTINGS) + len(THRESHOLDS) <= 150


def test_each_threshold_says_what_it_is_and_where_it_comes_from():
    assert all(row.unit and row.meaning and row.source for row in THRESHOLDS)
    assert len(THRESHOLD) == len(THRESHOLDS)
    assert all(math.isfinite(row.value) for row in THRESHOLDS)
