"""The table of the Python API: what users import, and what its docstring begins with.

Sources are read, not imported: some of the modules need TensorFlow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

import tfdarshan

PACKAGE = Path(__file__).parent.parent / "tfdarshan"
# What users import from below the package, and the module that defines it.
BELOW: Mapping[str, str] = {
    "tfdarshan.ahead.map_ahead": "ahead",
    "tfdarshan.ahead.read_ahead": "ahead",
    "tfdarshan.checkpoint.BurstBuffer": "checkpoint.burst_buffer",
    "tfdarshan.checkpoint.BurstModelCheckpoint": "checkpoint.keras_callback",
    "tfdarshan.keras.IOCallback": "keras",
    "tfdarshan.lmdb.Index": "lmdb.index",
    "tfdarshan.lmdb.dataset": "lmdb.dataset",
    "tfdarshan.testing.io_budget": "testing",
}


def api_rows() -> Iterable[tuple[str, ...]]:
    """Yield a row for each public name: how it is imported, and the first line of its docstring."""
    for name, module in homes().items():
        yield f"`{name}`", first_line(module, name.rpartition(".")[2])


def homes() -> Mapping[str, str]:
    """Return the module below tfdarshan that defines each public name."""
    of_package: dict[str, str] = {
        f"tfdarshan.{name}": home for name, home in sorted(tfdarshan._HOMES.items())
    }
    return {**of_package, **BELOW}


def first_line(module: str, name: str) -> str:
    """Return the first line of the docstring of a class or function, which a module defines or imports.

    Raises:
        LookupError: The module has no such name at its top.
    """
    path = PACKAGE / f"{module.replace('.', '/')}.py"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
            return (ast.get_docstring(node) or "").partition("\n")[0]
        if isinstance(node, ast.ImportFrom) and node.module and name in [alias.name for alias in node.names]:
            return first_line(node.module.removeprefix("tfdarshan."), name)
    raise LookupError(f"{path} has no {name}: mend BELOW of tools/api_page.py.")
