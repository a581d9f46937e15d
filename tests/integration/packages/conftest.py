"""Jobs that use packages of an environment of their own, beside what this interpreter has."""

import os
from pathlib import Path

import pytest

from tests.integration.oracle import strace_log


@pytest.fixture
def variables(tmp_path):
    """With which a job, and whatever it starts, finds its packages."""
    # Behind this interpreter's own packages, so that all have one NumPy.
    folders = sorted(Path(os.environ.get("TFD_PACKAGES", "nowhere")).glob("lib/python*/site-packages"))
    (tmp_path / "start").mkdir()
    (tmp_path / "start/sitecustomize.py").write_text(f"import sys\nsys.path += {list(map(str, folders))}\n")
    return os.environ | {
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(tmp_path / "start"),
    }


@pytest.fixture
def traced(variables):
    """The same, where strace may be used."""
    if not strace_log.is_available():
        pytest.skip("strace is missing, or may not trace here")
    return variables
