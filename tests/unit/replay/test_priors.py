"""The table of priors: what it says, what is drawn from it, and that no other file has chosen numbers."""

import ast
from pathlib import Path

import numpy as np
import pytest

from tfdarshan.replay import priors
from tfdarshan.replay.priors import PRIORS, SETTINGS, draw


def test_names_stand_once():
    names = [row.name for row in (*PRIORS, *SETTINGS)]
    assert len(names) == len(set(names))


def test_each_row_says_what_it_means_and_where_it_comes_from():
    assert all(row.unit and row.meaning and row.source for row in (*PRIORS, *SETTINGS))
    assert all(row.low <= row.high for row in PRIORS)


def test_no_other_file_has_a_number_that_somebody_chose():
    # GIVEN indices, halves, the unit of time, and bits that pack two columns into one
    plain = {0, 1, 2, 1e9, 1e-9, 32, 40}
    files = sorted(Path(priors.__file__).parent.glob("*.py"))

    # WHEN
    found = {
        (path.name, node.lineno, node.value)
        for path in files
        if path.name != "priors.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in plain
    }

    # THEN
    assert len(files) > 10
    assert not found


def test_the_tables_have_no_more_numbers_than_are_allowed():
    assert sum(1 if row.scale == "chance" else 2 for row in PRIORS) + len(SETTINGS) <= 150


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.name)
def test_samples_are_spread_evenly_over_the_range(prior):
    # WHEN
    drawn = draw(40, seed=3)[prior.name]

    # THEN each fortieth of the range has one
    if prior.scale == "chance":
        assert drawn.mean() == pytest.approx(prior.low, abs=0.5 / 40)
        return
    place = (drawn - prior.low) / (prior.high - prior.low)
    if prior.scale == "log":
        place = np.log(drawn / prior.low) / np.log(prior.high / prior.low)
    assert sorted(np.floor(place * 40 + 1e-9).astype(int)) == list(range(40))


def test_two_priors_are_not_drawn_in_the_same_order():
    drawn = draw(64)
    correlation = np.corrcoef(drawn["bandwidth"], drawn["python_lock"])[0, 1]
    assert abs(correlation) < 0.4


def test_a_seed_gives_the_same_samples_again():
    assert all((draw(8, 5)[name] == values).all() for name, values in draw(8, 5).items())
