"""Whoever reads a part of the calls has at most a gigabyte in memory, with all that it imports."""

import pytest

from tests.perf.child import run_child

EVENTS = 20_000_000
MOST_MIB = 1e9 / (1 << 20)


@pytest.mark.long
@pytest.mark.parametrize("runner", ["serial", "pool:2", "local:2"])
def test_no_process_takes_more_than_a_gigabyte(tmp_path, runner):
    if runner == "local:2":
        pytest.importorskip("distributed")
    run_child("partials_probe", "make", tmp_path, EVENTS)

    assert run_child("partials_probe", "answer", tmp_path, runner)["peak_mib"] <= MOST_MIB
