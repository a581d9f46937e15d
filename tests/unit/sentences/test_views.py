"""Sentences of views against the raw tables."""

from __future__ import annotations

import pytest

from tests.unit.sentences.raw_figures import raw
from tests.unit.sentences.sessions import SESSIONS
from tfdarshan.analysis.steps.checkpoint_bursts import LEAST_BYTES
from tfdarshan.reports.views.checkpoints_view import checkpoints_view
from tfdarshan.reports.views.panel import Text
from tfdarshan.reports.views.view_source import Source
from tfdarshan.units import human_bytes


@pytest.mark.parametrize("name", ["no call", "one reader", "one write", "only writes", "checkpoints"])
def test_no_burst_is_said_where_there_was_none_with_what_was_written(name, tmp_path):
    # GIVEN what was written, in one call after the other
    session = SESSIONS[name](tmp_path)
    written = int(raw(session).calls("write", "fwrite")["length"].sum())

    # WHEN
    first = checkpoints_view(Source(session))[0]

    # THEN
    assert isinstance(first, Text) == (written < LEAST_BYTES)
    if isinstance(first, Text):
        words = f"{human_bytes(written)} were written in all" if written else "nothing was written"
        none = f"No burst of writes of {human_bytes(LEAST_BYTES)} or more, such as a large checkpoint is"
        assert first.lines[0] == f"{none}, is in this session: {words}."
