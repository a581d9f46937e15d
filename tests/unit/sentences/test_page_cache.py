"""What the page cache served: one share of the input wherever it is said, another one of all bytes."""

from __future__ import annotations

import pytest

from tests.one_measurement import TIER
from tests.unit.sentences.raw_figures import raw
from tests.unit.sentences.sessions import EDGES, KB, MB, partly_cached
from tests.unit.staging.synthetic import FAST
from tfdarshan.commands import main
from tfdarshan.comparison.change import compare
from tfdarshan.comparison.measured_run import Side
from tfdarshan.findings.diagnosis import diagnose
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

    # THEN the page cache is named from nine tenths on
    served = notes.get("page_cache")
    assert (served is not None) == (stored <= read / 10)
    if served is not None:
        assert served.title == f"the page cache served {percent(read - stored, read)} of the input"


@pytest.mark.parametrize("stored", [10 * KB, 6 * MB, 0])
def test_staging_is_refused_for_what_the_page_cache_serves(stored, tmp_path):
    # GIVEN slow reads of 8 ms, of which the kernel fetched a part, or nothing
    advice = decide([partly_cached(tmp_path, stored)], QUESTION, FAST).advice

    # THEN
    assert advice.helps == (stored == 6 * MB)


@pytest.mark.parametrize(("stored", "words"), [(6 * MB, "24.0 %"), (40 * MB, "100.0 %"), (0, "0.0 %")])
def test_a_comparison_speaks_of_all_bytes(stored, words, tmp_path):
    # GIVEN 25 MB that the job read, for which the kernel fetched so much; read-ahead may be more
    one = Side("A", [Source(partly_cached(tmp_path / "a", stored, 25 * MB))])
    two = Side("B", [Source(partly_cached(tmp_path / "b", 12 * MB, 25 * MB))])

    # WHEN
    (check,) = [check for check in compare(one, two).checks if check.name == "cache state"]

    # THEN
    assert f"A: at most {words} of the bytes that it read came from storage" in check.sentence


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
