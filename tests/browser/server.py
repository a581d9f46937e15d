"""A real TensorBoard on a free port."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 240
ADDRESS = re.compile(r"http://[^\s/]+:(\d+)")


@contextmanager
def tensorboard(
    logdir: Path, *options: str, module: str = "tensorboard.main", **environment: str
) -> Iterator[str]:
    """Runs it, and gives its address with its path prefix. Verdicts are kept in a cache folder of its own."""
    cache = tempfile.TemporaryDirectory(prefix="tfdarshan-cache-")
    process = subprocess.Popen(
        [sys.executable, "-m", module, "--logdir", str(logdir), "--host", "127.0.0.1",
         "--port", "0", *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "XDG_CACHE_HOME": cache.name, **environment},
    )  # fmt: skip
    said: list[str] = []
    started = threading.Event()
    thread = threading.Thread(target=_listen, args=(process, said, started), daemon=True)
    thread.start()
    try:
        assert started.wait(START_SECONDS), "".join(said)
        port = next(found[1] for line in said if (found := ADDRESS.search(line)))
        prefix = next((o.partition("=")[2] for o in options if o.startswith("--path_prefix=")), "")
        yield f"http://127.0.0.1:{port}{prefix}"
    finally:
        process.terminate()
        process.wait(30)
        thread.join(30)
        process.stdout.close()
        cache.cleanup()


def _listen(process: subprocess.Popen, said: list[str], started: threading.Event) -> None:
    for line in process.stdout:
        said.append(line)
        if ADDRESS.search(line):
            started.set()
    started.set()
