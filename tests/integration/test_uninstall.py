"""An editable installation: started Pythons join, and `pip uninstall` leaves nothing."""

import subprocess
import sys
import venv

import pytest

from tests.integration.copied_sources import copy_sources
from tests.integration.installed_python import JOIN

# Builds the wheel of an editable installation; without the extensions, which take long and are no part of it.
BUILD = """
import sys
import setuptools
from setuptools.build_meta import build_editable
setup = setuptools.setup
setuptools.setup = lambda **options: setup(cmdclass=options["cmdclass"])
build_editable(sys.argv[1])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the wheel that `pip install --editable` makes and installs."""
    folder = tmp_path_factory.mktemp("editable")
    copy_sources(folder / "tree")
    command = [sys.executable, "-c", BUILD, folder / "wheel"]
    done = subprocess.run(command, cwd=folder / "tree", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = (folder / "wheel").glob("*.whl")
    return made


def pip(environment, *arguments):
    command = [sys.executable, "-m", "pip", "--python", environment / "bin" / "python"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def files_of(environment):
    return {path.relative_to(environment) for path in environment.rglob("*")}


def test_an_editable_installation_brings_what_started_pythons_join_by(wheel, tmp_path):
    # GIVEN an environment that has nothing
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True, with_pip=False)
    before = files_of(environment)

    # WHEN it is installed twice, as after a change
    for _ in range(2):
        pip(environment, "install", "--no-deps", "--no-index", "--force-reinstall", wheel)

    # THEN the file is beside the packages, where a starting interpreter looks
    (packages,) = environment.glob("lib/python3*/site-packages")
    assert (packages / JOIN.name).read_bytes() == JOIN.read_bytes()

    # THEN it goes with the installation
    pip(environment, "uninstall", "--yes", "tfdarshan")
    assert files_of(environment) <= before
