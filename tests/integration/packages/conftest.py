"""Jobs that use packages of an environment of their own, beside what this interpreter has."""

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
