"""What is installed: every package of the repository but its own test bench, under one name."""

import re
import sys
from pathlib import Path

import pytest

from tfdarshan.native.package_versions import VIEW_PACKAGES

ROOT = Path(__file__).parents[2]
FOLDERS = {"tfdarshan": "tfdarshan", "tfdarshan.tensorboard_plugin": "tensorboard_plugin",
           "tfdarshan.workloads": "workloads"}  # fmt: skip
# They judge tfdarshan itself, and nobody who installs it runs them.
TEST_BENCH = (
    "tfdarshan.workloads.laboratory",
    "tfdarshan.workloads.laboratory.grain",
    "tfdarshan.workloads.laboratory.pytorch",
    "tfdarshan.workloads.scenarios",
)


@pytest.fixture(scope="module")
def pyproject():
    if sys.version_info >= (3, 11):
        import tomllib

        return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pytest.skip("Python 3.10 reads no TOML by itself")


@pytest.fixture(scope="module")
def settings(pyproject):
    return pyproject["tool"]["setuptools"]


def test_every_package_is_listed(settings):
    # GIVEN the folders that hold Python
    found = {
        ".".join((name, *path.parent.relative_to(ROOT / folder).parts))
        for name, folder in FOLDERS.items()
        for path in (ROOT / folder).rglob("*.py")
        if "__pycache__" not in path.parts
    }

    # THEN
    assert sorted([*settings["packages"], *TEST_BENCH]) == sorted(found)


def test_every_package_has_an_init(settings):
    for name in settings["packages"]:
        outer = max((outer for outer in FOLDERS if f"{name}.".startswith(f"{outer}.")), key=len)
        assert (
            ROOT / FOLDERS[outer] / name[len(outer) :].strip(".").replace(".", "/") / "__init__.py"
        ).exists()


def test_the_extra_that_sentences_name_brings_what_only_views_import(pyproject):
    project = pyproject["project"]
    names = {re.match(r"[\w-]+", line)[0] for line in project["optional-dependencies"]["view"]}

    assert names == {name.lower() for name in VIEW_PACKAGES.values()}
    assert not names & {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}


@pytest.mark.parametrize("extra", ["tensorboard", "darshan", "dask", "mcp", "remote", "demo", "workloads"])
def test_an_extra_for_reading_sessions_brings_views(extra, pyproject):
    assert "tfdarshan[view]" in pyproject["project"]["optional-dependencies"][extra]
