"""What is said of ranks that are missing or of another run, and of sessions that are not there."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from tests.unit.sentences.other_sessions import ranks
from tests.unit.sentences.sessions import SESSIONS
from tests.unit.sentences.shown import printed
from tfdarshan.sessions.checked_json import DecodingError, decode
from tfdarshan.sessions.joint_session import APART_NS, Joint
from tfdarshan.sessions.meta_shape import OwnerShape
from tfdarshan.sessions.overlap import overlap_lines


@pytest.fixture(scope="module")
def joint(tmp_path_factory: pytest.TempPathFactory) -> Joint:
    """Return a job of three ranks, all of which have written."""
    found = partial(ranks, marked=True)(tmp_path_factory.mktemp("ranks")).joint
    assert found is not None
    return found


REST = (
    " not written: still recording, never begun, or killed; `tfdarshan recover` on that rank's host writes "
    "what a killed one had recorded."
)
MISSING = {
    (): None,
    (3,): "rank 3 of 5,000 has",
    (3, 4): "ranks 3, 4 of 5,000 have",
    tuple(range(3, 5000)): "ranks 3, 4, 5, 6, 7 and 4,992 more of 5,000 have",
}


@pytest.mark.parametrize("missing", MISSING, ids=len)
def test_ranks_that_have_not_written_are_named(missing, joint):
    found = dataclasses.replace(joint, missing=missing, world_size=5000)

    words = MISSING[missing]
    assert found.sentences() == ([] if words is None else [words + REST])
    unknown = dataclasses.replace(found, world_size=None)
    assert unknown.sentences() == ([] if words is None else [words.replace(" of 5,000", "") + REST])


LATE_NS = 10 * APART_NS


@pytest.mark.parametrize("unique", [True, False])
@pytest.mark.parametrize(("late", "words"), [((), ""), ((2,), "rank 2"), ((1, 2), "ranks 0, 1, 2")], ids=str)
def test_a_rank_that_recorded_at_another_time_may_be_of_another_run(late, words, unique, joint, monkeypatch):
    # GIVEN three ranks of a job whose name may be that of another, some of which began much later than all
    changed = tuple(
        dataclasses.replace(rank, offset_ns=LATE_NS * rank.rank if rank.rank in late else 0, error_ns=0)
        for rank in joint.ranks
    )
    found = dataclasses.replace(joint, ranks=changed)
    monkeypatch.setitem(joint.leading.owner["job"], "unique", unique)

    # WHEN
    said = found.sentences()

    # THEN, if all others are alike; of a name that is given once nothing else can be
    assert bool(said) == (bool(late) and not unique)
    for text in said:
        assert text == (
            f"{words} recorded at another time than the others: that may be of another run with the same "
            "name; give each run a name of its own with job=."
        )


@pytest.mark.parametrize("others", [0, 1, 3, 1200])
def test_sessions_beside_it_are_counted(others):
    lines = overlap_lines([Path(f"/logs/{n}") for n in range(others)])

    rest = "the other is" if others == 1 else f"the other {others:,} are"
    head = f"1 of {others + 1:,} sessions that overlap in time; {rest} not in these figures. By path:"
    assert lines[:1] == ([head] if others else [])
    assert (f"  and {others - 3:,} more" in lines) == (others > 3)


@pytest.mark.parametrize("recorded", [True, False])
def test_a_run_that_there_is_not_says_which_there_are(recorded, tmp_path):
    if recorded:
        SESSIONS["one call"](tmp_path)

    text = printed("summary", f"{tmp_path}:other")

    there = "it has 2024_01_01_00_00_00" if recorded else "it has no session"
    assert text == f"tfdarshan: the logdir {tmp_path} has no run or session 'other': {there}."


@pytest.mark.parametrize("lacks", ["host", "pid"])
def test_what_a_file_lacks_is_named(lacks):
    fields = {"owner": "true", "host": '"h"', "pid": "1", "origin_realtime_ns": "0", "duration_ns": "1"}
    text = ", ".join(f'"{name}": {value}' for name, value in fields.items() if name != lacks)

    with pytest.raises(DecodingError) as raised:
        decode(f"{{{text}}}".encode(), cast(Any, OwnerShape))

    assert lacks in str(raised.value)
    assert "Object missing required field" not in str(raised.value)
