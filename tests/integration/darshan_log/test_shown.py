"""What the first screen and Overview say of a log: rates of the whole job, and what is not known, folded."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfdarshan
from tests.pydarshan import darshan
from tfdarshan.findings.diagnosis import summary_and_diagnosis
from tfdarshan.formats.importing.darshan_log import import_darshan
from tfdarshan.partials.serial import SERIAL
from tfdarshan.reports.text.brief_text import brief_text
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.panel import Text
from tfdarshan.reports.views.view_source import Source
from tfdarshan.units import human_bytes, human_rate, human_seconds

LOGS = {path.name: path for path in Path(darshan.__file__).parent.rglob("*.darshan")}
# Logs without single calls, and one whose single calls are all there.
UNTRACED = ("sample-badost.darshan", "example.darshan", "sample.darshan")
FOLDED = "Not known, for the log does not say"


@pytest.fixture
def shown(request, tmp_path):
    log = LOGS[request.param]
    session = tfdarshan.open_session(import_darshan(log, tmp_path).path)
    return darshan.DarshanReport(str(log), read_all=True), session


def summed(report, suffix: str, kind: str) -> float:
    """Add a counter up over POSIX and STDIO, by PyDarshan."""
    total = 0.0
    for module in {"POSIX", "STDIO"} & set(report.records):
        frame = report.records[module].to_df()[kind]
        values = frame[f"{module}_{suffix}"]
        total += float(values[values > 0].sum())
    return total


@pytest.mark.parametrize("shown", UNTRACED, indirect=True)
def test_rates_are_those_of_the_whole_run(shown):
    # GIVEN
    report, session = shown
    run_s = session.meta[0]["duration_ns"] / 1e9
    # PyDarshan's is that of the header, in whole seconds.
    assert run_s == pytest.approx(float(report.metadata["job"]["run_time"]), abs=2)
    data, diagnosis = summary_and_diagnosis(session, 5, SERIAL)

    # WHEN
    text = " ".join(brief_text(data, diagnosis).split())

    # THEN they are bytes by the run's time, and time that ranks spent is named as such
    said = 0
    for counter, time in (("BYTES_READ", "F_READ_TIME"), ("BYTES_WRITTEN", "F_WRITE_TIME")):
        moved, in_calls_s = summed(report, counter, "counters"), summed(report, time, "fcounters")
        if not moved or not in_calls_s:
            continue
        assert f"{human_bytes(moved)} in " in text
        rate = f"{human_rate(moved, run_s)} over the whole run"
        assert f"; {rate}; {human_seconds(in_calls_s)} added up" in text
        said += 1
    assert said
    assert text.count("over the whole run") == said


def test_a_recorded_session_has_no_rates_over_the_whole_run(tmp_path):
    with tfdarshan.profile(tmp_path / "logs", engine="builtin", tf_profiler=False):
        Path(__file__).read_bytes()
    session = tfdarshan.open_session(tmp_path / "logs")

    text = brief_text(*summary_and_diagnosis(session, 5, SERIAL))

    assert "over the whole run" not in text
    assert not any(isinstance(one, Text) and one.title == FOLDED for one in overview_view(Source(session)))


@pytest.mark.parametrize("shown", [*UNTRACED, "sample-dxt-simple.darshan"], indirect=True)
def test_what_a_log_does_not_say_is_folded_away(shown):
    _, session = shown
    data, _ = summary_and_diagnosis(session, 5, SERIAL)

    (panel,) = [
        panel for panel in overview_view(Source(session)) if isinstance(panel, Text) and panel.title == FOLDED
    ]

    assert panel.folded
    assert list(panel.lines) == list(data.not_known)
    assert len(panel.lines) > 1
