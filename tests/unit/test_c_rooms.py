"""tools/c_rooms.py: that a call or an include that goes up is found, and a circle between files."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def c_rooms():
    spec = importlib.util.spec_from_file_location("c_rooms", ROOT / "tools" / "c_rooms.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def core(c_rooms, tmp_path, monkeypatch):
    """A function that compiles a core of the files it is given and says what is wrong with it."""
    monkeypatch.setattr(c_rooms, "CSRC", tmp_path)
    objects = tmp_path / "objects"

    def problems(**sources):
        for name, text in sources.items():
            source = tmp_path / f"{name.replace('_', '/')}.c"
            source.parent.mkdir(exist_ok=True)
            source.write_text(text)
            compiled = (objects / source.relative_to(tmp_path)).with_suffix(".o")
            compiled.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["gcc", f"-I{tmp_path}", "-c", "-o", compiled, source], check=True)
        return c_rooms.problems_of(c_rooms.calls(objects), c_rooms.includes(tmp_path))

    return problems


CLOCK = "int tfd_clock(void) { return 1; }\n"
SPOOL = "int tfd_clock(void);\nint tfd_spool(void) { return tfd_clock(); }\n"


def test_calls_of_rooms_below_are_right(core):
    # GIVEN a file that calls another of a room below its own
    # WHEN the rooms are checked
    found = core(base_clock=CLOCK, spool_spool=SPOOL)

    # THEN nothing is wrong
    assert found == []


def test_a_call_of_a_room_above_is_named(core):
    # GIVEN a file of base/ that calls one of spool/
    clock = "int tfd_size(void);\nint tfd_clock(void) { return tfd_size(); }\n"

    # WHEN the rooms are checked
    found = core(base_clock=clock, spool_spool="int tfd_size(void) { return 1; }\n")

    # THEN both files and the name are said
    assert found == ["csrc/base/clock uses spool/spool, which is not below it: tfd_size"]


def test_an_include_of_a_room_above_is_named(core, tmp_path):
    # GIVEN a file of base/ that takes but a structure of spool/
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "spool.h").write_text("struct tfd_spool { int size; };\n")
    clock = '#include "spool/spool.h"\n' + CLOCK

    # WHEN the rooms are checked
    found = core(base_clock=clock)

    # THEN the header is named
    assert found == ['csrc/base/clock uses spool/spool, which is not below it: #include "spool/spool.h"']


def test_two_files_of_a_room_that_call_each_other_are_a_circle(core):
    # GIVEN two files of one room, each of which calls the other
    drain = "int tfd_fold(void);\nint tfd_drain(void) { return tfd_fold(); }\n"
    fold = "int tfd_drain(void);\nint tfd_fold(void) { return tfd_drain(); }\n"

    # WHEN the rooms are checked
    found = core(counters_drain=drain, counters_fold=fold)

    # THEN the circle is named
    assert found == ["csrc/ has a circle: counters/drain, counters/fold"]


def test_a_header_that_needs_its_user_is_a_circle(core, tmp_path):
    # GIVEN a header that includes that of the file it is included by
    (tmp_path / "counters").mkdir()
    (tmp_path / "counters" / "fold.h").write_text('#include "counters/drain.h"\n')
    (tmp_path / "counters" / "drain.h").write_text("int tfd_drain(void);\n")
    drain = '#include "counters/fold.h"\nint tfd_drain(void) { return 1; }\n'

    # WHEN the rooms are checked
    found = core(counters_drain=drain)

    # THEN the circle is named
    assert found == ["csrc/ has a circle: counters/drain, counters/fold"]


def test_every_room_says_what_it_may_use(c_rooms):
    # GIVEN the folders of csrc/
    csrc = ROOT / "csrc"
    folders = {path.parent.relative_to(csrc).as_posix() for path in csrc.glob("**/*/*.c")}

    # WHEN they are compared with the rooms
    rooms = set(c_rooms.ROOMS_BELOW)

    # THEN each is a room, and attach.c is one
    assert rooms == folders | {"attach"}
