"""The table of priors: what it says, and what is drawn from it."""

import numpy as np
import pytest

from tfdarshan.replay.priors import PRIORS, SETTINGS, draw


def test_names_stand_once():
    names = [row.name for row in (*PRIORS, *SETTINGS)]
    assert len(names) == len(set(names))


def test_each_row_says_what_it_means_and_where_it_comes_from():
    assert all(row.unit and row.meaning and row.source for row in (*PRIORS, *SETTINGS))
    assert all(row.low <= row.high for row in PRIORS)


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
