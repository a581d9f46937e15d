"""What a forge, pre-commit and people who cite read: it parses, and names only what the repository has."""

import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
WORKFLOW, HOOKS, CITATION = (
    ROOT / name for name in (".github/workflows/ci.yml", ".pre-commit-config.yaml", "CITATION.cff")
)
FILES = [*(ROOT / ".github").rglob("*.*"), HOOKS, CITATION, ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md"]
NAMED = re.compile(r"[\w./-]+\.(?:cff|md|toml|yml)\b")
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def content(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix != ".md"], ids=lambda path: path.name)
def test_every_file_parses(path):
    assert isinstance(content(path), dict)


def test_every_page_that_is_named_exists():
    named = {name for path in FILES for name in NAMED.findall(path.read_text(encoding="utf-8"))}

    assert len(named) > 3
    assert not [name for name in named if not (ROOT / name).exists()]


def test_the_workflow_makes_targets_of_the_makefile():
    made = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    steps = [step for job in content(WORKFLOW)["jobs"].values() for step in job["steps"]]
    named = {target for step in steps for target in re.findall(r"\bmake ([\w-]+)", step.get("run", ""))}

    assert len(named) > 2
    assert named <= made


def test_the_citation_is_whole_and_of_this_version():
    citation = content(CITATION)

    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert all({"type", "title", "authors"} <= set(reference) for reference in citation["references"])
    assert f'\nversion = "{citation["version"]}"\n' in PROJECT


def test_hooks_run_what_the_lint_extra_installs():
    # GIVEN the programs of the extra, of which `make lint` fills .venv
    (extra,) = re.findall(r"^lint = \[(.*)\]$", PROJECT, re.MULTILINE)
    programs = {f".venv/bin/{name}" for name in re.findall(r'"([\w-]+)[=~]', extra)}

    # THEN a hook is one of them, and has no version of its own
    for repository in content(HOOKS)["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            assert hook["language"] == "system"
            assert hook["entry"].split()[0] in programs
