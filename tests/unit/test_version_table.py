"""tools/version_*.py: which versions are tried together, and what the table of them says."""

import json
import subprocess
from types import SimpleNamespace

import pytest
from packaging.specifiers import SpecifierSet

from tfdarshan.commands import COMMANDS
from tools import fill_docs, version_pins, version_smoke, version_table

VERSIONS = {"numpy": "1.26.4", "pandas": "2.3.3", "pyarrow": "25.0.0", "protobuf": "4.25.9"}
NAMED = "1.26.4, 2.3.3, 25.0.0"
MEND = "pip install 'pyarrow<26'"


def test_every_verb_is_tried():
    assert set(version_smoke.VERBS) == set(COMMANDS)


def test_the_oldest_are_those_that_python_and_tensorflow_allow(monkeypatch):
    # GIVEN wheels, of which each package's floor is the second, and a TensorFlow that needs the third NumPy
    floors = {one.name: str(one.specifier).removeprefix(">=") for one in version_pins.declared()}
    wheels = {name: ["0.0.1", floor, "900.0", "901.0"] for name, floor in floors.items()}
    monkeypatch.setattr(version_pins, "wheel_versions", lambda package, _python: wheels[package])
    monkeypatch.setattr(
        version_pins,
        "bounds_of_tensorflow",
        lambda *_: {"numpy": SpecifierSet(">=900"), "keras": SpecifierSet()},
    )

    # WHEN
    pins = version_pins.oldest("3.11", "2.17")

    # THEN
    assert "numpy==900.0" in pins
    assert {pin for pin in pins if not pin.startswith("numpy==")} == {
        f"{name}=={floor}" for name, floor in floors.items() if name != "numpy"
    }
    assert len(pins) > 8


def test_what_a_tensorflow_does_not_say_that_it_needs_is_added(monkeypatch):
    # GIVEN a TensorFlow that takes any protobuf
    about = {"install": [{"metadata": {"requires_dist": ["protobuf>=3.20.3", "numpy"]}}]}
    done = SimpleNamespace(stdout=json.dumps(about))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)

    # THEN 2.19 is tried with the one that it can be imported with
    assert version_pins.bounds_of_tensorflow("3.10", "2.19") == {
        "protobuf": SpecifierSet(">=3.20.3,>=4"), "numpy": SpecifierSet(),
    }  # fmt: skip
    assert version_pins.bounds_of_tensorflow("3.11", "2.19")["protobuf"] == SpecifierSet(">=3.20.3")


def test_versions_without_a_wheel_for_a_python_are_left_out(tmp_path, monkeypatch):
    # GIVEN a package whose oldest versions have no wheel for this Python, and whose newest is not finished
    wheel = "madeup-{}-cp3{}-cp3{}-manylinux1_x86_64.whl"
    for name in ("madeup-0.5.tar.gz", wheel.format("1.0", 11, 11), wheel.format("1.10", 12, 12),
                 wheel.format("1.9", 12, 12), wheel.format("2.0rc1", 12, 12)):  # fmt: skip
        (tmp_path / name).touch()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))

    # THEN
    assert version_pins.wheel_versions("madeup", "3.12") == ["1.9", "1.10"]
    assert version_pins.wheel_versions("madeup", "3.13") == []


@pytest.mark.parametrize(
    ("tried", "cells"),
    [
        ({"": "no wheel"}, ["no wheel", "no wheel", "no wheel"]),
        (
            {"resolved": {"ok": True, "mends": [MEND]}},
            ["not tried", f"{NAMED} *", "not tried"],
        ),
        ({"newest": {"ok": False, "mends": []}}, ["not tried", "not tried", f"fails: {NAMED}"]),
    ],
)
def test_the_table_says_what_came_of_each_environment(tried, cells, tmp_path, monkeypatch):
    results = {
        pins: what if isinstance(what, str) else what | {"versions": VERSIONS} for pins, what in tried.items()
    }
    (tmp_path / "versions.json").write_text(json.dumps({"3.11": {"2.17": results}}))
    monkeypatch.setattr(fill_docs, "DOCS", tmp_path)

    assert fill_docs.versions().splitlines()[2:] == [" | ".join(["| 3.11", "2.17", *cells]) + " |"]


def test_the_table_says_for_which_python_tensorflow_has_no_wheel(tmp_path, monkeypatch):
    # GIVEN a Python that was tried without a TensorFlow, and one that was not at hand
    tried = {"oldest": {"ok": True, "mends": [], "versions": VERSIONS}}
    known = {"3.14": {"": tried}, "3.15": {"": {"": "this Python was not at hand"}}}
    (tmp_path / "versions.json").write_text(json.dumps(known))
    monkeypatch.setattr(fill_docs, "DOCS", tmp_path)

    # THEN
    assert fill_docs.versions().splitlines()[2:] == [
        f"| 3.14 | has no wheel | {NAMED} | not tried | not tried |",
        "| 3.15 | any | " + " | ".join(["this Python was not at hand"] * 3) + " |",
    ]


@pytest.mark.parametrize(
    ("first", "then", "kept"),
    [
        (("", "not at hand"), ("oldest", {}), {"oldest": {}}),
        (("oldest", {}), ("", "not at hand"), {"oldest": {}}),
        (("", "not at hand"), ("", "not at hand"), {"": "not at hand"}),
    ],
)
def test_what_was_tried_counts_more_than_that_a_python_is_not_here(first, then, kept, tmp_path, monkeypatch):
    monkeypatch.setattr(version_table, "RESULTS", tmp_path / "versions.json")

    for pins, result in (first, then):
        version_table.keep("3.14", version_pins.NO_TENSORFLOW, pins, result)

    assert json.loads(version_table.RESULTS.read_text()) == {"3.14": {"": kept}}


def test_the_rest_is_tried_where_tensorflow_has_no_wheel(tmp_path, monkeypatch):
    # GIVEN a Python that TensorFlow has no wheel for
    installed = []
    monkeypatch.setattr(version_table, "RESULTS", tmp_path / "versions.json")
    monkeypatch.setattr(version_table, "working", lambda name: name)
    monkeypatch.setattr(version_table, "tensorflow_versions", lambda _python: [])
    monkeypatch.setattr(version_pins, "wheel_versions", lambda *_: ["900.0"])
    monkeypatch.setattr(version_table.Environment, "__init__", lambda *_: None)
    monkeypatch.setattr(version_table.Environment, "install", lambda _self, *words: installed.extend(words))
    monkeypatch.setattr(
        version_table.Environment,
        "tried",
        lambda _self: {"ok": True, "mends": [], "versions": VERSIONS, "failed": []},
    )

    # WHEN
    failed = version_table.try_table(tmp_path / "made.whl", ["3.14"], [], ["oldest"])

    # THEN
    assert failed == 0
    assert "tensorboard" in installed
    assert "numpy==900.0" in installed
    assert not [word for word in installed if "tensorflow" in word or "keras" in word]
    assert list(json.loads(version_table.RESULTS.read_text())["3.14"]) == [version_pins.NO_TENSORFLOW]


def test_what_is_printed_is_run_before_it_is_tried_again(tmp_path, monkeypatch):
    # GIVEN an environment whose first smoke names a command
    ran = []
    answers = ["FAILED  packages\nmend: pip install 'pyarrow<26'\nfailed", "", "ok"]

    def run(_self, *arguments, check=False):
        ran.append(arguments)
        return answers.pop(0)

    environment = version_table.Environment.__new__(version_table.Environment)
    monkeypatch.setattr(version_table.Environment, "run", run)
    monkeypatch.setattr(version_table.Environment, "version", lambda _self, package: VERSIONS[package])

    # WHEN
    result = environment.tried()

    # THEN
    assert result == {"ok": True, "mends": [MEND], "versions": VERSIONS, "failed": []}
    assert ran[1] == ("-m", "pip", "install", "pyarrow<26", "--quiet")
