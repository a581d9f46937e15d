"""Fixtures for every test."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests import later_tensorflow
from tfdarshan.native import _bridge
from tfdarshan.recording import session_lock
from tfdarshan.recording.tensorflow import tf_profiler

# Only the tests marked `darshan` have it: all others have engine "auto" and no libdarshan.
LIBDARSHAN = os.environ.pop("TFDARSHAN_DARSHAN_LIBRARY", "")

# What tests start waits for no session of the process that runs them: those that are about it name their own
# jobs.
os.environ.pop("TFDARSHAN_SESSION", None)

# Lines are as long as a test says, not as the terminal that the tests were started in.
os.environ.pop("COLUMNS", None)

# Their conftest.py makes for the whole session what takes long to make.
SHARING_FOLDERS = ("tests/unit/fleet/", "tests/unit/sentences/")

# A shell without job control starts what goes to its background with SIGINT ignored, which every program that
# a test starts, and interrupts, would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A shared machine may stop for longer than any deadline. `make test` tries the same examples each time, `make
# test-long` others: what these find becomes an example that is always tried.
hypothesis.settings.register_profile("same examples", deadline=None, derandomize=True)
hypothesis.settings.register_profile("other examples", deadline=None)
# `make fuzz`.
hypothesis.settings.register_profile("many examples", deadline=None, max_examples=10_000)
hypothesis.settings.load_profile("same examples")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes golden files anew."""
    parser.addoption("--golden", action="store_true", help="write the golden files anew")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the folders that one process runs whole: at the end the others would wait for it.

    End with what imports TensorFlow: in a process that has it all takes longer.
    """
    items.sort(key=lambda item: _uses_tensorflow(item) - item.nodeid.startswith(SHARING_FOLDERS))
    if config.pluginmanager.hasplugin("_cov"):
        _count_lines_of_first_cases(items)


def _uses_tensorflow(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and getattr(item.module, "tf", None) is later_tensorflow


def _count_lines_of_first_cases(items: list[pytest.Item]) -> None:
    """Count in one case of each test: counting takes a third longer, and other cases add few lines."""
    counted = set()
    for item in items:
        test, bracket, _ = item.nodeid.partition("[")
        if bracket and test in counted:
            item.add_marker("no_cover")
        counted.add(test)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have one process run a whole folder that makes sessions for all of its files."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByWhatIsShared(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            return next((folder for folder in SHARING_FOLDERS if file.startswith(folder)), file)

    return ByWhatIsShared(config, log)


@pytest.fixture(autouse=True)
def detached() -> Iterator[None]:
    """Prove that nothing is attached and every slot holds its own value: after each test, so before the next.

    The slots of a process that has TensorFlow take 3 ms to look at.
    """
    yield
    leaked = session_lock._active
    if leaked is not None:
        leaked.end()
    assert leaked is None, f"the test left a session recording in {leaked.path}"
    _assert_detached()


@pytest.fixture(autouse=True, scope="session")
def no_trace_by_chance() -> Iterator[None]:
    """Tests of TensorFlow's profiler have processes of their own; here it depends on the order of tests.

    For all fixtures: what TensorFlow says on stderr, a file here, would be among a recorded job's calls.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tf_profiler, "tensorflow_imported", lambda: False)
        patch.setattr(tf_profiler, "when_imported", lambda _action: None)
        yield


@pytest.fixture(scope="session")
def spool_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the tests' spool folders are: pytest lists its own folder whole for each one in it."""
    return tmp_path_factory.mktemp("spools")


@pytest.fixture(autouse=True)
def spool_folder(spool_folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a spool folder of its own."""
    folder = Path(tempfile.mkdtemp(dir=spool_folders))
    monkeypatch.setenv("TFDARSHAN_SPOOL_DIR", str(folder))
    return folder


@pytest.fixture
def pydarshan() -> None:
    """Skip the test if PyDarshan does not work here."""
    importlib.import_module("tests.pydarshan")


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run this Python with arguments in a temporary folder and return exit code and output."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def _assert_detached() -> None:
    assert not _bridge.session_active()
    assert _bridge.slots_holding_wrappers() == 0
