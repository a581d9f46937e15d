"""A fix that a later session of the job shows to be without effect is not offered again, with why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.findings.made_up_jobs import BATCH, DECODE, LOAD, PATHS
from tests.unit.findings.made_up_jobs import pipeline_job as of_tf_data
from tests.unit.findings.made_up_reruns import one_after_the_other, reading
from tfdarshan.findings.applied_fixes import applied_fixes
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.finding import Finding, Fix, Gain
from tfdarshan.findings.measurement import measure
from tfdarshan.reports.text.findings_text import findings_text


def finding(name, expected):
    """Return a finding whose fix makes a step of 100 ms so many times faster."""
    saved_s = 0.1 * (1 - 1 / expected)
    gain = Gain("step", 0.1, saved_s / 2, saved_s, saved_s)
    return Finding(name, name, name, fix=Fix(f"{name}."), gain=gain)


def offered(session, name="read_parallelism"):
    found = next((one for one in diagnose(session).findings if one.name == name), None)
    return found is not None and found.fix is not None


def test_what_was_applied_in_vain_is_not_offered_again_with_a_larger_number(tmp_path):
    # GIVEN a job that was told to read with more calls at a time, and reads with 4 since, no quicker
    first, second = reading(tmp_path / "a"), reading(tmp_path / "b", 4)
    assert offered(first)
    assert offered(second)

    # WHEN both are in one logdir
    session = one_after_the_other(tmp_path / "logs", first, second)
    found = diagnose(session)

    # THEN it is a note without a fix, and says why
    (note,) = (one for one in found.findings if one.name == "read_parallelism")
    assert (note.kind, note.fix, note.gain) == ("note", None, None)
    assert found.verdict.finding != "read_parallelism"
    text = " ".join(findings_text(found).split())
    assert "Session 2026_01_01_00_00_00 advised this fix, and expected " in text
    assert "and a step takes 50.0 ms (before: 50.0 ms). This fix is not offered again." in text


@pytest.mark.parametrize("why", ["it helped", "it is not in", "it was taken out again", "another job"])
def test_it_is_offered_if_nothing_shows_that_it_is_in_vain(tmp_path, why):
    # GIVEN
    first = reading(tmp_path / "a")
    later = {
        "it helped": [reading(tmp_path / "b", 4, step_ms=25.0)],
        "it is not in": [reading(tmp_path / "c")],
        "it was taken out again": [reading(tmp_path / "d", 4), reading(tmp_path / "e")],
        "another job": [reading(tmp_path / "f", 4)],
    }[why]
    command = "python other.py" if why == "another job" else "python train.py"

    # THEN
    assert offered(one_after_the_other(tmp_path / "logs", first, *later, command=command))


CACHE, CUT = {"name": "cache"}, {"name": "take", "size": 9}


@pytest.mark.parametrize(
    ("later", "is_in"),
    [
        ((PATHS, LOAD, {"name": "take", "size": 144}, CACHE, BATCH), True),
        ((PATHS, LOAD, {"name": "take", "size": 144}, CACHE, BATCH, CUT), True),
        ((PATHS, LOAD, BATCH, CACHE, CUT), True),
        ((PATHS, LOAD, CACHE, BATCH, CUT, {"name": "prefetch", "size": -1}), False),
    ],
    ids=["moved behind the cut", "with another cut before it", "moved", "as it was"],
)
def test_a_cache_that_was_moved_in_vain_is_not_to_be_moved_again(tmp_path, later, is_in):
    # GIVEN a job that was told to put its cache() where it fills; a step takes as long since
    both = enumerate(((PATHS, LOAD, CACHE, BATCH, CUT), later))
    jobs = [measure(of_tf_data(tmp_path / str(n), *stages)) for n, stages in both]

    # WHEN
    tried = applied_fixes(jobs, lambda _: [finding("fits_in_memory", 1.5)])

    # THEN
    assert [one.name for one in tried] == ["fits_in_memory"] * is_in


@pytest.mark.parametrize("keeps", [True, False])
def test_so_it_is_of_a_cache_that_was_to_keep_what_is_decoded(tmp_path, keeps):
    # GIVEN a job that was told to keep what it decodes, or to decode with more calls; it has a cache() since
    both = enumerate(((PATHS, LOAD, DECODE, BATCH), (PATHS, LOAD, DECODE, CACHE, BATCH)))
    jobs = [measure(of_tf_data(tmp_path / str(n), *stages)) for n, stages in both]
    decode = "dataset = dataset.map(decode, num_parallel_calls=2)"
    fix = Fix("", f"{decode}.cache()" if keeps else decode.replace("2", "tf.data.AUTOTUNE"), decode)

    # WHEN
    tried = applied_fixes(jobs, lambda _: [replace(finding("decode_bound", 1.5), fix=fix)])

    # THEN
    assert [one.name for one in tried] == ["decode_bound"] * keeps
