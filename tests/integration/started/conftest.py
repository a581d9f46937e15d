"""Jobs that start programs, in environments as a wheel makes them."""

import os
import sys

import pytest

from tests.integration.installed_python import install, make_environment


@pytest.fixture(scope="package")
def python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("environment"))


@pytest.fixture(scope="package")
def user_site(tmp_path_factory):
    """A folder of packages of a user, as PYTHONUSERBASE names it: no virtual environment looks there."""
    base = tmp_path_factory.mktemp("user")
    packages = base / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    install(packages)
    return base


@pytest.fixture
def environment():
    """The variables of a job that is in no other."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TFDARSHAN_")}
