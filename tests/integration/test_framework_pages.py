"""The pages of frameworks: their commands run as printed, and lead from the job to the lines they show."""

from __future__ import annotations

import importlib.util
import itertools
import re
from pathlib import Path

import pytest

import tfdarshan
from tools.run_page import Shell, run_page

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
# What each page's job imports, and what its steps are.
PAGES = {
    "profile-a-pytorch-job": (("torch",), "PyTorch's optimizer"),
    "profile-a-jax-job": (("grain", "jax"), "Grain's batches"),
    "profile-hugging-face-datasets": (("PIL", "datasets", "torch"), "PyTorch's optimizer"),
}
STEPS = 60
FIX = re.compile(r"^ +([-+] .*)$", re.MULTILINE)


def text_of(name):
    return (HOW_TO / f"{name}.md").read_text(encoding="utf-8")


def lines_to_change(text):
    """Return the lines of fixes; how many readers they name depends on the processors."""
    return [re.sub(r"(?<=num_workers=|num_threads=)\d+", "N", line) for line in FIX.findall(text)]


@pytest.fixture(params=PAGES)
def page(request):
    """Give the name of a page whose job can run here."""
    for package in PAGES[request.param][0]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    return request.param


@pytest.mark.torch
def test_a_page_leads_to_the_lines_that_it_shows(page, tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    shell = Shell(tmp_path / "job")
    shell.folder.mkdir()

    # WHEN
    run_page(text_of(page), shell)

    # THEN
    now, better = lines_to_change(text_of(page))
    found = lines_to_change(shell.printed[-1])
    assert (now, better) in itertools.pairwise(found)
    steps = tfdarshan.open_session(shell.folder / "logs").steps
    assert (len(steps), set(steps["source"])) == (STEPS, {PAGES[page][1]})
    assert set(steps["epoch"]) == {1, 2}


def test_each_page_begins_with_the_installation_of_what_its_job_imports():
    for name, (packages, _) in PAGES.items():
        installed = re.search(r"^pip install (.*) '\.\[view\]'$", text_of(name), re.MULTILINE)[1].split()
        assert {one.replace("pillow", "PIL") for one in installed} == set(packages)
