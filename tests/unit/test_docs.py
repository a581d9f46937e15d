"""The docs: short, linked, in the menu, with commands that parse and code that compiles."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import tfdarshan
from tfdarshan.commands import COMMANDS, make_parser
from tools.api_page import homes
from tools.command_pages import command_line
from tools.docs_hooks import MARK, PARTS, on_page_markdown
from tools.printed_samples import SAMPLE, sample

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = sorted(DOCS.rglob("*.md"))
HOW_TO = sorted((DOCS / "how-to").glob("*.md"))
# Of all pages, of one that does a task, and of README.md.
MOST_WORDS, MOST_WORDS_OF_A_TASK, MOST_WORDS_OF_README = 45_000, 400, 700
MOST_WORDS_OF_A_SENTENCE = 25
FIRST_SCREEN = 45
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
# Modules that users import by name.
MODULES = ("ahead", "checkpoint", "keras", "lmdb", "testing")
SENTENCE_END = re.compile(r"(?<=[.:;?!])\**\s|\n\n|\n(?= *(?:-|\d+\.) )")
EXTRAS = re.compile(r"pip install ['\"]?([\w.]+)\[([\w,-]+)\]")
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def words(text: str) -> int:
    """Return the number of words: what has a letter or a digit."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def prose(page: Path) -> str:
    """Return a page's text without code, tables and comments."""
    text = re.sub(r"<!--.*?-->", "", BLOCK.sub("", text_of(page)), flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("|", "#", "!"))]
    return "\n".join(lines)


def anchors(page: Path) -> set[str]:
    """Return what MkDocs calls a page's headings."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", text_of(page)), re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading.replace("`", "")) for heading in headings)
    return {re.sub(r"[\s-]+", "-", heading.strip().lower()) for heading in plain}


def blocks(kind: str) -> Iterator[tuple[str, str]]:
    """Yield each block of code of a kind, with the page that it is on."""
    for page in (README, *PAGES):
        for indent, named, code in BLOCK.findall(text_of(page)):
            if named == kind:
                yield name_of(page), re.sub(rf"^{indent}", "", code, flags=re.MULTILINE)


def commands() -> Iterator[tuple[str, str]]:
    """Yield each command of tfdarshan that a page shows, with the page that it is on."""
    for page, code in blocks(""):
        for line in code.replace("\\\n", " ").splitlines():
            command = re.sub(r"^(?:[A-Z_]+=\S+ )+", "", line.strip())
            if command.startswith("tfdarshan "):
                yield page, command


def test_all_pages_together_are_short():
    assert sum(words(text_of(page)) for page in PAGES) <= MOST_WORDS
    assert words(text_of(README)) <= MOST_WORDS_OF_README


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_task_fits_on_a_page_in_short_sentences(page):
    sentences = [one for one in SENTENCE_END.split(prose(page)) if one]
    long = [" ".join(one.split()) for one in sentences if words(one) > MOST_WORDS_OF_A_SENTENCE]

    assert words(text_of(page)) <= MOST_WORDS_OF_A_TASK
    assert not long


def test_the_readme_has_a_picture_on_its_first_screen():
    assert "](docs/images/" in "\n".join(text_of(README).splitlines()[:FIRST_SCREEN])


@pytest.mark.parametrize("page", [README, *PAGES], ids=name_of)
def test_every_link_leads_somewhere(page):
    missing = []
    for _, target, anchor in LINK.findall(BLOCK.sub("", text_of(page))):
        if ":" in target:
            continue
        led = (page.parent / target).resolve() if target else page
        if not led.exists() or (anchor and led.suffix == ".md" and anchor not in anchors(led)):
            missing.append(f"{target}#{anchor}")

    assert not missing


def test_every_page_is_in_the_menu_once():
    menu = re.findall(r": ([\w/-]+\.md)$", text_of(ROOT / "mkdocs.yml"), re.MULTILINE)

    assert sorted(menu) == sorted(str(page.relative_to(DOCS)) for page in PAGES)


def test_a_task_is_named_alike_in_its_title_and_in_the_menu():
    menu = dict(re.findall(r"- (.*): (how-to/[\w-]+\.md)$", text_of(ROOT / "mkdocs.yml"), re.MULTILINE))
    titles = {page: text_of(page).partition("\n")[0].removeprefix("# ") for page in HOW_TO}

    for title, path in menu.items():
        assert path == "how-to/index.md" or titles[DOCS / path] == title


def test_every_command_is_one():
    seen = set()
    for page, command in commands():
        arguments = shlex.split(command, comments=True)[1:]
        if arguments[0] in COMMANDS:
            parsed = make_parser(arguments[0]).parse_args(arguments)
            assert parsed.command, f"{page}: {command}"
        else:
            assert arguments[0].startswith("--print-completion"), f"{page}: {command}"
        seen.add(arguments[0])

    assert len(seen) > 15


def test_install_lines_are_of_the_clone_and_name_its_extras():
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    named = [found for page in (README, *PAGES) for found in EXTRAS.findall(text_of(page))]

    assert len(named) > 5
    for package, extras in named:
        assert package == "."
        assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_python_code_compiles_and_imports_what_is_there():
    found = 0
    for page, code in blocks("python"):
        tree = ast.parse(code, page)
        for name in _public_names(tree):
            assert name in homes(), f"{page}: {name}"
            found += 1

    assert found > 10


def _public_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the package itself that code uses, such as tfdarshan.profile."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or ast.unparse(node.value) != "tfdarshan":
            continue
        if node.attr not in MODULES:
            yield f"tfdarshan.{node.attr}"


def test_the_api_page_lists_all_public_names():
    page = text_of(DOCS / "reference" / "python-api.md")

    assert all(f"| `{name}` |" in page for name in homes())
    assert {f"tfdarshan.{name}" for name in tfdarshan.__all__ if name != "__version__"} <= set(homes())


def test_the_command_line_has_a_section_for_each_verb():
    sections = command_line()

    for verb in COMMANDS:
        assert f"\n## tfdarshan {verb}\n" in f"\n{sections}"
    assert "| `--fail-if CONDITION` | exit with 1" in sections


def test_what_is_filled_in_at_build_is_known_and_used():
    marked = [name for page in PAGES for name in MARK.findall(text_of(page))]

    assert sorted(marked) == sorted(PARTS)
    for name in marked:
        assert "| --- |" in on_page_markdown(f"<!-- at build: {name} -->")


def test_samples_come_from_golden_files():
    marked = [match for page in (README, *PAGES) for match in SAMPLE.finditer(text_of(page))]

    assert len(marked) > 3
    for match in marked:
        shown = sample(match["command"], int(match["count"]))
        assert [line.strip() for line in shown.splitlines()] == [
            line.strip() for line in match[0].splitlines()[2:-2]
        ]
    with pytest.raises(LookupError, match="no file of"):
        sample("summary of-nothing", 1)


def test_the_glossary_is_in_order():
    terms = re.findall(r"^\| ([\w -]+?)(?:,.*)? \| ", text_of(DOCS / "glossary.md"), re.MULTILINE)[1:]
    named = [term for term in terms if set(term) != {"-"}]

    assert named == sorted(named, key=str.lower)
    assert len(named) > 40
