"""Whether what tfdarshan works with can be used: TensorFlow's profiler, TensorBoard, PyDarshan.

None of them is needed. One that is not installed is said, and what it would be for; one that is installed and
cannot be used is a failure.
"""

from __future__ import annotations

import importlib.metadata
import signal
import subprocess
import sys
from collections.abc import Iterator

from tfdarshan.doctor.pip_command import needed
from tfdarshan.doctor.tensorboard_start import OURS, listed_plugins
from tfdarshan.errors import TfdarshanError

LOAD_PLUGIN = """
import tensorflow
from tfdarshan.recording.tensorflow.tf_plugin import load_plugin
print("joined" if load_plugin() else "not joined")
"""
LONGEST_S = 300
PLUGINS = "tensorboard_plugins"


def check_tensorflow() -> str:
    """Return whether TensorFlow's profiler can be joined, in a process of its own.

    Raises:
        TfdarshanError: It cannot.
    """
    version = _version("tensorflow")
    if version is None:
        return "not installed: sessions have steps where tfdarshan.step() marks them"
    try:
        done = subprocess.run(
            [sys.executable, "-c", LOAD_PLUGIN],
            capture_output=True, text=True, timeout=LONGEST_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        why = f"{version} was not imported in {LONGEST_S} s: try `import tensorflow`."
        raise TfdarshanError(why) from error
    if done.returncode or "joined" not in done.stdout:
        said = _last_words(done)
        mend = f" Run `{command}`." if (command := needed(said)) else ""
        raise TfdarshanError(f"{version} cannot be imported: {said}.{mend}")
    if "not joined" in done.stdout:
        raise TfdarshanError(
            f"{version}: its profiler's plug-in interface is missing or another one, so that it tells no "
            "steps; mark them with tfdarshan.step()."
        )
    return f"{version}, whose profiler can be joined"


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    """Return the signal that ended a process, or the last line that it wrote."""
    if done.returncode < 0:
        return f"{signal.Signals(-done.returncode).name} ended it"
    return (done.stderr.strip().splitlines() or ["it ended"])[-1].rstrip(".")


def check_tensorboard() -> str:
    """Return whether TensorBoard shows the tab.

    Raises:
        TfdarshanError: It is installed, and would not.
    """
    version = _version("tensorboard")
    if version is None:
        return "not installed: `tfdarshan report` writes what the tab shows as one file"
    entries = [entry for entry in importlib.metadata.entry_points(group=PLUGINS) if entry.name == OURS]
    if not entries:
        raise TfdarshanError(
            f"{version} does not know the tab: install tfdarshan into the same environment with pip."
        )
    try:
        entries[0].load()
    except Exception as error:
        raise TfdarshanError(f"{version} cannot load the tab: {type(error).__name__}: {error}.") from error
    try:
        listed = listed_plugins()
    except TfdarshanError as error:
        raise TfdarshanError(f"{version} {error}") from error
    if OURS not in listed:
        raise TfdarshanError(f"{version} starts without the tab: run `tensorboard --logdir .` to see why.")
    return f'{version}, which shows the tab "I/O"'


def check_pydarshan() -> str:
    """Return whether Darshan logs can be read.

    Raises:
        ConfigurationError: It is installed, and does not work.
    """
    version = _version("darshan")
    if version is None:
        return "not installed: `tfdarshan import` needs it (pip install darshan)"
    from tfdarshan.formats.importing.pydarshan import load_backend

    load_backend()
    return f"PyDarshan {version.partition(' ')[2]}"


def _version(module: str) -> str | None:
    """Return the distribution that a module is of, such as tf-nightly or tensorflow-rocm, and its version."""
    for name in _distributions(module):
        try:
            return f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def _distributions(module: str) -> Iterator[str]:
    """Yield the usual distribution first: to look through all that are installed takes long."""
    yield module
    yield from importlib.metadata.packages_distributions().get(module, ())


OTHER_PROGRAMS = (
    ("TensorFlow", check_tensorflow),
    ("TensorBoard", check_tensorboard),
    ("PyDarshan", check_pydarshan),
)
