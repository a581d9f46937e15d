"""Who keeps what was read makes none of the calls of later epochs, whoever served them."""

import pytest

from tests.scenario_sessions import KB, MB
from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.findings.test_cures_of_pipelines import BATCH, LOAD, PATHS
from tfdarshan.analysis.step_model import noise_s
from tfdarshan.findings import decode_bound
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure

FILES, COMPUTE_MS, READ_MS, OPEN_MS = 60, 1.0, 1.0, 0.5


def job(logdir, *, epochs=3, first_ms=READ_MS, size=MB):
    """Gives epochs of a loop that opens and reads a file of 1 MiB for each step, and computes for 1 ms.

    Reads take as long as copying out of the page cache; those of the first epoch may be storage's.
    """
    at, steps = 0.0, []
    calls: list[tuple] = []
    for epoch in range(epochs):
        for file in range(FILES):
            read = at + OPEN_MS
            end = read + (first_ms if epoch == 0 else READ_MS)
            calls += [(at, read, LOOP, "open", file, 0), (read, end, LOOP, "read", file, size)]
            steps.append((at, end + COMPUTE_MS, end - at))
            at = end + COMPUTE_MS
    return training(
        logdir, calls, steps, paths=[f"/data/{n}" for n in range(FILES)], sizes=[size] * FILES,
        meta={"machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 0.1}},
    )  # fmt: skip


def kept(session):
    return next((one for one in diagnose(session).findings if one.name == "fits_in_memory"), None)


def test_what_the_page_cache_serves_again_and_again_is_kept(tmp_path):
    # GIVEN three epochs of 1.5 ms of calls a step and 1 ms of compute, all of it from the page cache
    session = job(tmp_path)
    one = kept(session)

    # THEN two of three passes are spared, opens as well, which is more than reading ahead gives: no more
    # than 1 ms of a step
    assert diagnose(session).verdict.finding == "fits_in_memory"
    assert one.gain.saved_s == pytest.approx(0.97 * 1.5e-3 * 2 / 3, rel=0.02)
    sure_s = 0.7 * 1.5e-3 * 2 / 3
    assert one.gain.low_s == pytest.approx(sure_s - noise_s(2.5e-3, sure_s), rel=0.05)
    assert one.title == "input that fits into memory is read 3.0 times"
    told = "who keeps what was read makes no calls for it again"
    assert any(told in entry.claim for entry in one.gain.assumptions)
    assert any(
        " of the time in calls is that of later passes" in entry.support for entry in one.gain.assumptions
    )
    assert "each epoch reads other samples" in [entry.refuted_by for entry in one.gain.assumptions]


def test_what_is_loaded_into_the_processors_caches_again_is_in_the_upper_bound(tmp_path):
    # GIVEN the same calls, on ever fewer bytes
    large, small = (kept(job(tmp_path / str(size), size=size)).gain for size in (MB, 1000))

    # THEN two thirds of 1 MiB a step at 10 GB/s come on top
    assert large.saved_s == pytest.approx(small.saved_s, rel=0.01)
    assert large.high_s - small.high_s == pytest.approx(MB / 10e9 * 2 / 3, rel=0.05)


def test_of_files_that_storage_served_first_later_copies_are_spared(tmp_path):
    # GIVEN a first epoch of 20 ms a read, and later ones from the page cache
    one = kept(job(tmp_path, first_ms=20.0))

    # THEN these are spared, and the first epoch is not
    assert one.gain.saved_s == pytest.approx(0.97 * 1.5e-3 * 2 / 3, rel=0.02)


def test_one_epoch_has_nothing_to_keep(tmp_path):
    assert kept(job(tmp_path, epochs=1)) is None


@pytest.mark.parametrize("quick_ms", [30.0, 20.0])
def test_steps_that_share_the_processors_with_decoding_are_quicker_without_it_at_most(
    tmp_path, monkeypatch, quick_ms
):
    # GIVEN a pipeline that decodes beside steps, too; a fifth of these take 20 ms, and not 30
    at, steps = 0.0, []
    calls: list[tuple] = []
    for step in range(100):
        computes = quick_ms if step % 5 == 0 else 30.0
        steps.append((at, at + 20 + computes, 20.0))
        calls += [
            (at + n, at + n + 1, 1, "pread", step % 25, 100 * KB, n // 10 * 100 * KB)
            for n in range(0, round(20 + computes), 10)
        ]
        at += 20 + computes
    stages = [PATHS, LOAD | {"does": ["reads", "decodes"]}, BATCH]
    one = {"stages": stages, "pool_threads": None, "datasets": 1, "iterators": 4}
    session = training(
        tmp_path, calls, steps, paths=[f"/data/{n}" for n in range(25)], sizes=[500 * KB] * 25,
        meta={"machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 4.0},
              "pipelines": {"found": [one], "left_out": 0}},
    )  # fmt: skip
    measures = measure(session)

    # THEN what most take longer than the quickest tenth is in the upper bound, for three of four epochs
    kept = decode_bound._gain_of_keeping(measures)
    monkeypatch.setattr(decode_bound, "QUICK", 0.5)
    alone = decode_bound._gain_of_keeping(measures)
    spared_s = (30 - quick_ms) / 1000 * (1 - 1 / measures.passes)
    assert kept.high_s - alone.high_s == pytest.approx(spared_s, abs=1e-4)
    assert (kept.low_s, kept.saved_s) == (alone.low_s, alone.saved_s)
