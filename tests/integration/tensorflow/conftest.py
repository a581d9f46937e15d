"""Jobs that import TensorFlow, each in a process of its own: tests share them where they can."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.lean_tensorflow import WITHOUT_KERAS

FILES = 40
SIZES = [1_000 + number for number in range(FILES)]

PRELUDE = """
import glob, json, os, sys, time
import tfdarshan
{before}
import tensorflow as tf

paths = sorted(glob.glob("data/*.bin"))

def read_all(parallel=None):
    files = tf.data.Dataset.from_tensor_slices(paths).map(tf.io.read_file, num_parallel_calls=parallel)
    return sum(len(data.numpy()) for data in files)

"""


class Job:
    """A folder with `data/`, 40 files of 1,000 to 1,039 bytes, in which Python with TensorFlow is run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logdir = folder / "logs"
        self.spool = folder / "spool"
        self.stderr = ""
        self.spool.mkdir()
        (folder / "data").mkdir()
        for number, size in enumerate(SIZES):
            (folder / "data" / f"{number:02}.bin").write_bytes(bytes(size))

    def run(self, code: str, before: str = "", **environment: str) -> Any:
        """Run code that has `tf`, `tfdarshan`, `paths` and `read_all()`; return the JSON it printed last."""
        program = PRELUDE.format(before=before) + textwrap.dedent(code)
        return self._run(["-c", program], keras_of(program) | environment)

    def run_script(self, script: Path, code: str, *arguments: str) -> Any:
        """Run such code as a script under `TFDARSHAN=1 tfdarshan run`."""
        program = PRELUDE.format(before="") + textwrap.dedent(code)
        script.write_text(program)
        return self._run(
            ["-m", "tfdarshan", "run", *arguments, str(script)], keras_of(program) | {"TFDARSHAN": "1"}
        )

    def _run(self, arguments: list[str], environment: dict[str, str]) -> Any:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={
                **os.environ,
                "TF_CPP_MIN_LOG_LEVEL": "3",
                "TFDARSHAN_SPOOL_DIR": str(self.spool),
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        self.stderr = done.stderr
        assert done.returncode == 0, done.stderr
        lines = done.stdout.strip().splitlines()
        return json.loads(lines[-1]) if lines else None


def keras_of(program: str) -> dict[str, str]:
    """Leave Keras to programs that name it."""
    return {} if "keras" in program else WITHOUT_KERAS


@pytest.fixture
def job(tmp_path):
    """A folder for one test's job."""
    return Job(tmp_path)


@pytest.fixture(scope="module")
def shared_job(tmp_path_factory):
    """A folder for a job that the tests of a module share."""
    return Job(tmp_path_factory.mktemp("job"))
