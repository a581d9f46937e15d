"""Writes the C extensions' types from the headers that cffi reads: _core.pyi and others in tfdarshan/native/.

With them mypy knows each function of `lib`, its parameters and its result, and the fields of each struct.
`--check` writes nothing and fails if a file is out of date.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pycparser import c_ast, c_parser

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ROOT / "tfdarshan" / "native"
STUBS = {
    "_aggregate.pyi": "offline/aggregate/aggregate.h",
    "_core.pyi": "tfdarshan.h",
    "_lmdb.pyi": "offline/lmdb/lmdb.h",
    "_probe.pyi": "probe/probe.h",
    "_replay.pyi": "offline/replay/replay.h",
}
INTEGERS = tuple(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64))
TYPES = {"void": "None", "double": "float"} | dict.fromkeys(("int", "size_t", *INTEGERS), "int")

HEAD = '''"""What csrc/{header} declares. Written by tools/core_stubs.py (make stubs)."""

from typing import Any, Literal, overload

from typing_extensions import Self

class Struct:
    """A struct, or a pointer to one: cffi reaches fields through both."""

    def __getitem__(self, index: int) -> Self: ...

'''
FFI = """class FFI:
    NULL: Any
{new}    def buffer(self, cdata: Any, size: int = ...) -> Any: ...
    def from_buffer(self, cdecl: str, source: Any, require_writable: bool = ...) -> Any: ...
    def cast(self, cdecl: str, source: Any) -> Any: ...
    def gc(self, cdata: Any, destructor: Any) -> Any: ...
    def memmove(self, dest: Any, src: Any, n: int) -> None: ...
    def sizeof(self, cdecl: Any) -> int: ...
    def string(self, cdata: Any, maxlen: int = ...) -> bytes: ...
    def typeof(self, cdecl: Any) -> Any: ...
    def unpack(self, cdata: Any, length: int) -> Any: ...

"""
NEW = "    @overload\n    def new(self, cdecl: {cdecl}, init: Any = ...) -> {result}: ...\n"


def declared(header: str) -> list[Any]:
    """Return the declarations of a header of csrc/ as cffi is given them."""
    spec = importlib.util.spec_from_file_location("build_core", ROOT / "csrc" / "build_core.py")
    assert spec
    assert spec.loader
    build_core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build_core)
    names = "".join(f"typedef int {name};\n" for name in ("size_t", *INTEGERS))
    text = names + build_core.declarations(ROOT / "csrc" / header)
    return [node for node in c_parser.CParser().parse(text).ext if isinstance(node, c_ast.Decl)]


def type_of(node: Any, structs: set[str]) -> str:
    """Return a declaration's type in Python; Any for what cffi takes several types for."""
    if isinstance(node, c_ast.PtrDecl):
        found = type_of(node.type, structs)
        return found if found in structs else "Any"
    if not isinstance(node, c_ast.TypeDecl):
        return "Any"
    if isinstance(node.type, c_ast.Struct):
        return str(node.type.name)
    return TYPES.get(" ".join(node.type.names), "Any")


def struct_stub(struct: Any, structs: set[str]) -> str:
    """Return the class of a struct."""
    fields = [f"    {field.name}: {type_of(field.type, structs)}\n" for field in struct.decls or ()]
    return f"class {struct.name}(Struct):\n{''.join(fields) or '    pass'}\n"


def function_stub(name: str, function: Any, structs: set[str]) -> str:
    """Return the method of Lib that stands for a function."""
    parameters = [
        f"{parameter.name}: {type_of(parameter.type, structs)}"
        for parameter in (function.args.params if function.args else ())
        if parameter.name
    ]
    arguments = ", ".join(["self", *parameters, *(["/"] if parameters else [])])
    return f"    def {name}({arguments}) -> {type_of(function.type, structs)}: ...\n"


def constants(nodes: list[Any]) -> Iterator[str]:
    """Yield the attribute of each constant of an enum."""
    for node in nodes:
        if isinstance(node.type, c_ast.Enum):
            yield from (f"    {constant.name}: int\n" for constant in node.type.values.enumerators)


def stub(header: str) -> str:
    """Return the stub of the extension whose interface is csrc/`header`."""
    nodes = declared(header)
    found = [node.type for node in nodes if isinstance(node.type, c_ast.Struct)]
    structs = {struct.name for struct in found}
    made = (NEW.format(cdecl=f'Literal["struct {struct.name} *"]', result=struct.name) for struct in found)
    new = "".join(made) + NEW.format(cdecl="str", result="Any")
    functions = [
        function_stub(node.name, node.type, structs)
        for node in nodes
        if isinstance(node.type, c_ast.FuncDecl)
    ]
    library = f"class Lib:\n{''.join(constants(nodes))}{''.join(functions)}\n"
    classes = "\n".join(struct_stub(struct, structs) for struct in found)
    return f"{HEAD.format(header=header)}{classes}\n{FFI.format(new=new)}{library}ffi: FFI\nlib: Lib\n"


def main() -> int:
    """Write or check the stubs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a file is out of date")
    check = parser.parse_args().check
    stale = []
    for name, header in STUBS.items():
        path, text = NATIVE / name, stub(header)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"out of date: {', '.join(stale)}", file=sys.stderr)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
