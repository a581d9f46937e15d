"""What is said of bursts of writes: with steps and without, by the loop and beside it."""

from __future__ import annotations

import pytest

from tests.unit.sentences.other_sessions import saved
from tests.unit.sentences.raw_figures import Raw
from tests.unit.sentences.rows import Row, check_said


def _bursts(found: Raw) -> int:
    """Gives how many there are: writes without a pause are one."""
    writes = found.calls("write").sort_values("start_ns")
    return 1 + int((writes["start_ns"].to_numpy()[1:] > writes["end_ns"].to_numpy()[:-1]).sum())


ROWS = {
    "without steps": Row(
        " of writes held anything up: no step was recorded",
        lambda folder: saved(folder, marked=False, tid=7),
        lambda found: f"whether {_bursts(found)} bursts of writes held anything up", saved,
    ),
    "of TensorFlow": Row(
        "Save in the background: to a fast tier, from which a thread copies to storage.",
        lambda folder: saved(folder, name="ckpt-1.index"), lambda _: "/data/ckpt-1",
        lambda folder: saved(folder, name="model.pt"),
    ),
    "of others": Row(
        "copy what is to be saved, and let a thread write it.",
        lambda folder: saved(folder, name="model.pt"), lambda _: "/data/model.pt",
        lambda folder: saved(folder, name="ckpt-1.data-00000-of-00001"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_a_burst_of_writes_is_called_what_it_is(name, tmp_path):
    check_said(ROWS[name], tmp_path)
