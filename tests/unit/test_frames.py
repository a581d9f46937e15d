"""A session's tables as DataFrames, of all processes together."""

from dataclasses import replace

from tests.unit.findings.made_up_loaders import loader_job
from tfdarshan.sessions.frames import batches_frame


def test_batches_say_which_rank_took_them(tmp_path):
    # GIVEN a job's process, and two ranks like it
    session = loader_job(tmp_path)
    (process,) = session.processes

    # WHEN
    found = batches_frame([replace(process, rank=number) for number in (0, 3)])

    # THEN
    assert found["rank"].tolist() == [0] * len(session.batches) + [3] * len(session.batches)
    assert set(session.batches["rank"]) == {-1}
