"""tools/core_stubs.py: that the stubs name what the extensions have, and that an old stub is found."""

import ast
import importlib
import sys

import pytest

from tools import core_stubs


def names_of(stub, kind):
    """The names in a stub's class."""
    body = next(node.body for node in ast.parse(stub).body if getattr(node, "name", "") == kind)
    return {getattr(node, "name", None) or ast.unparse(node.target) for node in body}


@pytest.mark.parametrize("extension", ["_aggregate", "_core", "_lmdb", "_probe", "_replay"])
def test_a_stub_has_all_that_the_extension_has_and_nothing_else(extension):
    # GIVEN an extension as it was built, and its stub
    lib = importlib.import_module(f"tfdarshan.native.{extension}").lib
    stub = (core_stubs.NATIVE / f"{extension}.pyi").read_text(encoding="utf-8")

    # WHEN / THEN
    assert names_of(stub, "Lib") == {name for name in dir(lib) if not name.startswith("__")}


@pytest.mark.parametrize("extension", ["_aggregate", "_core", "_lmdb", "_probe", "_replay"])
def test_a_stubs_structs_have_their_fields(extension):
    # GIVEN an extension as it was built, and its stub
    ffi = importlib.import_module(f"tfdarshan.native.{extension}").ffi
    stub = (core_stubs.NATIVE / f"{extension}.pyi").read_text(encoding="utf-8")

    # WHEN / THEN: cffi gives up where it is asked for the fields of a struct that is only declared
    for name in set(ffi.list_types()[1]) - {"tfd_reader", "tfd_lmdb"}:
        assert names_of(stub, name) == {field for field, _ in ffi.typeof(f"struct {name}").fields}


def test_what_cffi_converts_has_pythons_type_and_the_rest_any(tmp_path):
    # GIVEN each kind of parameter and result
    (tmp_path / "one.h").write_text(
        "#include <stdint.h>\nstruct pair { int32_t first; double second; char name[8]; };\n"
        "enum { MOST = 3 };\n"
        "const char *name_of(struct pair *pair, const char *other, const uint64_t *numbers, size_t count);\n"
        "void reset(void);\n"
    )

    # WHEN
    stub = core_stubs.stub(str(tmp_path / "one.h"))

    # THEN
    assert "    first: int\n    second: float\n    name: Any\n" in stub
    assert "    MOST: int\n" in stub
    assert "    def name_of(self, pair: pair, other: Any, numbers: Any, count: int, /) -> Any: ...\n" in stub
    assert "    def reset(self) -> None: ...\n" in stub
    assert '    def new(self, cdecl: Literal["struct pair *"], init: Any = ...) -> pair: ...\n' in stub


def test_a_stub_that_is_out_of_date_is_found(tmp_path, monkeypatch, capsys):
    # GIVEN a stub of an older header
    monkeypatch.setattr(core_stubs, "NATIVE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["core_stubs.py"])
    assert core_stubs.main() == 0
    stub = tmp_path / "_core.pyi"
    stub.write_text(stub.read_text().replace("tfd_session_stop", "tfd_sesion_stop"))
    monkeypatch.setattr(sys, "argv", ["core_stubs.py", "--check"])

    # WHEN
    status = core_stubs.main()

    # THEN it is named and left as it is
    assert status == 1
    assert capsys.readouterr().err == "out of date: _core.pyi\n"
    assert "tfd_sesion_stop" in stub.read_text()
