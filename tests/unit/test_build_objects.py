"""How csrc/build_objects.py compiles each C file once, and again only for what changed."""

import importlib.util
import os
from pathlib import Path

import pytest

pytest.importorskip("setuptools")

from setuptools._distutils.ccompiler import new_compiler

ROOT = Path(__file__).parents[2]
FLAGS = {"macros": [], "include_dirs": ["src"], "debug": False, "depends": []}


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Two C files, one of which includes a header, in the folder that is built from."""
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    Path("src/unit.h").write_text("enum { UNIT = 7 };\n")
    Path("src/alone.c").write_text("int alone(void) { return 1; }\n")
    Path("src/with_header.c").write_text('#include "unit.h"\nint with_header(void) { return UNIT; }\n')
    return ["src/alone.c", "src/with_header.c"]


def objects():
    spec = importlib.util.spec_from_file_location("build_objects", ROOT / "csrc" / "build_objects.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Objects(new_compiler())


def build(sources, **flags):
    """Compile as one run of setup.py does; return the object and the time of its making by source."""
    names = objects().compile(sources, **(FLAGS | flags))
    return {source: (name, os.stat(name).st_mtime_ns) for source, name in zip(sources, names, strict=True)}


def test_nothing_is_compiled_twice(sources):
    # GIVEN two libraries made from the same source, in one build
    made = objects()
    first = made.compile(sources, **FLAGS)
    times = [os.stat(name).st_mtime_ns for name in first]

    # WHEN the second is built, and WHEN all is built again later
    second = made.compile([sources[1]], **FLAGS)
    again = build(sources)

    # THEN the objects are the same ones
    assert second == first[1:]
    assert [again[source] for source in sources] == list(zip(first, times, strict=True))


@pytest.mark.parametrize(
    ("changed", "compiled"),
    [("src/alone.c", {"src/alone.c"}), ("src/unit.h", {"src/with_header.c"})],
)
def test_a_changed_file_compiles_what_was_made_from_it(sources, changed, compiled):
    before = build(sources)
    # WHEN one file is newer than the objects
    later_ns = max(made_ns for _name, made_ns in before.values()) + 1
    os.utime(changed, ns=(later_ns, later_ns))
    # THEN what was made from it is compiled again, and nothing else
    after = build(sources)
    assert {source for source in sources if after[source] != before[source]} == compiled


def test_a_removed_header_is_missed(sources):
    build(sources)
    Path("src/unit.h").unlink()
    with pytest.raises(Exception, match=r"exit (code|status)"):
        build(sources)


def test_other_flags_make_other_objects(sources):
    plain, optimised = build(sources), build(sources, extra_postargs=["-O2"])
    assert not {name for name, _ in plain.values()} & {name for name, _ in optimised.values()}


def test_each_object_is_where_it_was_compiled_to_in_the_order_of_the_sources(sources):
    names = objects().compile(sources, **FLAGS)
    assert [Path(name).name for name in names] == ["alone.o", "with_header.o"]
    assert all(Path(name).read_bytes()[:4] == b"\x7fELF" for name in names)
