"""What the page cache served: one share of the input wherever it is said, another one of all bytes."""

from __future__ import annotations

import pytest

from tests.one_measurement import TIER
from tests.unit.sentences.raw_figures import raw
from tests.unit.sentences.sessions import EDGES, KB, MB, partly_cached, read_whole_again
from tests.unit.staging.synthetic import FAST
from tfdarshan.commands import main
from tfdarshan.comparison.change import compare
from tfdarshan.comparison.measured_run import Side
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.whatif import StorageChange, what_if
from tfdarshan.reports.text.advice_text import render
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import decide
from tfdarshan.staging.question import Question
from tfdarshan.units import percent

QUESTION = Question(fast="/fast", room_bytes=1 << 40, block_bytes=4096)


@pytest.mark.parametrize("stored", [10 * KB, MB, 6 * MB, 20 * MB])
def test_the_input_has_one_share(stored, tmp_path):
    # GIVEN a job that read 67 MB, 20 MB of it input, while the kernel fetched so much
    session = partly_cached(tmp_path, stored, 67 * MB)
    read = raw(session).data_reads["length"].sum()

    # WHEN
    notes = {finding.name: finding for finding in diagnose(session).findings}
    advice = " ".join(render(decide([session], QUESTION, FAST).advice).split())

    # THEN the page cache is named from nine tenths on, and advice has the rest of what that says
    assert f"{percent(stored, read)} of their bytes, by the kernel's count" in advice
    served = notes.get("page_cache")
    assert (served is not None) == (stored <= read / 10)
    if served is not None:
        assert served.title == f"the page cache served {percent(read - stored, read)} of the input"


def test_times_tell_it_where_the_kernel_does_not(tmp_path):
    session = read_whole_again(tmp_path)

    text = " ".join(render(decide([session], QUESTION, FAST).advice).split())

    assert "100.0 % of their bytes, by the time of each pass" in text


@pytest.mark.parametrize(("stored", "tier"), [(10 * KB, "8.0 ms"), (6 * MB, "8.0 ms"), (0, "not known")])
def test_a_pass_is_fitted_on_what_storage_served(stored, tier, tmp_path):
    # GIVEN slow reads of 8 ms, of which the kernel fetched a part, or nothing
    session = partly_cached(tmp_path, stored)

    # WHEN
    advice = decide([session], QUESTION, FAST).advice
    text = " ".join(render(advice).split())

    # THEN staging is refused for what the page cache serves, never for time that storage did not take
    assert f"other files {tier}" in text
    assert "other file calls are the limit" not in text
    assert advice.helps == (stored == 6 * MB)


@pytest.mark.parametrize(("stored", "words"), [(6 * MB, "24.0 %"), (40 * MB, "100.0 %"), (0, "0.0 %")])
def test_a_comparison_speaks_of_all_bytes(stored, words, tmp_path):
    # GIVEN 25 MB that the job read, for which the kernel fetched so much; read-ahead may be more
    one = Side("A", [Source(partly_cached(tmp_path / "a", stored, 25 * MB))])
    two = Side("B", [Source(partly_cached(tmp_path / "b", 12 * MB, 25 * MB))])

    # WHEN
    (check,) = [check for check in compare(one, two).checks if check.name == "cache state"]

    # THEN
    assert f"A: {words} of all bytes that it read came from storage" in check.sentence


@pytest.mark.parametrize(("stored", "said"), [(6 * MB, True), (20 * MB, False)])
def test_what_if_names_its_parts(stored, said, tmp_path):
    # GIVEN slow reads of 20 MB; all of it came from storage, or a part
    found = what_if(measure(partly_cached(tmp_path, stored)), StorageChange(latency=0.5))

    # THEN the parts of P are the table's
    (pipeline,) = [text for text in found.assumptions if text.startswith("P = ")]
    assert ("that the page cache served" in pipeline) == said
    assert any("no device makes that quicker" in text for text in found.assumptions) == said


def test_one_read_is_not_asked_for_more_readers(tmp_path, capsys, monkeypatch):
    # GIVEN one read: no second one can run beside it
    monkeypatch.setattr("tfdarshan.staging.probe.probe_tier", lambda *_: TIER)
    session = EDGES["one call"](tmp_path)

    # WHEN
    assert main(["whatif", str(session.path)]) == 0

    # THEN
    text = capsys.readouterr().out
    assert "--threads" not in text
    assert "--latency 0.5x" in text
