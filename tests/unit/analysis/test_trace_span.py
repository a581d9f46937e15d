"""Which part of a session a cut trace covers, and that everything that rests on it says so."""

import json

import pytest

from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan import commands
from tfdarshan.analysis.calls.trace_span import trace_span
from tfdarshan.comparison.file_set import FilePair
from tfdarshan.comparison.likeness import check_likeness
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.reports.notebook import session_html
from tfdarshan.reports.views.banner import banner
from tfdarshan.reports.views.view_source import Source

SENTENCE = (
    "The trace has all calls of the first 400.0 ms of 2.000 s (20.0 %): figures of single calls are of that "
    "time, counters of all of it."
)


def meta(*, start_s=0, duration_s=10, dropped=0, first_s=None, trace=True):
    time = {} if first_s is None else {"first_dropped_ns": int(first_s * 1e9)}
    return {
        "start_ns": int(start_s * 1e9), "duration_ns": int(duration_s * 1e9), "time": time,
        "counts": {"events_dropped": dropped}, "options": {"trace": trace},
    }  # fmt: skip


@pytest.fixture
def cut(tmp_path):
    """Return a session of 20 steps whose trace has the calls of the first four."""
    calls = [(100 * n, 100 * n + 10, LOOP, "pread", 0, 1_000_000) for n in range(4)]
    counts = {
        "files": 1, "events": 20, "segments": 4, "events_dropped": 16, "files_over_cap": 0, "spool_bytes": 0,
        "spool_full": 0, "damaged": 0,
    }  # fmt: skip
    session = training(tmp_path, calls, epochs_of_steps(20, 100, 10), meta={"counts": counts})
    (path,) = session.path.glob("*.meta.json")
    content = json.loads(path.read_text())
    content["time"]["first_dropped_ns"] = 400_000_000
    path.write_text(json.dumps(content))
    session.meta[0]["time"]["first_dropped_ns"] = 400_000_000
    return session


def test_a_whole_trace_has_no_span():
    assert trace_span([meta(), meta(dropped=5, trace=False)]) is None


def test_the_sessions_span_ends_where_the_first_process_lacks_a_call():
    # GIVEN a child that began after 2 s and lacks calls from its own third second on
    span = trace_span(
        [meta(dropped=3, first_s=7), meta(start_s=2, duration_s=9, dropped=4, first_s=3), meta()]
    )

    assert (span.until_s, span.duration_s, span.dropped_calls) == (5, 11, 7)
    assert span.sentence.startswith("The trace has all calls of the first 5.000 s of 11.000 s (45.5 %):")


def test_a_span_that_is_not_known_is_not_made_up():
    span = trace_span([meta(dropped=3, first_s=7), meta(dropped=4)])

    assert span.until_s is None
    assert span.sentence.startswith("The trace lacks 7 calls, and it is not known when they were made")


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("verb", ["summary", "findings", "whatif"])
def test_every_verb_that_rests_on_the_trace_says_which_seconds(cut, capsys, verb):
    assert commands.main([verb, str(cut.path)]) == 0

    assert SENTENCE in words(capsys.readouterr().out.replace("\n    ", " "))


@pytest.mark.parametrize("verb", ["summary", "findings"])
def test_json_has_the_seconds(cut, capsys, verb):
    assert commands.main([verb, "--json", str(cut.path)]) == 0

    assert json.loads(capsys.readouterr().out)["trace_span"] == {
        "until_s": 0.4, "duration_s": 2.0, "dropped_calls": 16, "sentence": SENTENCE
    }  # fmt: skip


def test_advise_says_which_seconds(cut, capsys, tmp_path):
    assert commands.main(
        ["advise", "--logdir", str(cut.path), "--fast", str(tmp_path), "--capacity", "1G"]
    ) in (0, 1)

    assert SENTENCE in words(capsys.readouterr().out)


def test_every_view_begins_with_the_seconds(cut):
    (warning,) = banner(Source(cut))

    assert (warning.lines, warning.tone) == ([SENTENCE], "warning")
    assert [panel.title.partition(":")[0] for panel in banner(Source(cut), Source(cut))] == [
        cut.path.name
    ] * 2


def test_the_notebook_and_a_comparison_say_the_seconds(cut):
    source = Source(cut)
    files = FilePair(source.files, source.files).sets()

    checks = {check.name: check for check in check_likeness(source, source, files, ("A", "B"))}

    assert SENTENCE in session_html(cut)
    assert "16 calls without a segment (the trace has all of the first 400.0 ms of 2.000 s)" in (
        checks["complete"].sentence
    )


def test_the_finding_says_the_seconds(cut):
    (found,) = (finding for finding in diagnose(cut).findings if finding.name == "truncated_trace")

    assert SENTENCE in found.what
