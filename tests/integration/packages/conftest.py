"""Jobs that use packages of an environment of their own, beside what this interpreter has."""

import os
import sysconfig
from pathlib import Path

import pytest

from tests.integration.oracle import strace_log
from tests.integration.packages.found_packages import with_packages


@pytest.fixture
def variables(tmp_path):
    """With which a job, and whatever it starts, finds its packages."""
    return with_packages(tmp_path)


@pytest.fixture
def traced(variables):
    """The same, where strace may be used."""
    if not strace_log.is_available():
        pytest.skip("strace is missing, or may not trace here")
    return variables


@pytest.fixture
def environment():
    """Return the folder of the environment's packages."""
    if "TFD_PACKAGES" not in os.environ:
        pytest.skip("`make test-packages` makes the environment for this")
    base = os.environ["TFD_PACKAGES"]
    return Path(sysconfig.get_path("purelib", "venv", {"base": base, "installed_base": base}))
