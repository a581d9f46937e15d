"""Recipes of other package managers: they require what pyproject.toml requires, in their own words."""

import re
import runpy
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "packaging"
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
VERSION = re.search(r'^version = "(.+)"$', PROJECT, re.MULTILINE)[1]


def least(requirements):
    """Return the oldest version of each package, from lines such as "numpy>=1.24.4"."""
    split = [re.fullmatch(r"([\w-]+) ?>=([\d.]+)", requirement) for requirement in requirements]
    return {found[1]: found[2] for found in split if found}


@pytest.fixture(scope="module")
def wanted():
    """Return what recording needs, and what views need besides."""
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads(PROJECT)["project"]
    return least(project["dependencies"]), least(project["optional-dependencies"]["view"])


def test_conda_requires_both(wanted):
    yaml = pytest.importorskip("yaml")
    recorder, view = wanted

    # WHEN
    recipe = yaml.safe_load((RECIPES / "conda/recipe.yaml").read_text(encoding="utf-8"))

    # THEN
    assert recipe["context"]["version"] == VERSION
    run = least(requirement.removeprefix("python-") for requirement in recipe["requirements"]["run"])
    assert run == recorder | view


class Directives(ModuleType):
    """Stands for the names that Spack gives a recipe; notes what they are called with."""

    def __init__(self):
        super().__init__("spack.package")
        self.versions, self.requires, self.variants = [], {}, []
        self._conditions = [""]
        self.__all__ = ["conflicts", "depends_on", "join_path", "license", "variant", "version", "when"]
        self.conflicts = self.license = lambda *_: None
        self.join_path = "/".join

    def version(self, number):
        self.versions.append(number)

    def variant(self, name, **_):
        self.variants.append(name)

    def depends_on(self, spec, when=None, **kinds):
        self.requires.setdefault(when or self._conditions[-1], []).append((spec, kinds["type"]))

    @contextmanager
    def when(self, condition):
        self._conditions.append(condition)
        yield
        self._conditions.pop()


def test_spack_requires_the_recorder_and_views_by_a_variant(wanted, monkeypatch):
    # GIVEN
    spack = Directives()
    builtin: Any = ModuleType("spack_repo.builtin.build_systems.python")
    builtin.PythonPackage = object
    monkeypatch.setitem(sys.modules, "spack", ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", spack)
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, builtin.__name__, builtin)

    # WHEN
    runpy.run_path(str(RECIPES / "spack/package.py"))

    # THEN
    def run(condition):
        specs = [spec for spec, kind in spack.requires[condition] if "run" in kind]
        return {found[1]: found[2] for spec in specs if (found := re.match(r"py-(\w+)@([\d.]+):", spec))}

    assert spack.versions == [VERSION]
    assert set(spack.variants) == {"view", "darshan"}
    assert (run(""), run("+view")) == wanted


def test_the_module_is_of_this_version():
    assert f"/sw/tfdarshan/{VERSION}/" in (RECIPES / "module/tfdarshan.tcl").read_text(encoding="utf-8")
