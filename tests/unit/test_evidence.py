"""docs/project/evidence.md names only tests and workloads that exist, and all workloads and hazards."""

import re
from pathlib import Path

from tests.integration.oracle.workloads import GROUPS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EVIDENCE = DOCS / "project" / "evidence.md"
PAGES = [page.read_text(encoding="utf-8") for page in (EVIDENCE, DOCS / "reference" / "clusters.md")]
NAMED = re.findall(r"`([^`\s]+)`", "".join(PAGES))


def test_every_test_that_is_named_exists():
    missing = []
    for name in NAMED:
        path, _, function = name.partition("::")
        if not path.startswith("tests/"):
            continue
        if not (ROOT / path).exists() or (function and f"def {function}(" not in (ROOT / path).read_text()):
            missing.append(name)
    assert not missing


def test_every_workload_that_is_named_exists():
    workloads = {name for names in GROUPS.values() for name in names}
    rows = EVIDENCE.read_text(encoding="utf-8").split("| workloads |")[1]
    cells = [line.split("|")[2] for line in rows.partition("\n\n")[0].splitlines()[2:]]
    named = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert len(named) > 35
    assert named <= workloads


def test_every_hazard_folder_is_named():
    folders = {path.parent for path in (ROOT / "tests" / "native").glob("*/*") if path.name == "main.c"}
    folders |= {path.parent for path in (ROOT / "tests" / "native").glob("*/test_*.py")}
    text = " ".join(NAMED)
    unnamed = {folder.name for folder in folders if f"tests/native/{folder.name}" not in text}
    assert not unnamed
