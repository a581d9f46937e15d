"""What is done once the job has imported a module, however the job looks for the module before."""

import importlib
import importlib.util
import sys

import pytest

from tfdarshan.frameworks.late_import import follow_import, when_imported

NAME = "imported_by_the_job"


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Write a module, and return the list of those who were told of its import."""
    (tmp_path / f"{NAME}.py").write_text("NUMBER = 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    before, told = list(sys.meta_path), []
    follow_import(NAME, lambda: told.append("loaders"))
    when_imported(NAME, lambda: told.append("profiler"))
    yield told
    assert sys.meta_path == before
    sys.modules.pop(NAME, None)


def test_all_who_wait_are_told_once(told):
    # WHEN
    assert importlib.import_module(NAME).NUMBER == 7
    importlib.reload(sys.modules[NAME])

    # THEN
    assert sorted(told) == ["loaders", "profiler"]


def test_a_look_whether_a_module_is_installed_is_no_import(told):
    # WHEN a library looks for the module before the job imports it
    specs = [importlib.util.find_spec(NAME) for _ in range(2)]
    assert told == []
    module = importlib.import_module(NAME)

    # THEN the import is told of, and the module has Python's own loader
    assert sorted(told) == ["loaders", "profiler"]
    assert all(spec is not None and spec.origin == module.__file__ for spec in specs)
    assert type(module.__spec__.loader).__name__ == "SourceFileLoader"


def test_an_import_that_failed_may_succeed_later(told, tmp_path):
    # GIVEN
    path = tmp_path / f"{NAME}.py"
    path.write_text("raise OSError('of the device')\n")
    with pytest.raises(OSError, match="of the device"):
        importlib.import_module(NAME)
    assert told == []

    # WHEN
    path.write_text("NUMBER = 8  # longer than before\n")
    importlib.import_module(NAME)

    # THEN
    assert sorted(told) == ["loaders", "profiler"]
