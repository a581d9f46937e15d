"""Chosen numbers stand in tables: of sessions in thresholds.py, of the replay model in priors.py."""

import ast
import math
from pathlib import Path

from tfdarshan.replay.priors import PRIORS, SETTINGS
from tfdarshan.thresholds import THRESHOLD, THRESHOLDS

ROOT = Path(__file__).parents[2] / "tfdarshan"
# The rooms that are clean.
ROOMS = ("replay", "findings")
TABLES = {"replay/priors.py"}


def _plain_numbers(tree):
    """Return the numbers of a module that nobody tunes: places in lists, and sizes of buffers."""
    places = [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    sizes = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and all(isinstance(name, ast.Name) and name.id.endswith("_BYTES") for name in node.targets)
    ]
    return {id(node) for part in (*places, *sizes) for node in ast.walk(part)}


def _numbers(path):
    """Yield line and value of the other numbers in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    plain = _plain_numbers(tree)
    for node in ast.walk(tree):
        is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
        if is_number and id(node) not in plain:
            yield node.lineno, node.value


def test_no_module_has_a_number_that_somebody_chose():
    # GIVEN halves, the unit of time, and bits that pack two columns into one
    plain = {0, 1, 2, 1e9, 1e-9, 32, 40}
    files = {str(path.relative_to(ROOT)): path for room in ROOMS for path in (ROOT / room).rglob("*.py")}

    # WHEN
    found = {
        (name, line, value)
        for name, path in files.items()
        if name not in TABLES
        for line, value in _numbers(path)
        if value not in plain
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
