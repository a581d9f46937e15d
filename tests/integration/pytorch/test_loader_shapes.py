"""Loaders of shapes that are not those of most jobs: how they are known, and what their steps are."""

import time

import pytest

import tfdarshan
from tfdarshan.frameworks.all_frameworks import words_of

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
COMPUTE_S = 0.01


@pytest.fixture
def data():
    return pytest.importorskip("torch.utils.data")


def test_a_data_set_that_gives_whole_batches_is_typed_as_such(data, tmp_path):
    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in data.DataLoader(list(range(6)), batch_size=None):
            time.sleep(COMPUTE_S)

    # THEN
    fix = words_of(session.meta[0]).more_readers(2)
    assert fix.instead_of == "loader = DataLoader(dataset, batch_size=None)"


def seeded(worker):
    """Seed a worker."""


def put_together(samples):
    """Put a batch together."""
    return samples


@pytest.mark.parametrize(
    ("has", "typed"),
    [
        ({"shuffle": True}, "batch_size=2, shuffle=True"),
        ({"sampler": "SubsetRandomSampler"}, "sampler=sampler, batch_size=2"),
        ({"sampler": "a list"}, "sampler=sampler, batch_size=2"),
        ({"batch_sampler": "of RandomSampler"}, "batch_size=2, shuffle=True"),
        ({"batch_sampler": "around another one"}, "batch_size=2, shuffle=True"),
        ({"batch_sampler": "a list"}, "batch_sampler=batch_sampler"),
        ({"batch_sampler": "of the job's own"}, "batch_sampler=batch_sampler"),
        (
            {"collate_fn": put_together, "worker_init_fn": seeded},
            "batch_size=2, collate_fn=collate_fn, worker_init_fn=worker_init_fn",
        ),
    ],
    ids=lambda part: part if isinstance(part, str) else "-".join(part),
)
def test_what_a_loader_was_given_stays_in_the_line(data, tmp_path, has, typed):
    # GIVEN
    samples = list(range(6))

    class Shuffled(data.RandomSampler):  # type: ignore[name-defined]
        """One of a framework's."""

    class Around:
        def __init__(self, batch_sampler):
            self.batch_sampler = batch_sampler

        def __iter__(self):
            return iter(self.batch_sampler)

    class Buckets(data.BatchSampler):  # type: ignore[name-defined]
        """One of the job's, with batches of about a size."""

    batches = data.BatchSampler(Shuffled(samples), 2, drop_last=False)
    made = {
        "SubsetRandomSampler": data.SubsetRandomSampler([1, 3, 5]), "a list": [[1, 3], [5]],
        "of RandomSampler": batches, "around another one": Around(batches),
        "of the job's own": Buckets(Shuffled(samples), 2, drop_last=True),
    }  # fmt: skip
    given = {name: made.get(value, value) if isinstance(value, str) else value for name, value in has.items()}
    if has.get("sampler") == "a list":
        given["sampler"] = [1, 3, 5]
    size = {} if "batch_sampler" in given else {"batch_size": 2}

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in data.DataLoader(samples, **size, **given):
            time.sleep(COMPUTE_S)

    # THEN
    fix = words_of(session.meta[0]).more_readers(2)
    assert fix.instead_of == f"loader = DataLoader(dataset, {typed})"


def test_only_the_jobs_own_data_set_is_changed(data, tmp_path):
    # GIVEN a data set of the job, and a part of it that PyTorch makes
    class Numbers(data.Dataset):  # type: ignore[name-defined]
        def __len__(self):
            return 4

        def __getitem__(self, number):
            return number

    lines = []
    for dataset in (Numbers(), data.Subset(Numbers(), [0, 2])):
        # WHEN
        with tfdarshan.profile(tmp_path / "logs") as session:
            for _ in data.DataLoader(dataset):
                time.sleep(COMPUTE_S)
        lines.append(words_of(session.meta[0]).keep_in_memory().line)

    # THEN
    assert lines[0].startswith("@functools.cache\ndef __getitem__")
    assert lines[1].startswith("samples = [dataset[number]")


def test_a_loader_within_another_ones_data_set_cuts_no_step_short(data, tmp_path):
    # GIVEN a data set that goes over a loader of its own, twice
    class Outer(data.IterableDataset):  # type: ignore[name-defined]
        def __iter__(self):
            for _ in range(2):
                yield from data.DataLoader(list(range(4)), batch_size=None)

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in data.DataLoader(Outer(), batch_size=None):
            time.sleep(COMPUTE_S)

    # THEN
    steps = session.steps
    assert len(steps) == 8
    assert (steps["end_ns"] - steps["start_ns"] >= COMPUTE_S * 1e9).all()
    assert len(session.meta[0]["loaders"]["found"]) == 1
