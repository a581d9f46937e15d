"""How many files a value passes from a session to its verdict: who looks for a mistake has to read them."""

import sys
from pathlib import Path

import pytest

import tfdarshan
from tests.joint_training import MadeUpRank, joint_training
from tests.unit.sentences.sessions import SESSIONS

MOST_FILES = 20
ROOT = str(Path(tfdarshan.__file__).parent)


def longest_chain(call):
    """Return the files of the package that called each other, in the longest chain that a call makes."""
    longest: set[str] = set()

    def look(frame, event, _argument):
        nonlocal longest
        files = set()
        while frame is not None and event == "call":
            files.add(frame.f_code.co_filename)
            frame = frame.f_back
        own = {name.removeprefix(ROOT) for name in files if name.startswith(ROOT)}
        longest = max(longest, own, key=len)

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return longest


@pytest.mark.parametrize("name", sorted(SESSIONS)[::8])
def test_a_verdict_is_reached_through_few_files(name, tmp_path):
    # GIVEN
    session = SESSIONS[name](tmp_path)

    # WHEN
    chain = longest_chain(lambda: session.verdict)

    # THEN
    assert len(chain) > 5
    assert len(chain) <= MOST_FILES, sorted(chain)


def test_so_is_that_of_ranks(tmp_path):
    session = joint_training(tmp_path, [MadeUpRank([[0], [1]] * 10)] * 2)
    assert 5 < len(longest_chain(lambda: session.verdict)) <= MOST_FILES
