"""Steps and waits of loops over Grain's loaders and datasets, which nobody has changed."""

import time

import numpy as np
import pytest

import tfdarshan
from tfdarshan.frameworks import all_frameworks
from tfdarshan.frameworks.adapter import DeclaredInput

pytestmark = pytest.mark.filterwarnings("ignore::Warning")
POINTS, READ_S, COMPUTE_S = 0.02, 0.002, 0.004


@pytest.fixture(scope="module")
def grain():
    return pytest.importorskip("grain")


class Source:
    def __init__(self, samples=32):
        self._samples = samples

    def __len__(self):
        return self._samples

    def __getitem__(self, number):
        time.sleep(READ_S)
        return np.full(16, number)


def looped(batches):
    """Return the batches, and the share of the loop's time that it waited, with the number of steps."""
    seen, wait_s, begin = [], 0.0, time.perf_counter()
    first = begin
    iterator = iter(batches)
    while True:
        try:
            batch = next(iterator)
        except StopIteration:
            break
        wait_s += time.perf_counter() - begin
        seen.append(np.asarray(batch).tolist())
        time.sleep(COMPUTE_S)
        begin = time.perf_counter()
    return seen, wait_s / (begin - first), len(seen)


def dataset_of(grain):
    return grain.MapDataset.source(Source()).shuffle(seed=3).batch(4)


def loader_of(grain):
    sampler = grain.samplers.IndexSampler(len(Source()), num_epochs=1, shuffle=True, seed=3)
    batched = [grain.transforms.Batch(4)]
    return grain.DataLoader(data_source=Source(), sampler=sampler, operations=batched)


KINDS = {
    "loader": loader_of,
    "dataset": dataset_of,
    "prefetched": lambda grain: dataset_of(grain).to_iter_dataset(),
    "mapped": lambda grain: (
        dataset_of(grain).map(lambda batch: batch + 1).to_iter_dataset().map(lambda one: one)
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_steps_and_waits_are_those_that_the_loop_times(grain, kind, tmp_path):
    # GIVEN
    bare, _, _ = looped(KINDS[kind](grain))

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        recorded, share, count = looped(KINDS[kind](grain))

    # THEN
    assert recorded == bare
    steps = session.steps
    assert len(steps) == count
    assert set(steps["source"]) == {"Grain's batches"}
    assert len(session.meta[0]["loaders"]["found"]) == 1
    told = steps["input_wait_ns"].sum() / (steps["end_ns"] - steps["start_ns"]).sum()
    assert abs(told - share) <= POINTS


@pytest.mark.parametrize(
    ("threads", "buffer", "told"),
    [(0, 0, DeclaredInput(0, 0, None)), (2, 6, DeclaredInput(2, 6, None))],
    ids=["the loop", "two threads"],
)
def test_a_session_says_how_the_dataset_reads(grain, threads, buffer, told, tmp_path):
    options = grain.ReadOptions(num_threads=threads, prefetch_buffer_size=buffer)

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        looped(dataset_of(grain).to_iter_dataset(options))

    # THEN the replay goes by it, and fixes are typed with it
    meta = session.meta[0]
    (look,) = meta["loaders"]["found"]
    assert (look["batch_size"], look["shuffled"]) == (4, True)
    assert all_frameworks.declared_input(meta) == told
    has = f"grain.ReadOptions(num_threads={threads}, prefetch_buffer_size={buffer})"
    fix = all_frameworks.words_of(meta).more_readers(16)
    assert fix.instead_of == f"dataset = dataset.to_iter_dataset({has})"


def sliced_of(grain):
    whole = grain.MapDataset.source(Source())
    return whole[:24].batch(4), whole[24:].batch(4)


class Anew:
    """Makes a dataset anew for each pass over it."""

    def __init__(self, make):
        self._make = make

    def __iter__(self):
        return iter(self._make())


SHARED = Source()


def made_anew_of(grain):
    sources = Source(), Source()
    return [Anew(lambda source=one: grain.MapDataset.source(source)[::2].batch(4)) for one in sources]


TWO_SETS = {
    "loaders": lambda grain: (loader_of(grain), loader_of(grain)),
    "datasets": lambda grain: (dataset_of(grain), dataset_of(grain)),
    "lists": lambda grain: [grain.MapDataset.source(list(range(32))).batch(4) for _ in range(2)],
    "slices of one source": sliced_of,
    "made anew": made_anew_of,
    "slices made anew": lambda grain: [
        Anew(lambda part=part: grain.MapDataset.source(SHARED)[part].shuffle(seed=3).batch(4))
        for part in (slice(24), slice(24, 32))
    ],
    "sources made anew": lambda grain: [
        Anew(lambda samples=samples: grain.MapDataset.source(Source(samples)).batch(4))
        for samples in (32, 24)
    ],
    "ranges": lambda grain: [grain.MapDataset.range(32).batch(4).to_iter_dataset() for _ in range(2)],
}


@pytest.mark.parametrize("kind", TWO_SETS)
def test_a_validation_set_that_looks_like_the_training_set_is_no_epoch(grain, kind, tmp_path):
    # GIVEN
    training, validation = TWO_SETS[kind](grain)
    validation_batches = []

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in range(2):
            batches, _, _ = looped(training)
            validation_batches += [np.asarray(batch) for batch in validation]

    # THEN
    assert len(validation_batches) > 0
    assert session.steps["epoch"].tolist() == [1] * len(batches) + [2] * len(batches)
    assert [one["training"] for one in session.meta[0]["loaders"]["found"]] == [True, False]
