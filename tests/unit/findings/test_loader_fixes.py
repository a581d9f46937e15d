"""Fixes of a job whose batches come from a DataLoader are typed with that."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.findings.made_up_loaders import crowded_job, loader_job
from tests.unit.replay.made_up_jobs import file_job
from tfdarshan.analysis.steps.loader_waits import waits_of
from tfdarshan.findings import (
    decode_bound,
    few_shards,
    fits_in_memory,
    head_of_line,
    low_coverage,
    random_access,
    read_parallelism,
    too_many_workers,
    unsharded_input,
)
from tfdarshan.findings.finding import Unknown
from tfdarshan.findings.measurement import measure
from tfdarshan.frameworks.pytorch.loader_words import LoaderWords
from tfdarshan.replay.edits import CacheInMemory
from tfdarshan.replay.session_facts import facts_of

NOW = "DataLoader(dataset, batch_size=4, shuffle=True, num_workers=2)"


def test_fixes_are_typed_with_the_loader_and_never_with_tf_data(tmp_path):
    # GIVEN two workers that the loop waits for
    session = loader_job(tmp_path, fetch_ms=(40, 40))

    # WHEN
    fixes = [finding.fix for finding in session.findings if finding.fix is not None]

    # THEN
    assert f"loader = {NOW}" in [fix.instead_of for fix in fixes]
    assert [fix for fix in fixes if "tf.data" in f"{fix.what}{fix.line}{fix.instead_of}"] == []
    assert "tf.data" not in session.summary(verbose=True)


def test_the_replay_model_has_the_workers_that_the_loader_declares(tmp_path):
    # THEN
    pipeline = facts_of(loader_job(tmp_path)).pipeline
    assert (pipeline.readers, pipeline.declared_readers, pipeline.prefetch) == (2.0, 2, 2)
    assert pipeline.framework
    assert pipeline.processes == 2


def test_a_loop_without_workers_reads_by_itself(tmp_path):
    # THEN
    pipeline = facts_of(loader_job(tmp_path, workers=0, prefetch_factor=0)).pipeline
    assert (pipeline.declared_readers, pipeline.prefetch, pipeline.processes) == (None, 0, 0)


@pytest.mark.parametrize(
    ("look", "line"),
    [
        ({"workers": 0}, "@functools.cache\ndef __getitem__(self, number):"),
        (
            {"workers": 2},
            (
                "samples = [dataset[number] for number in range(len(dataset))]\n"
                "loader = DataLoader(samples, num_workers=2)"
            ),
        ),
        (
            {"workers": 0, "installed": True},
            ("samples = [dataset[number] for number in range(len(dataset))]\nloader = DataLoader(samples)"),
        ),
        ({"workers": 0, "iterable": True}, "samples = list(dataset)\nloader = DataLoader(samples)"),
        (
            {"workers": 2, "iterable": True},
            "samples = list(dataset)\nloader = DataLoader(samples, num_workers=2)",
        ),
    ],
)
def test_samples_are_kept_as_the_data_set_gives_them(look, line):
    # GIVEN a data set of samples by number, one of a package, and an iterable one, which has no numbers
    assert LoaderWords(look).keep_in_memory().line == line


def test_a_rank_loads_what_all_ranks_read(tmp_path):
    # GIVEN a rank of eight: three epochs of 24 samples, one a batch, of a data set of 192
    look = {"batch_size": 1, "samples": 8 * 24}
    session = loader_job(tmp_path, pairs=12, fetch_ms=(50, 50), **look)
    measures = measure(session)

    # WHEN
    found = fits_in_memory.find(with_memory(measures, 1 << 34))

    # THEN 24 MB of files were seen, and 192 MB are loaded
    assert found.edits == (CacheInMemory(decoded=True, loads_first=True, all_input=8 * 24 / 72),)
    assert fits_in_memory.find(with_memory(measures, 192_000_000 / 0.4 + 1))
    assert not fits_in_memory.find(with_memory(measures, 192_000_000 / 0.4 - 1))


def test_ranks_do_not_share_what_they_keep(tmp_path):
    # GIVEN a loop that reads 6.4 MB in each of ten epochs, one rank of eight on its host
    job = {"launcher": "torchrun", "job": "1", "rank": 0, "world_size": 8, "local_size": 8, "clock": {}}
    session = file_job(tmp_path, epochs=10, batches=2, files=32, meta={"job": job})
    measures = measure(session)

    # THEN eight copies have to fit into 40 % of the memory
    assert not fits_in_memory.find(with_memory(measures, 8 * 6_400_000 / 0.4 - 8))
    found = fits_in_memory.find(with_memory(measures, 8 * 6_400_000 / 0.4))
    assert "The copies of the host's 8 ranks take 40.0 % of the 128.0 MB of memory." in found.what


def with_memory(measures, memory_bytes):
    """Return the measures of the job on a machine with so much memory."""
    return replace(measures, machine=replace(measures.machine, memory_bytes=memory_bytes))


def test_workers_that_have_nothing_to_read_are_no_readers(tmp_path):
    # GIVEN eight workers, two of which gave all batches
    session = loader_job(tmp_path, workers=8, working=2, iterable=True)

    # WHEN
    measures = measure(session)

    # THEN more workers are no fix, but more shards are
    assert facts_of(session).pipeline.readers == 2.0
    assert read_parallelism.find(measures) is None
    assert "Split the input into 8 (or 16, 24, ...) shards" in few_shards.find(measures).fix.what
    assert decode_bound._limit(measures) == "the input has fewer shards than workers"


@pytest.mark.parametrize("changes", [{"cpus": 17}, {"workers": 2}, {"read_ms": 400, "decode_ms": 1}])
def test_few_workers_or_such_as_wait_for_files_are_not_too_many(changes, tmp_path):
    assert "too_many_workers" not in [found.name for found in crowded_job(tmp_path, **changes).findings]


def test_as_many_workers_as_processors_bring_the_first_batch_sooner(tmp_path):
    # GIVEN 16 workers that take turns at two processors: each epoch begins with a wait for all
    session = crowded_job(tmp_path)

    # WHEN
    found = too_many_workers.find(measure(session))

    # THEN
    assert "num_workers=2, persistent_workers=True" in found.fix.line
    assert "too_many_workers" in [one.name for one in session.findings]


def test_ready_batches_that_wait_cost_what_workers_have_nothing_to_do():
    # GIVEN two workers: one takes 50 ms for a batch, and the other one 10 ms, or 49 ms
    ms = 1_000_000
    columns = {
        "epoch": np.ones(4, int), "batch": np.arange(4), "worker": np.array([0, 1, 0, 1]),
        "request_ns": np.array([0, 50, 50, 100]) * ms, "arrival_ns": np.array([50, 50, 100, 100]) * ms,
        "fetch_start_ns": np.array([0, 0, 50, 50]) * ms, "fetch_end_ns": np.array([50, 10, 100, 60]) * ms,
    }  # fmt: skip

    # WHEN
    idle, busy = (
        waits_of(columns | {"fetch_end_ns": columns["fetch_end_ns"] + np.array([0, longer, 0, longer]) * ms})
        for longer in (0, 39)
    )

    # THEN the second one rests for all of 40 ms, which is half of what both can do, or for 1 ms
    assert idle.ready_s.tolist() == [0.040, 0.0, 0.040, 0.0]
    assert idle.idle_s.tolist() == [0.020, 0.0, 0.020, 0.0]
    assert busy.ready_s.tolist() == pytest.approx([0.001, 0.0, 0.001, 0.0])
    assert busy.idle_s.tolist() == pytest.approx([0.0005, 0.0, 0.0005, 0.0])


def test_workers_older_than_the_session_are_said_to_be_so(tmp_path):
    # WHEN
    found = head_of_line.find(measure(loader_job(tmp_path, fetch_ms=(50, 10), older=True, working=2)))

    # THEN
    assert found == Unknown(
        "head_of_line",
        "which batches were ready: the workers started before the session, which has no times of theirs",
        "start the session before the first epoch",
    )


def test_workers_that_were_not_recorded_come_first(tmp_path):
    # GIVEN batches from two workers, in a session of one process
    found = loader_job(tmp_path, fetch_ms=(40, 40), working=2).findings

    # THEN
    first = found.findings[0]
    assert (first.name, first.kind) == ("low_coverage", "doubt")
    assert first.title == "the loader's 2 workers were not recorded"
    assert "Install tfdarshan with pip" in first.fix.what


def test_a_worker_that_nobody_asked_to_record_is_told_of(tmp_path):
    # GIVEN batches from one worker, in a session that follows no children
    session = loader_job(tmp_path, fetch_ms=(40, 40), working=1)
    meta = session.processes[0].meta
    meta["loaders"]["found"][0]["workers"] = 1
    meta.setdefault("options", {})["follow_children"] = False

    # WHEN
    found = low_coverage.find(measure(session))

    # THEN
    assert found.title == "the loader's worker was not recorded"
    assert found.fix.what == "Record child processes as well: leave follow_children=False out."


def test_one_large_file_is_read_in_blocks_by_a_sampler(tmp_path):
    # GIVEN
    measures = measure(loader_job(tmp_path))

    # THEN blocks of 64 samples of 16 KiB are a megabyte
    fix = random_access._fix(measures, np.array([0]), 16 << 10)
    assert "sampler=order" in fix.line
    assert "blocks of 64 consecutive samples" in fix.what


def test_ranks_share_their_samples_by_the_loader_whatever_else_is_imported(tmp_path):
    # GIVEN a job that has TensorFlow loaded, as TensorBoard's writer has
    measures = measure(loader_job(tmp_path))

    # WHEN
    fix = unsharded_input._fix(replace(measures, versions={"torch": "2.8", "tensorflow": "2.21"}))

    # THEN
    assert fix.instead_of == f"loader = {NOW}"
    assert fix.line.startswith("sampler = DistributedSampler(dataset)")
    assert "sampler.set_epoch(epoch)" in fix.what
