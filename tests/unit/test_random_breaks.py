"""Breaks by chance: of what is run, and of nothing else."""

import shutil
from pathlib import Path

from tools.random_breaks import Break, breaks, c_tokens, chosen, other, passes, python_tokens

C_TEXT = "#define A 1\n/* a < b */ int f(int a) // + 1\n{\n    return a->b < 2 ? \"x+y\" : '<';\n}\n"


def test_comments_strings_and_the_preprocessor_are_left_alone():
    assert [token for _, token in c_tokens(C_TEXT) if other(token)] == ["<", "2"]
    python = 'def f(a: int) -> int:\n    """Add 1 + 1."""\n    return a + 1 if a < 2 else f"{a}"  # - 1\n'
    assert [token for _, token in python_tokens(python) if other(token)] == ["+", "1", "<", "2"]


def test_a_break_changes_its_token_alone():
    one = Break(Path("csrc/f.c"), C_TEXT.index("< 2"), "<", "<=")
    assert one.applied(C_TEXT) == C_TEXT.replace("< 2", "<= 2")
    assert one.line(C_TEXT).startswith("csrc/f.c:4: return a->b < 2")


def test_a_seed_draws_the_same_breaks_again(tmp_path):
    for room in ("tfdarshan/terminal", "csrc/spool"):
        shutil.copytree(Path(__file__).parents[2] / room, tmp_path / room)

    drawn = chosen(tmp_path, 1, 30)
    assert drawn == chosen(tmp_path, 1, 30) != chosen(tmp_path, 2, 30)
    assert sum(one.path.suffix == ".c" for one in drawn) == 15
    texts = {one.path: (tmp_path / one.path).read_text(encoding="utf-8") for one in breaks(tmp_path)}
    assert all(texts[one.path].startswith(one.token, one.at) for one in breaks(tmp_path))


def test_what_fails_or_does_not_end_does_not_pass(tmp_path):
    assert passes(["true"], tmp_path, 10)
    assert not passes(["false"], tmp_path, 10)
    assert not passes(["sleep", "10"], tmp_path, 0.1)
