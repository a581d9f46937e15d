"""The floor plan: files outside the rooms, names used twice, circles of imports, and imported tests.

Which room may import which is for import-linter (pyproject.toml), and for tools/c_rooms.py in C.
"""

import ast
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = {"tfdarshan": "tfdarshan", "tfdarshan.tensorboard_plugin": "tensorboard_plugin",
           "tfdarshan.workloads": "workloads"}  # fmt: skip
# The one import that goes up, see pyproject.toml.
ALLOWED = {("tfdarshan.recording.profiler", "tfdarshan.session")}


def modules(root=ROOT, folders=FOLDERS):
    """Return each module's file by its name."""
    found = {}
    for name, folder in folders.items():
        for path in (root / folder).rglob("*.py"):
            parts = path.relative_to(root / folder).with_suffix("").parts
            found[".".join((name, *parts)).removesuffix(".__init__")] = path
    return found


def imported(name, path, known):
    """Name the modules that one imports: anywhere, also within functions and for types alone."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                yield from [whole for whole in (f"{base}.{alias.name}", base) if whole in known][:1]


def imports(found):
    return {
        name: {
            other for other in imported(name, path, found) if other != name and (name, other) not in ALLOWED
        }
        for name, path in found.items()
    }


@pytest.fixture(scope="module")
def graph():
    return imports(modules())


def circle(graph):
    """Return the modules of one circle; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_in_a_circle(graph):
    assert circle(graph) == []


@pytest.mark.parametrize("line", ["from a.one import x", "def f():\n    from . import one", "import a.one"])
def test_a_circle_is_found(tmp_path, line):
    # GIVEN
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.two import y\n"
    )
    (tmp_path / "a" / "two.py").write_text(line + "\n")

    # WHEN / THEN
    assert set(circle(imports(modules(tmp_path, {"a": "a"})))) == {"a.one", "a.two"}


def imported_tests(found):
    """Return the test modules that each module imports."""
    tests = {name for name in found if name.rpartition(".")[2].startswith("test_")}
    return {name: used & tests for name, used in imports(found).items() if used & tests}


def test_no_test_module_is_imported():
    found = imported_tests(modules(folders={"tests": "tests"}))

    assert found == {}, "move what they share into a helper module or a fixture of the room"


@pytest.mark.parametrize("line", ["from a.test_one import x", "from a import test_one", "import a.test_one"])
def test_an_imported_test_module_is_found(tmp_path, line):
    # GIVEN
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "test_one.py").touch()
    (tmp_path / "a" / "made_up.py").write_text(f"def f():\n    {line}\n")

    # WHEN / THEN
    assert imported_tests(modules(tmp_path, {"a": "a"})) == {"a.made_up": {"a.test_one"}}


def test_only_their_commands_know_the_workloads_and_the_tab(graph):
    users = {
        name: {
            other.split(".")[1]
            for other in others
            if other.split(".")[1:2] in (["workloads"], ["tensorboard_plugin"])
        }
        for name, others in graph.items()
        if name.split(".")[1:2] not in (["workloads"], ["tensorboard_plugin"])
    }
    assert {name: used for name, used in users.items() if used} == {
        "tfdarshan.commands.workload": {"workloads"},
        "tfdarshan.commands.view": {"tensorboard_plugin"},
    }


def test_few_files_lie_outside_the_rooms():
    assert len([path for path in (ROOT / "tfdarshan").iterdir() if path.is_file()]) <= 15
    assert len([path for path in (ROOT / "csrc").iterdir() if path.is_file()]) <= 6


def test_few_modules_have_one_name():
    names = Counter(path.name for path in modules().values() if path.name != "__init__.py")
    assert len([name for name, count in names.items() if count > 1]) <= 12, names.most_common(20)
