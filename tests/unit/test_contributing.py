"""CONTRIBUTING.md and the decisions name only what exists: paths, tests, C names, targets, commits."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "CONTRIBUTING.md"
DECISIONS = ROOT / "docs" / "explanation" / "decisions"
PAGES = [GUIDE, *sorted(DECISIONS.glob("*.md"))]
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")
OF_FILES = (".c", ".h", ".js", ".md", ".py", ".toml", ".yml")
COMMIT = re.compile(r'`git show ([0-9a-f]+)` "([^"]+)"')
MOST_LINES = 50


def text_of(page):
    """Return the page in one line, without its blocks of code."""
    return " ".join(re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL).split())


def code_of(page):
    return re.findall(r"`([^`]+)`", text_of(page))


def names_of(page):
    """Return each path that a page names, and the test in it or "". "::test" is of the file before."""
    named, before = [], ""
    for code in code_of(page):
        path, _, test = code.partition("::")
        path = path or before
        if PATH.fullmatch(path) and ("/" in path or path.endswith(OF_FILES)):
            named.append((path, test))
            before = path
    return named


def c_sources():
    return "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "csrc").rglob("*.[ch]"))


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def history():
    """Skip where the commits are not at hand."""
    try:
        top = git("rev-parse", "--show-toplevel")
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("this is not a clone, or there is no git")
    if Path(top) != ROOT:
        pytest.skip("this is not a clone, but lies within one")
    if git("rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("this clone is shallow: it has not all commits")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_path_that_is_named_exists(page):
    named = names_of(page)
    missing = [path for path, _ in named if not (ROOT / path).exists()]

    assert named
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_test_that_is_named_exists(page):
    named = [(ROOT / path, test) for path, test in names_of(page) if test]
    missing = [test for path, test in named if f"def {test}(" not in path.read_text(encoding="utf-8")]

    assert not missing


def test_every_c_name_exists():
    sources = c_sources()
    named = {code for page in PAGES for code in code_of(page) if re.fullmatch(r"(tfd|TFD)_\w+", code)}
    unknown = {name for name in named if not re.search(rf"\b{name}(\b|(?<=_))", sources)}

    assert len(named) > 5
    assert not unknown


def test_every_target_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    made = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    named = {code.split()[1] for page in PAGES for code in code_of(page) if code.startswith("make ")}

    assert len(named) > 8
    assert named <= made


def test_every_link_leads_to_a_page():
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#]+)", text_of(page))]

    assert len(links) > len(PAGES)
    assert not [(page.name, link) for page, link in links if not (page.parent / link).exists()]


def test_every_commit_is_in_the_history_under_its_subject(history):
    named = [commit for page in PAGES for commit in COMMIT.findall(text_of(page))]

    for commit, subject in named:
        assert git("log", "-1", "--format=%s", commit) == subject
        git("merge-base", "--is-ancestor", commit, "HEAD")
    assert len(named) == len(re.findall("`git show", " ".join(map(text_of, PAGES))))


def test_every_recipe_has_five_steps_and_a_commit():
    recipes = re.split(r"^## Add a ", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]

    assert [recipe.split("\n")[0] for recipe in recipes] == [
        "hook", "framework", "counter", "finding", "view", "verb", "workload",
    ]  # fmt: skip
    for recipe in recipes:
        assert re.findall(r"^(\d)\. ", recipe, re.MULTILINE) == list("12345")
        assert COMMIT.search(" ".join(recipe.split()))


def test_every_decision_is_short_and_can_be_found():
    index = (DECISIONS / "index.md").read_text(encoding="utf-8")
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")

    for page in DECISIONS.glob("*.md"):
        assert len(page.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, page.name
        assert f"decisions/{page.name}" in menu
        assert page.name == "index.md" or f"]({page.name})" in index
