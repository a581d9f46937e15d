"""Data sets of a PyTorch job that look alike: those of training and of validation, and those made anew."""

import time

import pytest

import tfdarshan

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
READ_S, BATCHES = 0.005, 6


@pytest.fixture
def torch():
    pytest.importorskip("torch.utils.data")
    return pytest.importorskip("torch")


def stream(torch, batches):
    class Stream(torch.utils.data.IterableDataset):  # type: ignore[name-defined]
        def __iter__(self):
            for _ in range(batches):
                time.sleep(READ_S)
                yield torch.ones(4)

    return Stream()


def trained(torch, loaders, validation, path):
    """Train with a loader for each epoch, validate after every second batch, and return the session."""
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    with tfdarshan.profile(path) as session:
        for loader in loaders:
            for place, batch in enumerate(loader):
                model(batch).mean().backward()
                optimizer.step()
                if place % 2:
                    with torch.no_grad():
                        for seen in validation:
                            model(seen)
    return session


def test_no_step_waits_for_a_validation_set_that_looks_like_the_training_set(torch, tmp_path):
    # GIVEN two data sets without a length, of one class
    training, validation = (
        torch.utils.data.DataLoader(stream(torch, count), batch_size=1) for count in (BATCHES, 20)
    )

    # WHEN
    session = trained(torch, [training, training], validation, tmp_path / "logs")

    # THEN
    found, steps = session.meta[0]["loaders"]["found"], session.steps
    assert [(one["training"], one["passes"], one["batches"]) for one in found] == [
        (True, 2, 2 * BATCHES),
        (False, BATCHES, 20 * BATCHES),
    ]
    assert steps["epoch"].tolist() == [1] * BATCHES + [2] * BATCHES
    batches = session.batches[session.batches["loader"] == 0].reset_index(drop=True)
    later = batches["batch"] > 0
    waited = (batches["arrival_ns"] - batches["request_ns"])[later]
    assert steps["input_wait_ns"][later].tolist() == waited.tolist()


def test_a_data_set_that_is_made_anew_for_each_epoch_is_the_same_loaders(torch, tmp_path):
    # GIVEN
    training = (torch.utils.data.DataLoader(stream(torch, BATCHES), batch_size=1) for _ in range(2))
    validation = torch.utils.data.DataLoader(stream(torch, 2), batch_size=1)

    # WHEN
    session = trained(torch, training, validation, tmp_path / "logs")

    # THEN
    assert [(one["training"], one["passes"]) for one in session.meta[0]["loaders"]["found"]] == [
        (True, 2),
        (False, BATCHES),
    ]
    assert session.steps["epoch"].tolist() == [1] * BATCHES + [2] * BATCHES


def test_an_optimizer_that_steps_for_every_second_batch_makes_no_step_of_its_own(torch, tmp_path):
    # GIVEN two models with an optimizer each, one of which steps less often
    models = [torch.nn.Linear(4, 1) for _ in range(2)]
    optimizers = [torch.optim.SGD(model.parameters(), lr=1e-6) for model in models]
    loader = torch.utils.data.DataLoader(stream(torch, BATCHES), batch_size=1)

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for place, batch in enumerate(loader):
            for model, optimizer in list(zip(models, optimizers, strict=True))[: 1 + place % 2]:
                model(batch).mean().backward()
                optimizer.step()

    # THEN
    assert len(session.steps) == BATCHES
