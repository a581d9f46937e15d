"""How csrc/build_core.py reads headers for cffi and chooses what to compile."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import cffi
import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def build_core():
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        spec = importlib.util.spec_from_file_location("build_core", "csrc/build_core.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def test_declarations_have_neither_comments_nor_preprocessor_lines(build_core, tmp_path):
    # GIVEN a header with all that cffi's parser refuses
    header = tmp_path / "sample.h"
    header.write_text(
        "#ifndef SAMPLE_H\n#define SAMPLE_H\n#include <stdint.h>\n"
        "/* two\n   lines */ struct sample { int a; /* x; */ uint64_t b; }; // end\n"
        "#define LIST(X) \\\n    X(one) \\\n    X(two)\n"
        "int count(const struct sample *sample);\n#endif\n"
    )

    # WHEN it is read
    text = build_core.declarations(header)

    # THEN cffi takes it
    ffi = cffi.FFI()
    ffi.cdef(text)
    assert [name for name, _ in ffi.typeof("struct sample").fields] == ["a", "b"]


def rooms_of(sources):
    """The folders of csrc/ that these files lie in."""
    return {str(Path(name).parent.relative_to("csrc")) for name in sources}


OTHER_EXTENSIONS = {
    "batches",
    "offline/aggregate",
    "offline/lmdb",
    "offline/replay",
    "offline/tf_data",
    "probe",
}


def test_every_source_is_compiled_into_what_it_is_for(build_core):
    core = {str(source) for source in build_core.core_sources()}
    library = {str(source) for source in build_core.program_library_sources()}

    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "csrc").rglob("*.c")}
    assert rooms_of(sources - core) == {"joining", *OTHER_EXTENSIONS}
    assert rooms_of(sources - library) == {"joining", "reader", "tensorflow", *OTHER_EXTENSIONS}
    assert core < sources
    assert library < sources


def test_each_way_of_joining_is_in_one_library(build_core):
    # GIVEN the files of the room of joining
    ways = {str(path.relative_to(ROOT)) for path in (ROOT / "csrc" / "joining").glob("*.c")}

    # WHEN each library's share of them is taken
    waiting = [f"csrc/{source}" for source in build_core.WAITING_LIBRARY_SOURCES]
    compiled = [*build_core.core_sources(), *build_core.program_library_sources(), *waiting]
    joining = [str(source) for source in compiled if str(source) in ways]

    # THEN each file is in one
    assert sorted(joining) == sorted(ways)


def dynamic_symbols(name):
    """Return the names that a library defines for others, and those that it takes from others."""
    library = ROOT / "tfdarshan" / "native" / name
    listed = subprocess.run(
        ["nm", "-D", "--without-symbol-versions", "--format=posix", library],
        capture_output=True,
        text=True,
        check=True,
    )
    symbols = [line.split()[:2] for line in listed.stdout.splitlines()]
    defined = [name for name, kind in symbols if kind not in "Uwv"]
    return sorted(defined), {name for name, kind in symbols if kind in "Uwv"}


@pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm")
def test_the_library_for_programs_stands_in_for_nothing():
    # WHEN the symbols are read of the library that the loader loads into programs, before theirs
    defined, taken = dynamic_symbols("libtfdarshan_programs.so")

    # THEN it defines one name, which is its own, and knows nothing of Python
    assert defined == ["tfdarshan_leave_program"]
    assert not [name for name in taken if name.startswith(("Py", "_Py"))]


@pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm")
def test_the_library_that_waits_takes_one_function_of_python():
    # WHEN the symbols are read of the library that starting interpreters load
    defined, taken = dynamic_symbols("libtfdarshan_waiting.so")

    # THEN
    assert defined == ["PyInit__start", "tfdarshan_leave_waiting"]
    assert {name for name in taken if name.startswith(("Py", "_Py"))} == {"PyModuleDef_Init"}


@pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm")
def test_the_library_for_tensorflow_is_linked_to_none_of_it():
    # WHEN the symbols are read of the library that any TensorFlow from 2.16 on loads
    defined, taken = dynamic_symbols("libtfdarshan_tf_data.so")

    # THEN it finds TensorFlow's when it is loaded
    assert defined == ["tfd_lmdb_op_connect"]
    assert not [name for name in taken if name.startswith(("TF_", "_ZN10tensorflow", "Py", "_Py"))]


def test_every_header_is_a_dependency(build_core):
    _name, _source, _extension, options = build_core.core._assigned_source

    assert {str(path.relative_to(ROOT)) for path in (ROOT / "csrc").rglob("*.h")} < set(options["depends"])


@pytest.mark.skipif(shutil.which("readelf") is None, reason="there is no readelf")
def test_the_core_needs_only_the_c_library():
    # GIVEN the extensions, which are loaded into jobs that have libraries of their own
    built = sorted((ROOT / "tfdarshan" / "native").glob("*.so"))
    assert len(built) == 9

    # WHEN the loader's view of them is read
    read = [
        subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True) for path in built
    ]

    # THEN none brings a second copy of anything: TensorFlow has its own libprotobuf
    needed = {name for one in read for name in re.findall(r"\(NEEDED\).*\[(.+?)\.so", one.stdout)}
    assert "libc" in needed
    assert needed <= {"libc", "libdl", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"}
