"""A job that has not loaded TensorFlow is told nothing of it, whatever is found in the job."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.findings.made_up_loaders import LOOK
from tests.unit.sentences.finding_cases import CASES
from tests.unit.sentences.rows import texts_in
from tests.unit.sentences.templates import PACKAGE
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import Session, open_session

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
TENSORFLOWS = re.compile(r"\btf\.|tensorflow|tfrecord|tf_data|dataset\.(map|cache|prefetch|interleave)", re.I)
# What is noted of a job of each framework: the packages that it has loaded, and its loader.
JOBS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "pytorch": ("torch", LOOK),
    "pytorch, iterable": ("torch", LOOK | {"iterable": True}),
    "pytorch, no workers": ("torch", LOOK | {"workers": 0, "prefetch_factor": 0}),
    "pytorch, no loader": ("torch", {}),
    "grain": ("jax", {"framework": "grain", "workers": 2, "training": True}),
    "plain": ("numpy", {}),
}


def as_job_of(session: Session, package: str, loader: Mapping[str, Any]) -> Session:
    """Return a session as if its job had loaded a package, and TensorFlow not."""
    for path in session.path.rglob("*.meta.json"):
        content = json.loads(path.read_text())
        content["versions"] = {"python": "3.11.2", package: "2.0"}
        content["pipelines"] = {"found": [], "left_out": 0}
        if loader:
            found = content.get("loaders", {}).get("found", [{}])
            content["loaders"] = {"found": [{**one, **loader} for one in found]}
        path.write_text(json.dumps(content))
    return open_session(session.path)


def cases_of_jobs() -> list[Any]:
    """Pair each case with all jobs; with all but one of them in the long tests."""
    every = [(place % len(JOBS), case) for place, case in enumerate(CASES)]
    return [
        pytest.param(case, job, id=f"{case.name}-{job}", marks=() if turn == now else pytest.mark.long)
        for turn, case in every
        for now, job in enumerate(JOBS)
    ]


@pytest.mark.parametrize(("case", "job"), cases_of_jobs())
def test_no_finding_speaks_of_tensorflow(case, job, tmp_path: Path):
    # WHEN
    found = diagnose(as_job_of(case.true(tmp_path / "logs"), *JOBS[job]))

    # THEN
    assert sorted(text for text in texts_in(found) if TENSORFLOWS.search(text)) == []


def test_such_words_are_known():
    said = (
        "dataset = dataset.cache()",
        "tf.data has 4 threads",
        "TFRecord shards",
        "for TensorFlow",
        "tf_data",
    )
    other = ("DataLoader(dataset, num_workers=2)", "put them into tar files", "half of it", "tfdarshan.ahead")

    assert [bool(TENSORFLOWS.search(text)) for text in said] == [True] * len(said)
    assert not [text for text in other if TENSORFLOWS.search(text)]


def lines_of_tensorflow(text: str) -> list[str]:
    """Return what a module has of lines in TensorFlow's words, but for docstrings and a finding's page."""
    tree = ast.parse(text)
    tree.body = [one for one in tree.body if not ast.unparse(one).startswith("ABOUT = ")]
    docstrings = {
        ast.get_docstring(one, clean=False) for one in ast.walk(tree) if isinstance(one, DOCUMENTED)
    }
    texts = {str(one.value) for one in ast.walk(tree) if isinstance(one, ast.Constant)} - docstrings
    return sorted(one for one in texts if re.search(r"\btf\.[a-z]", one))


def test_lines_of_tensorflow_stand_in_its_room_alone():
    modules = sorted((PACKAGE / "findings").glob("*.py"))
    assert len(modules) > 50

    assert {
        path.stem: found for path in modules if (found := lines_of_tensorflow(path.read_text("utf-8")))
    } == {}


def test_a_line_of_tensorflow_is_found():
    module = """
'''Of tf.data.'''
ABOUT = About(fixes={"tf.data": "prefetch"})
def fix(pipeline):
    '''Return a line of tf.data.'''
    return f"dataset = tf.data.{pipeline}"
"""
    assert lines_of_tensorflow(module) == ["dataset = tf.data."]
