"""Checkpoints are saved in the background in the words of the framework that writes them."""

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.findings.checkpoint_saves import kind_of_saves
from tfdarshan.findings.checkpoint_stall import in_the_background
from tfdarshan.findings.measurement import measure
from tfdarshan.replay.loop_edits import BackgroundSaves

TENSORFLOWS = "/out/ckpt-1.data-00000-of-00001"


def saved(folder, name, versions):
    calls = [(0, 10, 1, "read", 0, 100), (20, 30, LOOP, "write", 1, 1 << 20)]
    return measure(training(folder, calls, paths=["/data/a", name], meta={"versions": versions}))


@pytest.mark.parametrize(
    ("name", "versions", "line"),
    [
        ("/out/model.pt", {"torch": "2.8"}, "torch.save(model.state_dict(), path)"),
        ("/out/epoch=3.ckpt", {"torch": "2.8"}, "torch.save(model.state_dict(), path)"),
        ("/out/model.pt", {"numpy": "2.0"}, "save(state, path)"),
        ("/out/state.npy", {"torch": "2.8"}, "np.save(path, array)"),
        ("/out/state", {"torch": "2.8"}, "save(state, path)"),
        (TENSORFLOWS, {"torch": "2.8"}, "save(state, path)"),
    ],
)
def test_a_save_is_typed_as_its_framework_has_it(name, versions, line, tmp_path):
    # WHEN
    kind = kind_of_saves(saved(tmp_path, name, versions))

    # THEN
    assert kind.fix.instead_of == line
    assert kind.fix.line.splitlines()[-1].startswith("saver.submit(")
    assert in_the_background(kind).edits == (BackgroundSaves(),)


@pytest.mark.parametrize("versions", [{"tensorflow": "2.20"}, {}])
def test_tensorflows_checkpoints_go_to_a_fast_tier(versions, tmp_path):
    # WHEN
    kind = kind_of_saves(saved(tmp_path, TENSORFLOWS, versions))

    # THEN
    assert kind.fix.line.startswith("manager = BurstBuffer(")
    assert in_the_background(kind).edits == (BackgroundSaves(fast_tier=True),)


@pytest.mark.parametrize("name", ["/out/model.pt", "/out/state.npy", "/out/state"])
def test_the_error_of_a_save_in_the_background_is_not_lost(name, tmp_path):
    # GIVEN a thread that saves, which keeps its error to itself
    kind = kind_of_saves(saved(tmp_path, name, {"torch": "2.8"}))

    # THEN
    assert "call its result() before the next save" in kind.fix.what
