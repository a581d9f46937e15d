"""Breaks random lines of tfdarshan/ and csrc/, one at a time, and says which of these breaks the tests find.

`python -m tools.random_breaks --seed 1 --count 30 -- make test TESTS=tests/unit`

Works in a clone of the committed HEAD, which the command is run in: once as it is, where it has to pass, and
once for each break. A break changes one token outside of comments, docstrings and strings, as `<` into `<=`.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDERS = {"tfdarshan": ".py", "csrc": ".c"}
# What a token becomes.
OTHER = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
    "&&": "||", "||": "&&", "and": "or", "or": "and", "True": "False", "False": "True", "true": "false",
    "false": "true", "min": "max", "max": "min", "+=": "-=", "-=": "+=",
}  # fmt: skip
C_TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*'
    r"|(?P<token>[A-Za-z_]\w*|\d[\w.]*|->|\+\+|--|<<=?|>>=?|[-+*&|<>=!]=|&&|\|\||[-+*<>])",
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class Break:
    """One changed token of a file: where it begins, in characters, and what it becomes."""

    path: Path
    at: int
    token: str
    other: str

    def applied(self, text: str) -> str:
        """Return the file's text with it."""
        return text[: self.at] + self.other + text[self.at + len(self.token) :]

    def line(self, text: str) -> str:
        """Word it: file, line, the line's text and the change."""
        number = text.count("\n", 0, self.at) + 1
        whole = text.splitlines()[number - 1].strip()
        return f"{self.path}:{number}: {whole}  [{self.token} -> {self.other}]"


def other(token: str) -> str | None:
    """Return what a token becomes; None if it stays."""
    return str(int(token) + 1) if NUMBER.fullmatch(token) else OTHER.get(token)


def python_tokens(text: str) -> Iterator[tuple[int, str]]:
    """Yield the tokens that are no names, comments or strings, and where they begin."""
    begins = [0]
    for line in text.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.OP, tokenize.NUMBER, tokenize.NAME):
            yield begins[token.start[0] - 1] + token.start[1], token.string


def c_tokens(text: str) -> Iterator[tuple[int, str]]:
    """Yield the same of C, without the preprocessor's lines."""
    for found in C_TOKEN.finditer(text):
        if found["token"]:
            yield found.start(), found["token"]


def breaks(root: Path) -> list[Break]:
    """Return all that can be made, in a fixed order."""
    found = []
    for folder, suffix in FOLDERS.items():
        tokens = python_tokens if suffix == ".py" else c_tokens
        for path in sorted((root / folder).rglob(f"*{suffix}")):
            text = path.read_text(encoding="utf-8")
            named = path.relative_to(root)
            found += [Break(named, at, one, to) for at, one in tokens(text) if (to := other(one)) is not None]
    return found


def chosen(root: Path, seed: int, count: int) -> list[Break]:
    """Return as many, half of them of Python, half of C, by chance."""
    dice, found = random.Random(seed), breaks(root)
    of_c = [one for one in found if one.path.suffix == ".c"]
    of_python = [one for one in found if one.path.suffix == ".py"]
    return dice.sample(of_python, count - count // 2) + dice.sample(of_c, count // 2)


def passes(command: list[str], root: Path, limit_s: float) -> bool:
    """Run the tests; what does not end in time does not pass."""
    try:
        return subprocess.run(command, cwd=root, timeout=limit_s, capture_output=True).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main() -> int:
    """Print each break, and how many were found; 1 if the command fails without any."""
    parser = argparse.ArgumentParser(prog="python -m tools.random_breaks", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="what breaks are drawn by")
    parser.add_argument("--count", type=int, default=30, help="how many (default: 30)")
    parser.add_argument("--limit", type=float, default=3600, metavar="SECONDS", help="for one run")
    parser.add_argument("command", nargs="+", help="what runs the tests")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tfdarshan-breaks-") as scratch:
        root = Path(scratch) / "clone"
        subprocess.run(["git", "clone", "--quiet", ".", root], check=True)
        if not passes(arguments.command, root, arguments.limit):
            print("random_breaks: the command fails without any break; nothing was tried", file=sys.stderr)
            return 1
        found = 0
        for one in chosen(root, arguments.seed, arguments.count):
            path, text = root / one.path, (root / one.path).read_text(encoding="utf-8")
            path.write_text(one.applied(text), encoding="utf-8")
            red = not passes(arguments.command, root, arguments.limit)
            path.write_text(text, encoding="utf-8")
            found += red
            print(f"{'found' if red else 'not found'}: {one.line(text)}", flush=True)
        print(f"{found} of {arguments.count} breaks of seed {arguments.seed} were found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
