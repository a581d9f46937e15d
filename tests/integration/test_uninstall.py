"""`pip uninstall` leaves nothing, also what a starting interpreter runs."""

import subprocess
import sys
import venv
import zipfile

import pytest

from tests.integration.installed_python import JOIN, ROOT

INFO = "tfdarshan-0.1.0.dist-info"
METADATA = "Metadata-Version: 2.1\nName: tfdarshan\nVersion: 0.1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
NAMES = {JOIN.name}


@pytest.fixture
def environment(tmp_path):
    """An environment that has nothing."""
    venv.create(tmp_path / "environment", symlinks=True, with_pip=False)
    return tmp_path / "environment"


def pip(environment, *arguments):
    command = [sys.executable, "-m", "pip", "--python", environment / "bin" / "python"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def files_of(environment):
    return {path.relative_to(environment) for path in environment.rglob("*")}


def wheel_of(folder):
    """Makes the wheel of an installation whose modules are elsewhere, as an editable one is."""
    path = folder / "tfdarshan-0.1.0-py3-none-any.whl"
    files = {f"{INFO}/METADATA": METADATA, f"{INFO}/WHEEL": WHEEL, "elsewhere.pth": f"{ROOT}\n"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{INFO}/RECORD", "".join(f"{name},,\n" for name in (*files, f"{INFO}/RECORD")))
    return path


def test_what_make_adds_to_an_editable_installation_goes_with_it(environment, tmp_path):
    # GIVEN an installation, and what make adds to it, twice
    before = files_of(environment)
    pip(environment, "install", "--no-deps", "--no-index", wheel_of(tmp_path))
    for _ in range(2):
        tool = [environment / "bin" / "python", ROOT / "tools" / "install_join_file.py"]
        subprocess.run(tool, check=True)
    assert {path.name for path in files_of(environment)} >= NAMES

    # WHEN
    pip(environment, "uninstall", "--yes", "tfdarshan")

    # THEN
    assert files_of(environment) <= before
