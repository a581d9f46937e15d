"""Where in a program a printed line is, if its names are taken for the program's own."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

# Names that stand for themselves.
MODULES = frozenset({"tf", "np", "os", "threading", "tfdarshan", "pathlib", "functools", "sqlite3", "shutil"})
# Of functions of these a reader leaves the keyword arguments that he gives and that are not printed.
KEEPS_KEYWORDS = frozenset({"sqlite3"})
# Of these, such as a reader imports if his program does not.
OF_PYTHON = {
    "os": "os",
    "threading": "threading",
    "functools": "functools",
    "copy": "copy",
    "shutil": "shutil",
    "concurrent": "concurrent.futures",
}


@dataclass(frozen=True)
class Place:
    """Where in the program the line is: the expression, its statement, and what the names stand for."""

    expression: ast.expr
    statement: ast.stmt
    names: Mapping[str, ast.expr]


def find_place(program: ast.Module, pattern: ast.expr) -> Place | None:
    """Return the place in the program that the printed expression stands for.

    Of places that it may stand for a reader takes one with the program's own functions, and of these the one
    that has most of its names to the letter, the first if several do.
    """
    functions = {node.name for node in ast.walk(program) if isinstance(node, ast.FunctionDef)}

    def alike(place: Place) -> tuple[bool, int]:
        same = {name for name, node in place.names.items() if ast.unparse(node) == name}
        return functions & set(place.names) <= same, len(same)

    return max(_places(program, pattern), key=alike, default=None)


def _places(program: ast.Module, pattern: ast.expr) -> Iterator[Place]:
    front = _front(pattern)
    for statement in ast.walk(program):
        if not isinstance(statement, ast.Assign | ast.Expr | ast.Return):
            continue
        for node in ast.walk(statement):
            names: dict[str, ast.expr] = {}
            if isinstance(node, ast.expr) and _same(pattern, node, names, front):
                yield Place(node, statement, names)


def find_whole_loop(program: ast.Module, pattern: ast.For) -> tuple[ast.For, Mapping[str, ast.expr]] | None:
    """Return the first loop in the program that the printed one stands for, with its body; and its names."""
    for node in ast.walk(program):
        names: dict[str, ast.expr] = {}
        if isinstance(node, ast.For) and _same(pattern, node, names, None):
            return node, names
    return None


def find_function(program: ast.Module, pattern: ast.FunctionDef) -> ast.FunctionDef | None:
    """Return the function of the printed name, with as many arguments."""
    functions = (node for node in ast.walk(program) if isinstance(node, ast.FunctionDef))
    alike = (node for node in functions if node.name == pattern.name)
    return next((node for node in alike if len(node.args.args) == len(pattern.args.args)), None)


def find_loop(program: ast.Module, header: ast.For) -> Place | None:
    """Return the place of what the printed loop iterates over.

    That is the first loop in the program that has that variable, or what an iterator is made of whose name is
    that of what the printed loop iterates over. If that is a call, it is that call.
    """
    named = ast.unparse(header.iter)
    for node in ast.walk(program):
        given = _iterated(node, ast.unparse(header.target), named)
        is_it = given is not None and (isinstance(header.iter, ast.Name) or ast.unparse(given) == named)
        if given is not None and is_it and isinstance(node, ast.For | ast.Assign):
            return Place(given, node, {named: given})
    return None


def _iterated(node: ast.AST, variable: str, named: str) -> ast.expr | None:
    """Return what a loop over a variable, or an iterator, is made of."""
    if isinstance(node, ast.For) and ast.unparse(node.target) == variable:
        return node.iter
    if isinstance(node, ast.Assign) and _is_iter(node.value):
        given = node.value.args[0]
        if named in (ast.unparse(node.targets[0]), ast.unparse(given)):
            return given
    return None


def outermost_loop(program: ast.Module, inside: ast.stmt) -> ast.stmt:
    """Return the outermost loop that a statement is in, itself if it is in none."""
    loops = (node for node in ast.walk(program) if isinstance(node, ast.For | ast.While))
    return next((loop for loop in loops if any(node is inside for node in ast.walk(loop))), inside)


def _is_iter(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "iter"


def _front(pattern: ast.expr) -> ast.expr | None:
    """Return the variable that a method chain begins with."""
    node = pattern
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    is_chain = isinstance(pattern, ast.Call) and isinstance(pattern.func, ast.Attribute)
    return node if is_chain and isinstance(node, ast.Name) and node.id not in MODULES else None


def _same(pattern: ast.AST, node: ast.AST, names: dict[str, ast.expr], front: ast.expr | None) -> bool:
    if isinstance(pattern, ast.Name) and isinstance(node, ast.expr):
        return _stands_for(pattern, node, names, anything=pattern is front)
    if isinstance(pattern, ast.Constant) and _is_number_of(node):
        return True
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, ast.Call) and isinstance(node, ast.Call):
        node = _without(node, further_keywords(pattern, node))
    for name, part in ast.iter_fields(pattern):
        other = getattr(node, name)
        if isinstance(part, list):
            if len(part) != len(other) or not all(
                _same(one, two, names, front) for one, two in zip(part, other, strict=True)
            ):
                return False
        elif isinstance(part, ast.AST):
            if not isinstance(other, ast.AST) or not _same(part, other, names, front):
                return False
        elif name not in ("ctx", "kind", "type_comment") and part != other:
            return False
    return True


def further_keywords(pattern: ast.Call, node: ast.Call) -> list[ast.keyword]:
    """Return the keyword arguments of the program's call that are not printed, and stay as they are."""
    function = pattern.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return []
    printed = {one.arg for one in pattern.keywords}
    return [one for one in node.keywords if one.arg not in printed and function.value.id in KEEPS_KEYWORDS]


def _without(node: ast.Call, keywords: list[ast.keyword]) -> ast.Call:
    return ast.Call(node.func, node.args, [one for one in node.keywords if one not in keywords])


def _stands_for(pattern: ast.Name, node: ast.expr, names: dict[str, ast.expr], *, anything: bool) -> bool:
    if pattern.id in MODULES or hasattr(builtins, pattern.id):
        return isinstance(node, ast.Name) and node.id == pattern.id
    if pattern.id[:1].isupper():
        # A class is what it is called, with its module in front of it or without.
        return ast.unparse(node).split(".")[-1] == pattern.id
    simple = isinstance(node, ast.Name | ast.Constant | ast.Lambda | ast.JoinedStr)
    if not anything and not simple and not (isinstance(node, ast.Attribute) and _is_path(node)):
        return False
    if isinstance(node, ast.Name) and node.id in MODULES:
        return False
    before = names.setdefault(pattern.id, node)
    return ast.unparse(before) == ast.unparse(node)


def _is_number_of(node: ast.AST) -> bool:
    """Return whether it is what a program has in place of a printed number: BATCH, or len(paths)."""
    is_length = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
    return is_length or (isinstance(node, ast.Name) and node.id.isupper())


def _is_path(node: ast.expr) -> bool:
    """Return whether it is a name with attributes, such as self.paths or tf.io.read_file."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
