"""Applies a fix as it is printed: the line that goes, the lines that come, or a command.

A reader takes `dataset.map(load)` for his own `ds.map(read_image)`, and `batch_size` for his `32`: names of
variables stand for variables, simple values and lambdas, the one in front of a method chain for whatever is
in front of it. He does not guess more: names of functions, methods, arguments and modules have to be those of
his program, a call has to have the arguments that are printed (of `sqlite3.connect` further ones stay), and
what is printed without a line to take out has no place. FAST, SLOW, DIR and LOGDIR are his to fill in;
`# from tfdarshan.checkpoint` tells him what to import.
"""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .printed_line import (
    OF_PYTHON,
    Place,
    find_function,
    find_loop,
    find_place,
    find_whole_loop,
    further_keywords,
    outermost_loop,
)

PLACEHOLDERS = ("LOGDIR", "DIR", "FAST", "SLOW")
IN_TEXT = re.compile(rf"^(?:{'|'.join(PLACEHOLDERS)})(?=/|$)")
# The head of a loop or a function, without its body.
HEAD = re.compile(r"^(?:for|def) .+:[^\n]*\Z", re.MULTILINE)
NO_BODY = "pass"
# What such a line says goes in front of all loops.
BEFORE = re.compile(r"#.*before the first epoch\b")
OF_MODULE = re.compile(r"#\s*from ([\w.]+)\s*$")


class CannotTypeError(Exception):
    """The fix cannot be applied as it is printed; says why."""


def is_command(line: str) -> bool:
    """Return whether a fix's line is one to type into a shell."""
    return line.lstrip().startswith(("tfdarshan ", "python ", "lfs "))


def filled_command(line: str, folders: Mapping[str, str]) -> str:
    """Fill the placeholders of a command in.

    Raises:
        CannotTypeError: It would change nothing about the job.
    """
    lines = line.splitlines()
    applies = next((place for place, part in enumerate(lines) if "stage apply" in part), None)
    if applies is None:
        raise CannotTypeError(f"this command changes nothing: {line}")
    # The job itself, which comes last, is run with the copies by whoever times it.
    return _filled("\n".join(lines[: applies + 1]), folders)


def is_mirrored(line: str) -> bool:
    """Return whether commands make a folder that the job is to read, in place of the data's own."""
    return any("stage apply" in part and "--mirror" in part for part in line.splitlines())


def copies_and_lines(line: str, folders: Mapping[str, str]) -> tuple[str, str]:
    """Split a fix into what copies files before the job runs, filled in, and the lines of its program."""
    lines = line.splitlines()
    copies = [one for one in lines if one.startswith("cp ")]
    return _filled("\n".join(copies), folders), "\n".join(one for one in lines if one not in copies)


def _filled(line: str, folders: Mapping[str, str]) -> str:
    return re.sub(rf"\b({'|'.join(PLACEHOLDERS)})\b", lambda found: folders.get(found[0], found[0]), line)


def apply_lines(source: str, line: str, instead_of: str, folders: Mapping[str, str]) -> str:
    """Return the program with the fix in it.

    Args:
        source: Its text.
        line: What is to be written, one or more statements.
        instead_of: What is to be taken out: one statement, as many as come, or several for one that comes.
        folders: What the placeholders stand for.

    Raises:
        CannotTypeError: The reader would not know what to write, or where.
    """
    if not instead_of.strip():
        raise CannotTypeError("no line is named that it is written instead of")
    old, new = _statements(instead_of), [_InText(folders).visit(one) for one in _statements(line)]
    if len(old) > 1 and len(old) == len(new):
        # Each line that goes has one that comes. What a comment says to import is of one of them.
        said = OF_MODULE.search(line.strip())
        for goes, comes in zip(old, new, strict=True):
            one = f"{ast.unparse(comes)}  {said[0] if said else ''}"
            source = apply_lines(source, one, ast.unparse(goes), folders)
        return source
    if len(old) > 1 and len(new) == 1:
        # What comes stands where the first line was; the others go.
        for goes in old[1:]:
            source = _without(source, goes)
        return apply_lines(source, line, ast.unparse(old[0]), folders)
    if len(old) != 1 or not new:
        raise CannotTypeError("more than one line is to be taken out")
    program = ast.parse(source)
    if isinstance(old[0], ast.FunctionDef):
        return _with_decorators(source, program, old[0], new)
    if isinstance(old[0], ast.For) and ast.unparse(old[0].body[0]) != NO_BODY:
        return _with_loop_replaced(source, program, old[0], new, line)
    place = _place(program, old[0])
    if place is None:
        raise CannotTypeError(f"the program has no `{instead_of.strip()}`")
    at = _counterpart(old[0], new)
    given = {name: ast.Constant(folder) for name, folder in folders.items() if name in PLACEHOLDERS}
    known = _known_names(program)
    imports = _imports(new, known | set(place.names) | set(given), line)
    named = {name: node for name, node in given.items() if name not in known} | dict(place.names)
    before = outermost_loop(program, place.statement) if BEFORE.search(line) else place.statement
    return _replaced(source, place, _written(new, at, place, named), imports, before)


def _without(source: str, goes: ast.stmt) -> str:
    """Take a line out: a call of a chain, or the statement that it is all of."""
    place = _place(ast.parse(source), goes)
    called = None if place is None else place.expression
    if place is None or not isinstance(called, ast.Call) or not isinstance(called.func, ast.Attribute):
        raise CannotTypeError(f"the program has no `{ast.unparse(goes)}`")
    rest = ast.unparse(called.func.value)
    if rest == _target(place.statement):
        # Nothing is left of it.
        lines = source.splitlines(keepends=True)
        del lines[place.statement.lineno - 1 : place.statement.end_lineno]
        return "".join(lines)
    return _replaced(source, place, _Written([], rest, []), "", place.statement)


def _with_decorators(source: str, program: ast.Module, old: ast.FunctionDef, new: list[ast.stmt]) -> str:
    """Put what is printed above a function above the program's."""
    function, comes = find_function(program, old), new[0]
    if function is None or not isinstance(comes, ast.FunctionDef) or len(new) != 1:
        raise CannotTypeError(f"the program has no `{ast.unparse(old).splitlines()[0]}`")
    lines = source.splitlines(keepends=True)
    known = _known_names(program)
    imports = {_imports([ast.Expr(one)], known, "") for one in comes.decorator_list}
    above = [f"{' ' * function.col_offset}@{ast.unparse(one)}\n" for one in comes.decorator_list]
    at = min([function.lineno, *(one.lineno for one in function.decorator_list)]) - 1
    return _with_imports("".join([*lines[:at], *above, *lines[at:]]), "\n".join(sorted(imports)))


def _with_loop_replaced(
    source: str, program: ast.Module, old: ast.For, new: list[ast.stmt], line: str
) -> str:
    """Put what is printed in the place of a whole loop."""
    found = find_whole_loop(program, old)
    if found is None:
        raise CannotTypeError(f"the program has no `{ast.unparse(old)}`")
    loop, names = found
    imports = _imports(new, _known_names(program) | set(names), line)
    comes = [ast.unparse(_Filled(names).visit(copy.deepcopy(one))) for one in new]
    lines = source.splitlines(keepends=True)
    written = _indented(comes, loop.col_offset).decode()
    made = [*lines[: loop.lineno - 1], written, *lines[loop.end_lineno or loop.lineno :]]
    return _with_imports("".join(made), imports)


def _place(program: ast.Module, old: ast.stmt) -> Place | None:
    return find_loop(program, old) if isinstance(old, ast.For) else find_place(program, _value(old))


def _statements(text: str) -> list[ast.stmt]:
    body = f"\n    {NO_BODY}" if HEAD.search(text.strip()) else ""
    try:
        return ast.parse(text.strip() + body).body
    except SyntaxError as error:
        raise CannotTypeError(f"`{text.strip()}` is no whole statement") from error


def _value(statement: ast.stmt) -> ast.expr:
    if isinstance(statement, ast.For):
        return statement.iter
    if isinstance(statement, ast.Assign | ast.Expr | ast.Return) and statement.value is not None:
        return statement.value
    raise CannotTypeError(f"`{ast.unparse(statement).splitlines()[0]}` is no simple statement")


def _known_names(program: ast.Module) -> set[str]:
    found = set(dir(builtins))
    for node in ast.walk(program):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return found


class _Filled(ast.NodeTransformer):
    """Puts in what names stand for."""

    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.names:
            return copy.deepcopy(self.names[node.id])
        return node


class _InText(ast.NodeTransformer):
    """Puts in what placeholders at the beginning of a text stand for."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        self.folders = folders

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if not isinstance(node.value, str):
            return node
        return ast.Constant(IN_TEXT.sub(lambda found: self.folders.get(found[0], found[0]), node.value))


@dataclass(frozen=True)
class _Written:
    """What comes: lines before the statement, the expression in it, and lines after it."""

    before: list[str]
    expression: str
    after: list[str]


def _counterpart(old: ast.stmt, new: list[ast.stmt]) -> int:
    """Find the statement that stands for the one that goes: of the same variable or kind, else the first."""
    if isinstance(old, ast.For):
        return next((number for number, one in enumerate(new) if isinstance(one, ast.For)), 0)
    if isinstance(old, ast.Expr):
        return next((number for number, one in enumerate(new) if isinstance(one, ast.Expr)), 0)
    same = (number for number, one in enumerate(new) if _targets(one) and _targets(one) == _targets(old))
    return next(same, 0)


def _imports(new: list[ast.stmt], known: set[str], line: str) -> str:
    """Return what has to be imported, as the line's comment says.

    Raises:
        CannotTypeError: A name is nowhere.
    """
    defined = {name for statement in new for name in [*_targets(statement), *_bound(statement)]}
    used = [node for one in new for node in ast.walk(one) if isinstance(node, ast.Name)]
    missing = {node.id for node in used if isinstance(node.ctx, ast.Load)} - known - defined
    module = OF_MODULE.search(line.strip())
    modules = missing & set(OF_PYTHON)
    named = next((node.id for node in used if node.id in missing - modules), "") if module else ""
    if missing - modules - {named}:
        raise CannotTypeError(f"the program has no {', '.join(sorted(missing - modules - {named}))}")
    lines = [f"import {OF_PYTHON[name]}" for name in sorted(modules)]
    return "\n".join([*lines, *([f"from {module[1]} import {named}"] if module and named else [])])


def _written(new: list[ast.stmt], at: int, place: Place, names: Mapping[str, ast.expr]) -> _Written:
    """Fill the printed lines in; those around the changed one speak of the variable that it is put into."""
    target, printed = _target(place.statement), _target(new[at])
    if len(new) > 1 and printed and not target:
        raise CannotTypeError("the lines that follow need a variable, and the program has none there")
    around = dict(names) | ({printed: ast.Name(target, ast.Load())} if printed else {})
    lines = []
    for statement in new:
        made = _Filled(around).visit(copy.deepcopy(statement))
        for node in ast.walk(made):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == printed:
                node.id = target
        lines.append(ast.unparse(made))
    comes = _Filled(names).visit(copy.deepcopy(_value(new[at])))
    if isinstance(comes, ast.Call) and isinstance(place.expression, ast.Call):
        comes.keywords += further_keywords(comes, place.expression)
    return _Written(lines[:at], ast.unparse(comes), lines[at + 1 :])


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds beside its targets: imports, functions, arguments, loops."""
    found = _known_names(ast.Module([statement], [])) - set(dir(builtins))
    return found - set(_targets(statement))


def _targets(statement: ast.stmt) -> list[str]:
    if not isinstance(statement, ast.Assign):
        return []
    return [target.id for target in statement.targets if isinstance(target, ast.Name)]


def _target(statement: ast.stmt) -> str:
    return next(iter(_targets(statement)), "")


def _replaced(source: str, place: Place, written: _Written, imports: str, before: ast.stmt) -> str:
    """Return the program with what comes in its place, and what comes before it in front of a statement."""
    text, node, statement = source.encode(), place.expression, place.statement
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    begin = starts[node.lineno - 1] + node.col_offset
    end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
    first, last = starts[before.lineno - 1], starts[statement.end_lineno or statement.lineno]
    parts = [
        text[:first],
        _indented(written.before, before.col_offset),
        text[first:begin],
        written.expression.encode(),
        text[end:last],
        _indented(written.after, statement.col_offset),
        text[last:],
    ]
    return _with_imports(b"".join(parts).decode(), imports)


def _with_imports(made: str, imports: str) -> str:
    """Put imports in front of the program's own."""
    if imports:
        at = made.splitlines(keepends=True)
        at.insert(ast.parse(made).body[1].lineno - 1, f"{imports}\n")
        made = "".join(at)
    ast.parse(made)
    return made


def _indented(statements: list[str], columns: int) -> bytes:
    lines = [line for one in statements for line in one.splitlines()]
    return "".join(f"{' ' * columns}{line}\n" for line in lines).encode()
