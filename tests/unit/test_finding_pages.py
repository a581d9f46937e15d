"""Each finding has a page: short, in short sentences, in the menu, and it quotes what the finding says."""

import re

import pytest

from tests.unit.sentences.templates import HOLE, PACKAGE, is_said, texts_of
from tfdarshan.findings.all_findings import CAUSES, FIX_NAMES, NAMES
from tools.fill_docs import DOCS, finding_pages
from tools.finding_pages import finding_page

MOST_WORDS, MOST_WORDS_OF_A_SENTENCE = 250, 25
# docs/reference/findings.md and docs/reference/staging.md, together with their tables.
MOST_WORDS_OF_BOTH = 6000
# Fewer letters of a template are in a quotation by chance.
LEAST_LITERAL = 8


def names(causes):
    return [cause.NAME for cause in causes]


def sentences_of(about):
    text = f"{about.cause} {about.estimate} Ignore this if {about.ignore}."
    return re.split(r"(?<=[.:;]) ", text)


@pytest.mark.parametrize("cause", CAUSES, ids=names(CAUSES))
def test_a_page_is_short_and_so_are_its_sentences(cause):
    long = [one for one in sentences_of(cause.ABOUT) if len(one.split()) > MOST_WORDS_OF_A_SENTENCE]

    assert len(finding_page(cause.NAME, cause.ABOUT).split()) <= MOST_WORDS
    assert not long


@pytest.mark.parametrize("cause", CAUSES, ids=names(CAUSES))
def test_what_a_page_quotes_is_what_the_finding_says(cause):
    # GIVEN what the module can say, and what its page says that a reader sees
    said = [
        text
        for text in texts_of(PACKAGE / "findings" / f"{cause.NAME}.py")
        if max(map(len, text.split(HOLE))) >= LEAST_LITERAL
    ]
    said.remove(cause.ABOUT.says)

    # THEN
    assert any(is_said(text, [cause.ABOUT.says]) for text in said)


def test_every_fix_of_a_problem_has_a_name_among_others():
    # GIVEN what only says that something is not known, or is not to be fixed
    without = {"low_coverage", "truncated_trace", "full_storage", "input_bound", "page_cache"}

    # THEN all others have one, of their own
    assert set(FIX_NAMES) == set(NAMES) - without
    assert len(set(FIX_NAMES.values())) == len(FIX_NAMES)


def test_every_page_is_there_and_in_the_menu_and_no_other_one():
    menu = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")

    assert set(DOCS.glob("reference/findings/*.md")) == set(finding_pages())
    for page, text in finding_pages().items():
        assert page.read_text(encoding="utf-8") == text
    assert set(re.findall(r"findings/\w+\.md", menu)) == {f"findings/{page.name}" for page in finding_pages()}


def test_the_pages_of_findings_and_staging_are_short():
    pages = [DOCS / "reference" / page for page in ("findings.md", "staging.md")]
    words = [len(page.read_text(encoding="utf-8").split()) for page in pages]

    assert sum(words) <= MOST_WORDS_OF_BOTH
