"""The tables for people: a row per file and per step, units in names, sums worked out by hand."""

import numpy as np
import pandas as pd
import pytest

import tfdarshan
from tests.made_up_session import job_of, write_session
from tfdarshan.analysis.brief_tables import FILES_BRIEF, STEPS_BRIEF, _readable, brief_steps

MS = 1_000_000


@pytest.fixture
def session(tmp_path):
    calls = [
        (0, 10 * MS, 1, "pread", 0, 1_000_000),
        (20 * MS, 30 * MS, 1, "pread", 0, 1_000_000),
        (40 * MS, 45 * MS, 1, "pread", 1, 123_456),
        (50 * MS, 90 * MS, 1, "pwrite", 2, 8_000_000),
    ]
    return write_session(tmp_path, job_of(calls, ["/data/a", "/data/b", "/out"], [2_000_000, 123_456, -1]))


def test_files_are_listed_as_people_read_them_the_slowest_first(session):
    # WHEN
    brief = session.files_brief

    # THEN 2 MB in 20 ms are 100 MB/s, 123,456 B in 5 ms 24.69 MB/s, and 8 MB in 40 ms 200 MB/s
    assert tuple(brief.columns) == FILES_BRIEF
    assert brief["path"].tolist() == ["/out", "/data/a", "/data/b"]
    assert brief.index.tolist() == [0, 1, 2]
    assert brief["time_s"].tolist() == [0.04, 0.02, 0.005]
    assert brief["reads"].tolist() == [0, 2, 1]
    assert brief["read_MB"].tolist() == [0, 2, 0.1235]
    assert brief["read_MB_per_s"].tolist()[1:] == [100, 24.69]
    assert brief["written_MB"].tolist() == [8, 0, 0]
    assert brief["written_MB_per_s"].tolist()[0] == 200
    assert brief["size_MB"].tolist()[1:] == [2, 0.1235]

    # and what did not happen or is not known is no number
    assert np.isnan([brief["read_MB_per_s"][0], brief["written_MB_per_s"][1], brief["size_MB"][0]]).all()

    # and the full table is as it was: rows of files and modules, in the tables' order
    assert "POSIX_BYTES_READ" in session.files.columns
    assert session.files["path"].tolist() == ["/data/a", "/data/b", "/out"]


def test_steps_have_times_that_can_be_read(tmp_path):
    # GIVEN two steps, of which one waits for its batch
    (tmp_path / "x").write_bytes(bytes(250_000))
    with tfdarshan.profile(tmp_path / "logs", tf_profiler=False, include=[f"{tmp_path}/x"]) as profile:
        for number in (1, 2):
            with tfdarshan.step(number) as step:
                if number == 2:
                    with step.input_wait():
                        (tmp_path / "x").read_bytes()

    # WHEN
    full, brief = profile.steps, profile.steps_brief

    # THEN they are the steps of the full table, in ms and MB
    assert tuple(brief.columns) == STEPS_BRIEF
    assert brief["step"].tolist() == [1, 2]
    duration_ms = (full["end_ns"] - full["start_ns"]) / MS
    assert brief["duration_ms"].tolist() == pytest.approx(duration_ms.tolist(), rel=1e-3)
    assert brief["start_s"].tolist() == pytest.approx((full["start_ns"] / 1e9).tolist(), rel=1e-3)
    assert brief["io_ms"].tolist() == pytest.approx((full["io_ns"] / MS).tolist(), rel=1e-3)
    assert brief["read_MB"].tolist() == [0, 0.25]
    share = 100 * full["input_wait_ns"][1] / (full["end_ns"] - full["start_ns"])[1]
    assert brief["input_wait_percent"][1] == pytest.approx(share, rel=1e-3)


def test_a_wait_that_is_not_known_is_no_number():
    steps = pd.DataFrame(
        {
            "step": [1], "start_ns": [0], "end_ns": [2 * MS], "input_wait_ns": [-1],
            "exposed_wait_ns": [-1], "io_ns": [MS], "bytes_read": [0],
            "bytes_written": [0], "operations": [0], "source": ["x"],
        }
    )  # fmt: skip

    brief = brief_steps(steps)

    waits = ["input_wait_ms", "input_wait_percent", "exposed_wait_ms"]
    assert np.isnan(brief[waits].to_numpy(float)).all()
    assert brief["duration_ms"][0] == 2


def test_a_session_without_steps_has_an_empty_table(session):
    assert session.steps_brief.empty
    assert tuple(session.steps_brief.columns) == STEPS_BRIEF


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.000123456, 0.0001235), (1.23456, 1.235), (123456.7, 123457), (0.0, 0.0), (-12.3456, -12.35)],
)
def test_numbers_have_four_digits(value, shown):
    assert _readable(pd.DataFrame({"x": [value]}))["x"][0] == pytest.approx(shown, rel=1e-12)
