"""Packages that pip installs together and that do not work together: one sentence, before a recording."""

import pytest

import tfdarshan
from tfdarshan.commands import main
from tfdarshan.errors import UnsupportedPlatformError
from tfdarshan.native import package_versions
from tfdarshan.native.package_versions import installed_version, packages_problem

SENTENCE = "pyarrow 26.0.1 needs NumPy 2, but NumPy 1.26.4 is installed: run `pip install 'pyarrow<26'`."


@pytest.fixture
def refused(monkeypatch):
    """What pip resolves for TensorFlow 2.17."""
    monkeypatch.setattr(package_versions, "installed_version", {"numpy": "1.26.4", "pyarrow": "26.0.1"}.get)


def test_a_version_is_found_without_an_import(tmp_path, monkeypatch):
    # GIVEN packages that end the process where they are imported; what is left of another version
    for name in ("oneversion", "twoversions", "noversion"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("import os; os._exit(3)\n")
    for name in ("oneversion-1.2.3", "oneversion_more-9", "twoversions-1", "twoversions-2"):
        (tmp_path / f"{name}.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))

    # THEN
    assert installed_version("oneversion") == "1.2.3"
    assert [installed_version(name) for name in ("twoversions", "noversion", "nopackage")] == [None] * 3


@pytest.mark.parametrize(
    ("numpy", "arrow", "fit"),
    [
        ("1.26.4", "26.0.1", False), ("1.26.4", "25.0.0", True), ("2.4.6", "26.0.1", True),
        ("1.26.4", "100.0.0", False), (None, "26.0.1", True), ("1.26.4", None, True),
    ],
)  # fmt: skip
def test_an_arrow_that_refuses_numpy_1_is_a_problem(numpy, arrow, fit, monkeypatch):
    monkeypatch.setattr(package_versions, "installed_version", {"numpy": numpy, "pyarrow": arrow}.get)

    assert (packages_problem() is None) == fit


def test_a_session_does_not_start_and_leaves_nothing(refused, tmp_path):
    # GIVEN
    (tmp_path / "spool").mkdir()

    # WHEN
    with pytest.raises(UnsupportedPlatformError) as said:
        tfdarshan.profile(tmp_path / "logs", spool_dir=tmp_path / "spool").start()

    # THEN
    assert str(said.value) == SENTENCE
    assert [path.name for path in tmp_path.rglob("*")] == ["spool"]


def test_a_session_is_not_read(refused, tmp_path, capsys):
    assert main(["summary", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"tfdarshan: {SENTENCE}\n"


def test_a_verb_that_imports_what_refuses_says_so(refused, tmp_path, capsys, monkeypatch):
    # GIVEN a verb that reads no session
    def refuse(_arguments):
        raise ImportError("pyarrow requires NumPy 2.0 or newer, found 1.26.4")

    monkeypatch.setattr("tfdarshan.commands.recover.command", refuse)

    # THEN
    assert main(["recover", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"tfdarshan: {SENTENCE}\n"
