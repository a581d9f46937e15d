"""A slow folder, an empty fast one, emulated tiers, and the proof that staging leaves originals alone."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.integration.staging.tree import make_files, snapshot

COUNT = 30


@pytest.fixture
def slow(tmp_path):
    make_files(tmp_path / "slow", COUNT)
    return tmp_path / "slow"


@pytest.fixture
def fast(tmp_path):
    (tmp_path / "fast").mkdir()
    return tmp_path / "fast"


@pytest.fixture
def originals_untouched(request):
    """Prove that staging wrote, moved and deleted no original; tests that do so themselves say it."""
    if "slow" not in request.fixturenames:
        yield
        return
    slow = request.getfixturevalue("slow")
    before = snapshot(slow)
    yield
    if "changes_originals" not in request.keywords:
        assert snapshot(slow) == before


@pytest.fixture(scope="module")
def tier_library(tmp_path_factory):
    library = tmp_path_factory.mktemp("tier") / "libtier.so"
    source = Path(__file__).with_name("emulated_tier.c")
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    command = ["gcc", *flags, "-o", str(library), str(source), "-lm", "-ldl", "-lpthread"]
    subprocess.run(command, check=True)
    return library


@pytest.fixture
def memory():
    folder = Path(tempfile.mkdtemp(prefix="tfdarshan-test-", dir="/dev/shm"))
    yield folder
    shutil.rmtree(folder)
