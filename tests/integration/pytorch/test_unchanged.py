"""What a job sees of PyTorch's classes while it is recorded, and afterwards."""

import inspect
import pickle
import traceback
import warnings

import pytest

import tfdarshan

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture
def data():
    return pytest.importorskip("torch.utils.data")


class Numbers:
    def __len__(self):
        return 6

    def __getitem__(self, number):
        if number == 5:
            raise ValueError("number 5")
        return number


def frames_of(loader):
    with pytest.raises(ValueError, match="number 5") as caught:
        for _ in loader:
            pass
    return [(frame.filename, frame.name) for frame in traceback.extract_tb(caught.value.__traceback__)]


def test_a_traceback_has_the_same_frames(data, tmp_path):
    # GIVEN
    bare = frames_of(data.DataLoader(Numbers()))

    # WHEN
    with tfdarshan.profile(tmp_path / "logs"):
        recorded = frames_of(data.DataLoader(Numbers()))

    # THEN
    assert recorded == bare


def test_a_warning_names_the_loop(data, tmp_path):
    # GIVEN a data set that is longer than it says, of which PyTorch warns where the loop is
    class Longer(data.IterableDataset):  # type: ignore[name-defined]
        def __len__(self):
            return 1

        def __iter__(self):
            return iter(range(3))

    # WHEN
    with tfdarshan.profile(tmp_path / "logs"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        loader = data.DataLoader(Longer(), batch_size=None)
        assert len(loader) == 1
        for _ in loader:
            pass

    # THEN
    assert {one.filename for one in seen if "Length of IterableDataset" in str(one.message)} == {__file__}


def test_loaders_are_what_they_were(data, tmp_path):
    # GIVEN
    iterators = data.dataloader._BaseDataLoaderIter
    methods = data.DataLoader.__dict__["__iter__"], iterators.__dict__["__next__"]
    loop = data._utils.worker._worker_loop

    # WHEN
    with tfdarshan.profile(tmp_path / "logs"):
        loader = data.DataLoader(list(range(6)), batch_size=2)
        iterator = iter(loader)
        assert isinstance(iterator, data.dataloader._SingleProcessDataLoaderIter)
        assert len(loader) == len(iterator) == 3
        assert str(inspect.signature(data.DataLoader.__iter__)).startswith("(self)")
        copy = pickle.loads(pickle.dumps(loader))
        assert len(list(copy)) == 3

    # THEN nothing of ours is left
    assert data.DataLoader.__dict__["__iter__"] is methods[0]
    assert iterators.__dict__["__next__"] is methods[1]
    assert data._utils.worker._worker_loop is loop


def test_an_iterator_older_than_the_session_is_followed(data, tmp_path):
    # GIVEN
    iterator = iter(data.DataLoader(list(range(8)), batch_size=2))
    next(iterator)

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        next(iterator)
        next(iterator)

    # THEN
    assert session.steps["step"].tolist() == [0, 1]
    assert session.meta[0]["loaders"]["found"][0]["batches"] == 2


def test_a_session_may_begin_in_the_middle_of_another_ones_loader(data, tmp_path):
    # WHEN
    sessions = []
    loader = data.DataLoader(list(range(8)), batch_size=2)
    for _ in range(2):
        with tfdarshan.profile(tmp_path / "logs") as session:
            assert len(list(loader)) == 4
        sessions.append(session)

    # THEN
    assert [len(session.steps) for session in sessions] == [4, 4]


def test_a_wrapper_that_somebody_put_around_ours_stays_and_passes_through(data, tmp_path):
    # WHEN
    original = data.DataLoader.__iter__
    try:
        with tfdarshan.profile(tmp_path / "logs"):
            ours = data.DataLoader.__iter__
            data.DataLoader.__iter__ = lambda self: ours(self)
        assert len(list(data.DataLoader(list(range(4)), batch_size=2))) == 2
        with tfdarshan.profile(tmp_path / "logs") as session:
            assert len(list(data.DataLoader(list(range(4)), batch_size=2))) == 2
    finally:
        data.DataLoader.__iter__ = original

    # THEN
    assert len(session.steps) == 2


def trained_by(torch, data, model, step, path):
    """Train with a step that is compiled, and return the steps' sources and the warnings."""
    with tfdarshan.profile(path) as session, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for batch in data.DataLoader(torch.ones(12, 4), batch_size=2):
            model(batch).sum().backward()
            step()
    step()
    assert not torch._dynamo.config.reorderable_logging_functions
    return session.steps["source"].tolist(), [str(one.message) for one in seen]


def test_a_step_that_is_compiled_as_a_whole_is_compiled_as_before(data, tmp_path):
    # GIVEN an optimizer of the job's own
    import torch

    model = torch.nn.Linear(4, 1)

    class Descent(torch.optim.Optimizer):
        def step(self):
            for group in self.param_groups:
                for parameter in group["params"]:
                    parameter.data.add_(parameter.grad, alpha=-0.5)

    descent = Descent(model.parameters(), {})
    step = torch.compile(lambda: descent.step(), backend="eager", fullgraph=True)

    # WHEN
    sources, warned = trained_by(torch, data, model, step, tmp_path / "logs")

    # THEN nothing is said of ours
    assert len(sources) == 6
    assert not [text for text in warned if "tfdarshan" in text]


def test_a_compiled_step_of_pytorchs_optimizer_is_noted(data, tmp_path):
    # GIVEN
    import torch

    model = torch.nn.Linear(4, 1)
    descent = torch.optim.SGD(model.parameters(), lr=0.5)
    step = torch.compile(lambda: descent.step(), backend="eager")

    # WHEN
    sources, warned = trained_by(torch, data, model, step, tmp_path / "logs")

    # THEN
    assert sources == ["PyTorch's optimizer"] * 6
    assert not [text for text in warned if "tfdarshan" in text]
