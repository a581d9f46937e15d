"""The sentences that modules can say, read from their source: literals, and f-strings with holes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import tfdarshan

PACKAGE = Path(tfdarshan.__file__).parent
# Rooms that are not in the package's folder, and that folder itself without its rooms.
TAB, ROOT = "tensorboard_plugin", ""
REPOSITORY = Path(__file__).parents[3]
# Fewer words are a label, or part of a sentence.
LEAST_WORDS = 3
HOLE = "{}"
# What a user did wrong is no claim about data: other tests are of these.
ERRORS = (ast.Raise, ast.Assert)
# What explains an option, a column, a finding or a threshold, a pattern, or a C type is none, either; nor is
# an error that is raised elsewhere.
NO_CLAIMS = re.compile(
    r"add_argument|add_argument_group|add_parser|addinivalue_line|_add|_action|_option|Column|compile|search|match|"
    r"About|Background|Progress|Setting|new|cast|\w*Error"
)
WORD = re.compile(r"[A-Za-z][a-z']+")
FIELD = re.compile(r"\{\w*\}")
# What is no claim: how Plotly words a point (`%{y}`), markup, style, a type's name, a program.
NO_SENTENCE = re.compile(
    r"%\{|<[!/a-z]|\d+px\b|sans-serif|\[\w+ \| \w+\]|^\s*(?:import|export async|struct) "
)


def templates_of(folder: str) -> dict[str, str]:
    """Return the templates of a room of the package, each with the module that has it."""
    found: dict[str, str] = {}
    for path in modules_of(folder):
        for text in texts_of(path, skipped=ERRORS):
            # What `format` fills is a hole, too.
            text = FIELD.sub(HOLE, text)
            if is_sentence(text):
                found.setdefault(text, path.stem)
    return found


def modules_of(room: str) -> list[Path]:
    """List a room's modules."""
    if room == ROOT:
        return sorted(PACKAGE.glob("*.py"))
    return sorted((REPOSITORY / TAB if room == TAB else PACKAGE / room).rglob("*.py"))


def _claims_nothing(node: ast.AST) -> bool:
    """Return whether a node is a call whose texts are no claims."""
    if not isinstance(node, ast.Call):
        return False
    made = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
    return NO_CLAIMS.fullmatch(made) is not None


def is_sentence(text: str) -> bool:
    """Return whether a text can claim something: it has words, and is written for people."""
    words = len(WORD.findall(text))
    return words >= LEAST_WORDS and " " in text.strip() and NO_SENTENCE.search(text) is None


def pattern_of(template: str) -> re.Pattern[str]:
    """Return what a template can say."""
    parts = (re.escape(part) for part in template.split(HOLE))
    return re.compile(".*?".join(parts), re.DOTALL)


def is_said(template: str, said: Iterable[str]) -> bool:
    """Return whether one of some texts has what a template says; blanks and line ends are alike."""
    template = " ".join(template.split())
    longest, pattern = max(template.split(HOLE), key=len), pattern_of(template)
    return any(longest in text and pattern.search(text) is not None for text in said)


def texts_of(path: Path, *, skipped: tuple[type[ast.AST], ...] = ()) -> Iterator[str]:
    """Yield the texts of a module but for docstrings; those of an f-string with holes.

    Args:
        path: The module.
        skipped: What they are not looked for in.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    left_out: set[int] = set()
    named: set[str] = set()
    for node in nodes:
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            left_out.add(id(body[0].value))
        if isinstance(node, skipped) or (skipped and _claims_nothing(node)):
            left_out.update(id(inner) for inner in ast.walk(node))
            named.update(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
        if isinstance(node, ast.JoinedStr):
            left_out.update(id(value) for value in node.values)
        if isinstance(node, ast.Attribute) and node.attr == "split":  # a list of words
            left_out.add(id(node.value))
    for node in tree.body:
        # A constant that these use is theirs.
        if isinstance(node, ast.Assign) and any(
            getattr(target, "id", "") in named for target in node.targets
        ):
            left_out.update(id(inner) for inner in ast.walk(node))
    for node in nodes:
        if id(node) in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
