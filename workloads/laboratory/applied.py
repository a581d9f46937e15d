"""Applies a cure as it is printed: the line that goes, the lines that come, or a command.

A reader takes `dataset.map(load)` for his own `ds.map(read_image)`, and `batch_size` for his `32`: names of
variables stand for variables, simple values and lambdas, the one in front of a method chain for whatever is
in front of it. He does not guess more: names of functions, methods, arguments and modules have to be those of
his program, a call has to have the arguments that are printed, and what is printed without a line to take
out has no place. FAST, SLOW, DIR and LOGDIR are his to fill in; `# of tfdarshan.checkpoint` tells him what to
import.
"""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Mapping

from .printed_line import Place, find_place

PLACEHOLDERS = ("LOGDIR", "DIR", "FAST", "SLOW")
OF_MODULE = re.compile(r"#\s*of ([\w.]+)\s*$")


class CannotTypeError(Exception):
    """The cure cannot be applied as it is printed; says why."""


def is_command(line: str) -> bool:
    """Says whether a cure's line is one to type into a shell."""
    return line.lstrip().startswith(("tfdarshan ", "python ", "lfs "))


def filled_command(line: str, folders: Mapping[str, str]) -> str:
    """Fills the placeholders of a command in.

    Raises:
        CannotTypeError: It would change nothing about the job.
    """
    if "stage apply" not in line:
        raise CannotTypeError(f"this command changes nothing: {line}")
    return re.sub(rf"\b({'|'.join(PLACEHOLDERS)})\b", lambda found: folders.get(found[0], found[0]), line)


def apply_lines(source: str, line: str, instead_of: str, folders: Mapping[str, str]) -> str:
    """Gives the program with the cure in it.

    Args:
        source: Its text.
        line: What is to be written, one or more statements.
        instead_of: What is to be taken out.
        folders: What the placeholders stand for.

    Raises:
        CannotTypeError: The reader would not know what to write, or where.
    """
    if not instead_of.strip():
        raise CannotTypeError("no line is named that it is written instead of")
    old, new = _statements(instead_of), _statements(line)
    if len(old) != 1 or not new:
        raise CannotTypeError("more than one line is to be taken out")
    pattern = _value(old[0])
    program = ast.parse(source)
    place = find_place(program, pattern)
    if place is None:
        raise CannotTypeError(f"the program has no `{instead_of.strip()}`")
    known = _known_names(program) | set(place.names)
    source_new, imports = _written(new, place, folders, known, line)
    return _replaced(source, place, source_new, imports)


def _statements(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text.strip()).body
    except SyntaxError as error:
        raise CannotTypeError(f"`{text.strip()}` is no whole statement") from error


def _value(statement: ast.stmt) -> ast.expr:
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


def _written(
    new: list[ast.stmt], place: Place, folders: Mapping[str, str], known: set[str], line: str
) -> tuple[list[str], str]:
    """Gives the expression that comes and the statements after it, and what has to be imported for them."""
    given = {
        name: ast.Constant(folders[name]) for name in PLACEHOLDERS if name in folders and name not in known
    }
    target = _target(place.statement)
    after = dict(place.names)
    front = next(iter(_targets(new[0])), "")
    if front and target:
        after[front] = ast.Name(target, ast.Load())
    own = {front} if front else set()
    defined = {name for statement in new[1:] for name in _targets(statement)}
    missing = [
        node.id
        for statement in new
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        if node.id not in known | own | defined | set(given) | _bound(statement)
    ]
    module = OF_MODULE.search(line.strip())
    imports = ""
    if module and missing:
        imports = f"from {module[1]} import {missing[0]}"
        missing = [name for name in missing if name != missing[0]]
    if missing:
        raise CannotTypeError(f"the program has no {', '.join(sorted(set(missing)))}")
    if len(new) > 1 and not target:
        raise CannotTypeError("the lines that follow need a variable, and the program has none there")
    filled = [ast.unparse(_Filled({**place.names, **given}).visit(copy.deepcopy(_value(new[0]))))]
    for statement in new[1:]:
        made = _Filled({**after, **given}).visit(copy.deepcopy(statement))
        for node in ast.walk(made):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == front and target:
                node.id = target
        filled.append(ast.unparse(made))
    return filled, imports


def _bound(statement: ast.stmt) -> set[str]:
    """Gives the names that lambdas and comprehensions in it bind themselves."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.comprehension):
            found |= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
    return found


def _targets(statement: ast.stmt) -> list[str]:
    if not isinstance(statement, ast.Assign):
        return []
    return [target.id for target in statement.targets if isinstance(target, ast.Name)]


def _target(statement: ast.stmt) -> str:
    return next(iter(_targets(statement)), "")


def _replaced(source: str, place: Place, written: list[str], imports: str) -> str:
    lines = source.encode().splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    node, statement = place.expression, place.statement
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    assert statement.end_lineno is not None
    begin = starts[node.lineno - 1] + node.col_offset
    end = starts[node.end_lineno - 1] + node.end_col_offset
    rest_at = starts[statement.end_lineno]
    text = source.encode()
    indent = " " * statement.col_offset
    follow = "".join(f"{indent}{line}\n" for one in written[1:] for line in one.splitlines())
    made = text[:begin] + written[0].encode() + text[end:rest_at] + follow.encode() + text[rest_at:]
    changed = made.decode()
    if imports:
        first = ast.parse(changed).body[1]
        at = changed.splitlines(keepends=True)
        at.insert(first.lineno - 1, f"{imports}\n")
        changed = "".join(at)
    ast.parse(changed)
    return changed
