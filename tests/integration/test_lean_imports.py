"""What is typed often is quick, for it imports little: the modules that must not be loaded are named here."""

import json
import os
import subprocess
import sys

import pytest

import tfdarshan

# Packages that take a tenth of a second and more, and what of tfdarshan needs them.
HEAVY = {"asyncio", "jinja2", "numpy", "pandas", "plotly", "pyarrow", "tensorboard", "tensorflow"}
HEAVY_ROOMS = {
    "tfdarshan.analysis.files.file_table",
    "tfdarshan.checkpoint.pipeline",
    "tfdarshan.findings.diagnosis",
    "tfdarshan.native._core",
    "tfdarshan.recording",
    "tfdarshan.reports.views",
    "tfdarshan.session",
}
LOADED = """
import json, sys
from tfdarshan.commands import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def loaded_by(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        env={**os.environ, **environment}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return set(json.loads(done.stderr.splitlines()[-1])), done.stdout


@pytest.mark.parametrize("typed", [["--help"], [], ["--version"], ["summary", "--help"], ["run", "--help"]])
def test_help_and_version_load_nothing_heavy(typed):
    loaded, said = loaded_by(*typed)

    assert said.startswith(("usage: tfdarshan", "tfdarshan "))
    assert loaded & (HEAVY | HEAVY_ROOMS) == set()


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("tfdarshan", {"lmdb", "tensorflow", "tfdarshan.lmdb", "torch"}),
        ("tfdarshan.lmdb", {"lmdb", "pandas", "tensorflow", "torch", "tfdarshan.native._core"}),
    ],
)
def test_importing_loads_no_framework(module, unwanted):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, json, {module}; print(json.dumps(sorted(sys.modules)))"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip

    assert set(json.loads(done.stdout)) & unwanted == set()


def test_list_loads_nothing_heavy_once_its_verdicts_are_known(tmp_path):
    # GIVEN a session whose verdict is kept
    with tfdarshan.profile(tmp_path / "logs"):
        (tmp_path / "a.bin").write_bytes(b"1")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    first, _ = loaded_by("list", str(tmp_path / "logs"), **cache)

    # WHEN
    again, said = loaded_by("list", str(tmp_path / "logs"), **cache)

    # THEN
    assert said.startswith("1 session in ")
    assert "tfdarshan.findings.diagnosis" in first
    assert again & (HEAVY | HEAVY_ROOMS) == set()


@pytest.mark.parametrize("verb", ["summary", "findings", "files"])
def test_what_is_said_in_text_loads_no_library_of_pages(tmp_path, verb):
    # GIVEN
    with tfdarshan.profile(tmp_path / "logs"):
        (tmp_path / "a.bin").write_bytes(b"1")

    # WHEN
    loaded, said = loaded_by(verb, str(tmp_path / "logs"))

    # THEN
    assert said
    assert loaded & {"jinja2", "matplotlib", "plotly", "tfdarshan.reports.page"} == set()


def test_a_verb_loads_no_other_verb():
    loaded, _ = loaded_by("list", "--help")

    verbs = {name for name in loaded if name.startswith("tfdarshan.commands.")}
    parts = {"arguments", "exit_codes", "list_sessions", "several"}
    assert verbs == {f"tfdarshan.commands.{name}" for name in parts}


# Loads libraries with 64 bytes in the room that the loader has for variables of threads, until it has none.
LOADS_OTHERS = """
import ctypes, pathlib, sys
if sys.argv[2] == "core":
    from tfdarshan.native import _extension
    _extension.core()
loaded = 0
for library in sorted(pathlib.Path(sys.argv[1]).glob("*.so")):
    try:
        ctypes.CDLL(str(library))
    except OSError:
        break
    loaded += 1
print(loaded)
"""


def test_the_core_leaves_other_libraries_room_for_variables_of_threads(tmp_path):
    # GIVEN libraries that need such room at once, as those of OpenMP and allocators do
    source, first = tmp_path / "library.c", tmp_path / "00.so"
    source.write_text(
        '__thread char block[64] __attribute__((tls_model("initial-exec"))); char *get() { return block; }'
    )
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", first, source], check=True)
    for number in range(1, 60):
        (tmp_path / f"{number:02}.so").write_bytes(first.read_bytes())

    # WHEN
    alone, beside = (
        int(subprocess.run(
            [sys.executable, "-c", LOADS_OTHERS, tmp_path, what],
            capture_output=True, text=True, check=True, timeout=60,
        ).stdout)
        for what in ("nothing", "core")
    )  # fmt: skip

    # THEN the core takes as little as two of them do
    assert 2 < alone < 60
    assert beside >= alone - 2
