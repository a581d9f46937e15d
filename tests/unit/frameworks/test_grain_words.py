"""What a dataset of Grain's declares, and its fixes as one types them; without Grain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tfdarshan.frameworks import all_frameworks
from tfdarshan.frameworks.adapter import DeclaredInput
from tfdarshan.frameworks.grain.dataset_look import declared, look_of
from tfdarshan.frameworks.grain.dataset_words import GUARDED, DatasetWords
from tfdarshan.frameworks.words import DRAWN_BEHIND

LOOK = {"framework": "grain", "dataset": "PrefetchDatasetIterator", "batch_size": 8, "shuffled": True,
        "workers": 0, "threads": 3, "buffer": 7, "buffer_batches": 7}  # fmt: skip
SERIAL = LOOK | {"threads": 0, "buffer": 0, "buffer_batches": 0}
WORKERS = LOOK | {"workers": 2, "threads": 16, "buffer": 500, "buffer_batches": 500}
THREADS = "dataset = dataset.to_iter_dataset(grain.ReadOptions(num_threads={}))"
PROCESSES = "\ndataset = dataset.mp_prefetch(grain.MultiprocessingOptions(num_workers={}))"


def stage(kind, *below, **has):
    """Make a stage of a class of that name, upon others."""
    made = type(kind, (), {})()
    vars(made).update(has, _parents=below)
    return made


def read_by(threads, buffer, *below):
    options = SimpleNamespace(num_threads=threads, prefetch_buffer_size=buffer)
    return stage("PrefetchDatasetIterator", *below, _read_options=options)


def test_batches_that_threads_make_are_what_a_buffer_holds():
    batches = stage("BatchMapDataset", stage("ShuffleMapDataset"), _batch_size=8)

    assert look_of(read_by(3, 7, batches)) == LOOK


def test_samples_that_threads_read_are_put_together_behind_them():
    look = look_of(stage("_BatchDatasetIterator", read_by(16, 500), _batch_size=4))

    assert (look["buffer"], look["buffer_batches"], look["shuffled"]) == (500, 125, False)
    assert look["buffer_batch"] == 4


def test_processes_are_the_parts_of_a_dataset_or_those_of_a_loader():
    parts = [stage("ProcessPrefetchIterDataset", read_by(16, 500)) for _ in range(2)]
    loader = SimpleNamespace(
        _multiprocessing_options=SimpleNamespace(num_workers=3), _sampler=SimpleNamespace(_shuffle=True)
    )

    assert look_of(stage("InterleaveDatasetIterator", _datasets=parts))["workers"] == 2
    of_loader = look_of(stage("DataLoaderIterator", _data_loader=loader, _iterator=read_by(1, 2)))
    assert (of_loader["workers"], of_loader["threads"], of_loader["shuffled"]) == (3, 1, True)


def test_what_grain_tunes_or_another_version_calls_otherwise_is_not_known():
    tuned = read_by(SimpleNamespace(value=4), 8)

    for iterator in (tuned, stage("Iterator"), object()):
        look = look_of(iterator)
        assert "threads" not in look
        meta = {"loaders": {"found": [look | {"training": True}]}}
        assert all_frameworks.declared_input(meta) is None
        assert all_frameworks.words_of(meta) is None


@pytest.mark.parametrize(
    ("look", "told"),
    [
        (LOOK, DeclaredInput(readers=3, prefetch=7, processes=None)),
        (SERIAL, DeclaredInput(readers=0, prefetch=0, processes=None)),
        (WORKERS, DeclaredInput(readers=32, prefetch=500, processes=2)),
    ],
    ids=["threads", "the loop", "processes"],
)
def test_threads_and_processes_are_readers(look, told):
    assert declared(look) == told
    assert all_frameworks.declared_input({"loaders": {"found": [look | {"training": True}]}}) == told


@pytest.mark.parametrize(
    ("look", "said", "line"),
    [
        (
            SERIAL,
            "Now the dataset has no thread: the training loop reads its input itself.",
            THREADS.format(16),
        ),
        (LOOK, "Now the dataset has 3 threads.", THREADS.format("16, prefetch_buffer_size=32")),
        (WORKERS, "Have 16 threads read the input.", THREADS.format(8) + PROCESSES.format(2)),
    ],
    ids=["the loop", "threads", "processes"],
)
def test_more_readers_are_more_threads(look, said, line):
    fix = DatasetWords(look).more_readers(16)

    assert said in fix.what
    assert (fix.line, fix.instead_of) == (line, DatasetWords(look).lines())


def test_a_loader_has_its_threads_among_its_arguments():
    fix = DatasetWords(WORKERS | {"dataset": "DataLoader"}).fewer_readers(2)

    assert fix.what == "Have 2 threads read the input."
    assert fix.line == (
        "loader = grain.DataLoader(data_source=source, sampler=sampler, operations=operations, "
        "worker_count=2, read_options=grain.ReadOptions(num_threads=1))"
    )


@pytest.mark.parametrize(
    ("look", "said", "line"),
    [
        (SERIAL, "A thread of Grain's prepares them.", THREADS.format("1, prefetch_buffer_size=4")),
        (LOOK, "The threads then have up to 14 ready.", THREADS.format("3, prefetch_buffer_size=14")),
    ],
)
def test_what_is_ahead_is_a_thread_s_or_a_larger_buffer_s(look, said, line):
    fix = DatasetWords(look).read_ahead()

    assert fix.what == f"Prepare the next batches while a step computes. {said}"
    assert fix.line == line


def test_processes_decode_without_sharing_a_lock():
    fix = DatasetWords(SERIAL).more_decoding(2)

    assert fix.what == f"Decode in 2 processes, which do not share Python's lock. {GUARDED}"
    assert fix.line == THREADS.format("0, prefetch_buffer_size=0") + PROCESSES.format(2)


def test_processes_load_what_is_kept_before_they_start():
    threads, processes = (DatasetWords(look).keep_in_memory() for look in (LOOK, WORKERS))

    assert threads.what == f"Keep the source's samples in memory from the first epoch on. {DRAWN_BEHIND}"
    assert threads.line.startswith("@functools.cache\n")
    assert "Processes do not share what they read: load them before the first epoch." in processes.what
    assert (threads.loads_first, processes.loads_first) == (False, True)


@pytest.mark.parametrize(
    ("fix", "said"),
    [
        (lambda words: words.more_validation(16), "Have 16 threads read the validation set."),
        (lambda words: words.keep_workers(), "Iterate once over all epochs, so that Grain starts its"),
        (
            lambda words: words.any_order(),
            "Have more threads make the batches behind a slow one: Grain keeps",
        ),
        (lambda words: words.more_shards(4), "Split the input into 4 parts of one size."),
        (lambda words: words.equal_parts(), "Give each process samples of all sizes."),
        (lambda words: words.read_in_order(52), "Read blocks of 52 consecutive samples, and shuffle the"),
        (lambda words: words.less_transport(), "Move fewer bytes from processes to the training loop."),
    ],
)
def test_other_fixes_are_of_grain_s_own_words(fix, said):
    made = fix(DatasetWords(WORKERS))

    assert made.what.startswith(said)
    assert "DataLoader" not in made.line
    assert made.line


def test_readers_are_the_threads_of_all_processes():
    # GIVEN two processes of 16 threads each, and eight of one
    words, many = DatasetWords(WORKERS), DatasetWords(WORKERS | {"workers": 8, "threads": 1})

    # THEN
    assert "Now the dataset has 32 threads." in words.more_readers(64).what
    assert many.fewer_readers(2).line == THREADS.format(1) + PROCESSES.format(2)


@pytest.mark.parametrize("threads", [0, 16])
def test_a_buffer_of_samples_holds_whole_batches(threads):
    # GIVEN samples that are put together to batches of 1024 behind the threads
    look = SERIAL | {"threads": threads, "buffer": 500 * (threads > 0), "buffer_batch": 1024}

    # THEN
    buffer = 4 * 1024 if not threads else 2 * 1024
    line = THREADS.format(f"{threads or 1}, prefetch_buffer_size={buffer}")
    assert DatasetWords(look).read_ahead().line == line


def test_the_validation_set_is_made_as_the_training_set_is():
    fix = DatasetWords(SERIAL).more_validation(16)

    assert fix.line == THREADS.format(16).replace("dataset =", "validation =").replace(
        "dataset.", "validation."
    )
    assert fix.instead_of == DatasetWords(SERIAL).lines("validation")
    assert fix.line != fix.instead_of


def test_blocks_hold_all_samples_once():
    # GIVEN a source of less than four blocks
    places: dict[str, Any] = {"np": np, "source": range(200)}

    # WHEN
    blocks, order, dataset = DatasetWords(LOOK).read_in_order(64).line.splitlines()
    exec(f"{blocks}\n{order}", places)

    # THEN
    assert sorted(places["order"]) == list(range(200))
    steps = np.diff(places["order"])
    assert np.count_nonzero(steps != 1) <= 3
    assert dataset == "dataset = grain.MapDataset.source(order).map(source.__getitem__)"


def test_a_rank_has_a_slice_or_a_part_of_a_loader():
    assert (
        DatasetWords(LOOK).part_of_rank().line
        == "dataset = dataset[rank::world_size]  # in front of shuffle()"
    )
    loader = DatasetWords(LOOK | {"dataset": "DataLoader"}).part_of_rank()
    assert loader.line == loader.instead_of[:-1] + ", shard_options=grain.sharding.ShardByJaxProcess())"


def test_processes_of_an_older_version_are_those_of_a_single_stage():
    # GIVEN a stage that starts all processes, as before Grain 0.2.16
    asked = SimpleNamespace(num_workers=3)
    below = stage("PrefetchIterDataset", stage("BatchMapDataset", _batch_size=8), **vars(read_by(2, 6)))
    kind = "_MultiprocessPrefetchDatasetIterator"
    look = look_of(stage(kind, _iter_parent=below, _multiprocessing_options=asked))

    # THEN
    assert (look["workers"], look["threads"], look["batch_size"]) == (3, 2, 8)
    assert declared(look) == DeclaredInput(readers=6, prefetch=6, processes=3)


@pytest.mark.parametrize("reads_in_loader", [True, False])
def test_a_loader_says_its_batch_size_by_its_operations(reads_in_loader):
    # GIVEN the DataLoader of 0.2.15, whose iterator has an operation, or one of before, without stages
    options = SimpleNamespace(num_threads=2, prefetch_buffer_size=64)
    map_, batch = SimpleNamespace(function=None), SimpleNamespace(batch_size=8)
    loader = SimpleNamespace(_operations=[batch, map_], _read_options=options)
    stages = [] if reads_in_loader else [stage("_OperationDatasetIterator", read_by(2, 64), _operation=batch)]

    # THEN its threads read samples
    look = look_of(stage("DataLoaderIterator", *stages, _data_loader=loader))
    assert (look["batch_size"], look["threads"]) == (8, 2)
    assert (look["buffer"], look["buffer_batches"], look["buffer_batch"]) == (64, 8, 8)
