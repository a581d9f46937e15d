"""Steps of loops over iterators of older versions of Grain, which this one's modules and names stand for."""

import importlib
import sys

import pytest

import tfdarshan
from tfdarshan.frameworks import late_import

SOURCE = """
class {name}:
    def __init__(self):
        self.left = 5

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left
"""
MODULES = {"data_loader": "PyGrainDatasetIterator", "dataset.dataset": "DatasetIterator"}


@pytest.fixture
def older_grain(tmp_path, monkeypatch):
    """Return a function that imports a module of a Grain whose package has no code, as before 0.2.5."""
    for module, name in MODULES.items():
        path = tmp_path.joinpath("grain", "_src", "python", *module.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SOURCE.format(name=name))

    def load(module):
        with monkeypatch.context() as alone:
            alone.setattr(sys, "path", [str(tmp_path)])
            return importlib.import_module(f"grain._src.python.{module}")

    # In this process no session has waited for an import of Grain.
    monkeypatch.setattr(late_import, "_followed", set())
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    installed = without_grain()
    yield load
    without_grain()
    sys.modules.update(installed)


def without_grain():
    """Take Grain's modules out of those that are imported, and return them."""
    names = [name for name in sys.modules if name.partition(".")[0] == "grain"]
    return {name: sys.modules.pop(name) for name in names}


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("when", ["before", "in"])
def test_each_batch_of_an_older_version_is_a_step(older_grain, module, when, tmp_path):
    # GIVEN
    if when == "before":
        older_grain(module)

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        iterators = getattr(older_grain(module), MODULES[module])
        batches = list(iterators())

    # THEN
    assert batches == [4, 3, 2, 1, 0]
    assert len(session.steps) == 5
    assert set(session.steps["source"]) == {"Grain's batches"}
