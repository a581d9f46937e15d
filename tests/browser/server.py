"""A real TensorBoard on a free port."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from tests.lean_tensorflow import WITHOUT_KERAS

START_SECONDS = 240
ADDRESS = re.compile(r"http://[^\s/]+:(\d+)")


@contextmanager
def tensorboard(
    logdir: Path, *options: str, module: str = "tensorboard.main", **environment: str
) -> Iterator[str]:
    """Run it, and return its address with its path prefix. Verdicts are kept in a cache folder of its own."""
    command = [sys.executable, "-m", module, "--logdir", str(logdir), *options]
    with started(command, environment) as address:
        prefix = next((o.partition("=")[2] for o in options if o.startswith("--path_prefix=")), "")
        yield f"{address}{prefix}"


@contextmanager
def started(
    command: list[str], environment: Mapping[str, str] = MappingProxyType({}), cwd: Path | None = None
) -> Iterator[str]:
    """Run a command that starts it, and return its address."""
    cache = tempfile.TemporaryDirectory(prefix="tfdarshan-cache-")
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", "0"],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={
            **os.environ, **WITHOUT_KERAS,
            "TF_CPP_MIN_LOG_LEVEL": "3", "XDG_CACHE_HOME": cache.name, **environment,
        },
    )  # fmt: skip
    said: list[str] = []
    listening = threading.Event()
    thread = threading.Thread(target=_listen, args=(process, said, listening), daemon=True)
    thread.start()
    try:
        assert listening.wait(START_SECONDS), "".join(said)
        port = next(found[1] for line in said if (found := ADDRESS.search(line)))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)
        thread.join(30)
        process.stdout.close()
        cache.cleanup()


def _listen(process: subprocess.Popen, said: list[str], listening: threading.Event) -> None:
    for line in process.stdout:
        said.append(line)
        if ADDRESS.search(line):
            listening.set()
    listening.set()
