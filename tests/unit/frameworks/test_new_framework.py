"""A framework more is a folder, and a name in the list."""

import sys
import types

import pytest

import tfdarshan
import tfdarshan.frameworks
from tfdarshan.frameworks import all_frameworks

# A library whose loops no adapter knows.
LIBRARY = """
class Feed:
    _index_sampler = None

    def __init__(self, count):
        self.left = count

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left
"""
ADAPTER = '''
"""What the library `feeding` tells of a job."""

import sys

from tfdarshan.frameworks.adapter import Adapter, DeclaredInput
from tfdarshan.frameworks.batch_log import Hooks, current


class Feeding(Adapter):
    name = "feeding"
    batches = "feeding's batches"

    def begin(self):
        feed = sys.modules["feeding"].Feed
        current().describe(feed, lambda loader, iterator: ({"framework": "feeding", "dataset": "Feed"}, []))
        self._hooks = Hooks()
        self._hooks.hook(feed, "__next__", "NEXT")

    def end(self):
        self._hooks.remove()
        return {}

    def declared(self, meta):
        found = (meta.get("loaders") or {}).get("found", [])
        return DeclaredInput(2, 4, processes=None) if found else None


ADAPTER = Feeding()
'''


@pytest.fixture
def feeding(tmp_path, monkeypatch):
    """Add the library, and the adapter's folder with its name in the list."""
    library = types.ModuleType("feeding")
    exec(LIBRARY, library.__dict__)
    monkeypatch.setitem(sys.modules, "feeding", library)
    folder = tmp_path / "frameworks" / "feeding"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "adapter.py").write_text(ADAPTER)
    folders = [*tfdarshan.frameworks.__path__, str(folder.parent)]
    monkeypatch.setattr(tfdarshan.frameworks, "__path__", folders)
    monkeypatch.setattr(all_frameworks, "FRAMEWORKS", ("feeding", *all_frameworks.FRAMEWORKS))
    all_frameworks.adapters.cache_clear()
    yield library
    all_frameworks.adapters.cache_clear()
    for name in [name for name in sys.modules if name.startswith("tfdarshan.frameworks.feeding")]:
        del sys.modules[name]


def test_a_folder_and_its_name_are_a_framework(feeding, tmp_path):
    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in feeding.Feed(3):
            pass

    # THEN its steps are there, and what it says of the input
    assert session.steps["source"].tolist() == ["feeding's batches"] * 3
    assert (session.steps["input_wait_ns"] >= 0).all()
    (loader,) = session.meta[0]["loaders"]["found"]
    assert (loader["dataset"], loader["batches"], loader["training"]) == ("Feed", 3, True)
    assert all_frameworks.declared_input(session.meta[0]).readers == 2


def test_marks_of_the_job_come_first(feeding, tmp_path):
    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in tfdarshan.steps(feeding.Feed(3)):
            pass

    # THEN
    assert session.steps["source"].tolist() == ["steps()"] * 3


def test_what_was_noted_so_far_can_be_read(feeding, tmp_path):
    # GIVEN
    recorder = tfdarshan.profile(tmp_path / "logs").start()
    for _ in feeding.Feed(2):
        pass

    # WHEN
    from tfdarshan.recording.live_snapshot import live_snapshot
    from tfdarshan.session import open_session

    so_far = live_snapshot(recorder._recording, open_session)
    steps = len(so_far.steps)
    recorder.stop()

    # THEN
    assert steps == 2
