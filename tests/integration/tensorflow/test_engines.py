"""Sessions of TensorFlow's profiler one right after the other, with each engine."""

from __future__ import annotations

import pytest

import tfdarshan
from tests.conftest import LIBDARSHAN
from tests.integration.tensorflow.conftest import FILES, SIZES

JOB = """
    for _ in range(3):
        tf.profiler.experimental.start("logs")
        read_all()
        tf.profiler.experimental.stop()
"""


@pytest.mark.parametrize("engine", ["builtin", pytest.param("darshan", marks=pytest.mark.darshan)])
def test_sessions_in_a_row_do_not_count_each_others_calls(job, engine):
    # GIVEN
    if engine == "darshan" and not LIBDARSHAN:
        pytest.skip("no libdarshan: set TFDARSHAN_DARSHAN_LIBRARY to the libdarshan.so to test with")

    # WHEN an earlier session is still being written in the background when the next one starts
    job.run(JOB, before=f"tfdarshan.enable(engine={engine!r})", TFDARSHAN_DARSHAN_LIBRARY=LIBDARSHAN)

    # THEN
    sessions = [tfdarshan.open_session(path) for path in tfdarshan.find_sessions(job.logdir)]
    assert len(sessions) == 3
    for session in sessions:
        assert session.meta[0]["engine"]["name"] == engine
        files = session.files
        mine = files[files["path"].str.endswith(".bin")]
        assert (mine["POSIX_OPENS"].sum(), mine["POSIX_READS"].sum()) == (FILES, 2 * FILES)
        assert mine["POSIX_BYTES_READ"].sum() == sum(SIZES)
        assert not files["path"].str.endswith((".parquet", ".tmp", ".meta.json")).any()
