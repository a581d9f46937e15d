"""The choice against an exact solver: HiGHS, by way of scipy."""

import ctypes

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfdarshan.staging.knapsack import choose, fill_in_order

pytest.importorskip("scipy")

from scipy.optimize import Bounds, LinearConstraint, milp

ALLOWED_LOSS = 0.03


def optimum(value, weight, capacity):
    """Return the exact greatest value."""
    found = milp(
        -value,
        constraints=LinearConstraint(weight[None, :], ub=capacity),
        integrality=np.ones(len(value)),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    # HiGHS prints: into this test's captured output, and not behind pytest's last line
    ctypes.CDLL(None).fflush(None)
    assert found.success
    return -found.fun


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 120),
    share=st.floats(0.01, 0.95),
    kind=st.sampled_from(["independent", "proportional", "heat", "few sizes"]),
)
@example(seed=77, count=77, share=0.75, kind="proportional")  # one item is half of everything
def test_choice_is_within_3_percent_of_the_optimum(seed, count, share, kind):
    # GIVEN
    random = np.random.default_rng(seed)
    weight = np.ceil(1e5 * random.lognormal(0, 1.2, count))
    value = {
        "independent": random.lognormal(0, 1.5, count),
        "proportional": weight * random.uniform(0.9, 1.1, count),
        "heat": random.zipf(1.8, count).clip(max=1_000) * (8e-3 + weight / 163e6),
        "few sizes": random.uniform(0, 1, count),
    }[kind]
    weight = np.full(count, 3e5) * random.integers(1, 4, count) if kind == "few sizes" else weight
    capacity = share * weight.sum()

    # WHEN
    choice = choose(value, weight, capacity)

    # THEN
    best = optimum(value, weight, capacity)
    assert weight[choice.items].sum() <= capacity
    assert choice.value == pytest.approx(value[choice.items].sum())
    assert len(set(choice.items.tolist())) == len(choice.items)
    assert choice.value >= (1 - ALLOWED_LOSS) * best
    assert choice.bound >= best * (1 - 1e-9)


def test_choice_takes_one_large_item_before_a_small_one_of_better_density():
    choice = choose(np.array([2.0, 10.0]), np.array([1.0, 10.0]), 10)

    assert choice.items.tolist() == [1]


def test_choice_leaves_items_without_value_and_those_that_do_not_fit():
    choice = choose(np.array([0.0, -1.0, 5.0, 3.0]), np.array([1.0, 1.0, 100.0, 1.0]), 10)

    assert choice.items.tolist() == [3]


def test_choice_of_nothing():
    assert choose(np.zeros(0), np.zeros(0), 10).items.tolist() == []


def test_filling_in_order_ends_at_the_first_item_that_does_not_fit():
    assert fill_in_order(np.array([2, 0, 1]), np.array([5.0, 1.0, 3.0]), 8).tolist() == [2, 0]
