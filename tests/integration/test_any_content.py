"""Any JSON tree and any column in what Python reads: a TfdarshanError, or none. `make fuzz` tries many."""

from __future__ import annotations

import json
import os
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.any_content import TREES, changed_json, changed_lines, changed_table
from tests.integration.read_targets import MOMENT, TARGETS
from tfdarshan.errors import NOT_AS_WRITTEN, SessionDataError
from tfdarshan.findings.kept_verdicts import KeptVerdict, KeptVerdicts
from tfdarshan.fleet.catalogue_folder import CatalogueFolder
from tfdarshan.fleet.job_columns import READ
from tfdarshan.fleet.job_table import job_table
from tfdarshan.native.versions import VERSION
from tfdarshan.recording.asked_clock import KEPT, kept
from tfdarshan.recording.clock_exchange import look_up
from tfdarshan.recording.job_identity import job_identity
from tfdarshan.recording.rank_directory import _began_ns
from tfdarshan.sessions.catalogue import COMPLETE, ListedSession

LINES = ("journal", "ledger", "gathered metadata")
TABLES = ("files", "events", "overview")
# Is text of its own format, for which bytes are changed.
TEXTS = ("state",)
TREE_FILES = [name for name in TARGETS if name not in (*LINES, *TABLES, *TEXTS)]
NESTED = b"[" * 200_000
USUAL_EXAMPLES = 100
MOUNT = {"mount_point": "/m", "fs_type": "lustre", "files": 1, "bytes_read": 5, "read_s": 0.5}
ROWS = [
    {
        "input": name,
        "catalogued_ns": 0,
        "state": READ,
        "start": MOMENT,
        "duration_s": 5.0,
        "mounts": [MOUNT],
    }
    for name in ("a", "b")
]


def many(examples):
    """Say how many examples are tried: so many, and with a profile of more the more."""
    return settings(
        max_examples=max(1, examples * settings().max_examples // USUAL_EXAMPLES),
        suppress_health_check=list(HealthCheck),
    )


def try_all(target, contents, examples):
    """Have a target read what a strategy makes of its file."""
    right = target.path.read_bytes()
    target.read()

    @many(examples)
    @given(contents(right))
    def read_one(content):
        target.try_content(content)

    read_one()


@pytest.mark.parametrize("name", TREE_FILES)
def test_any_tree_in_a_file_of_json(name, tmp_path):
    make, count = TARGETS[name]
    try_all(make(tmp_path), changed_json, count // 4)


@pytest.mark.parametrize("name", LINES)
def test_any_tree_in_a_line_of_json(name, tmp_path):
    make, count = TARGETS[name]
    try_all(make(tmp_path), changed_lines, count // 4)


@pytest.mark.parametrize("name", TABLES)
def test_any_column_in_a_table_of_a_session(name, tmp_path):
    make, count = TARGETS[name]
    try_all(make(tmp_path), changed_table, count)


def refusal(folder):
    """Return what reading the jobs of a catalogue raises, None if nothing."""
    try:
        found = CatalogueFolder(folder)
        if not found.problems:
            job_table(found.table)
    except SessionDataError as error:
        return str(error)
    return None


def test_any_column_in_a_part_of_the_catalogue(tmp_path):
    # GIVEN a catalogue of two jobs
    CatalogueFolder(tmp_path).add(ROWS)
    (part,) = tmp_path.glob("part-*.parquet")
    right = part.read_bytes()

    @many(30)
    @given(changed_table(right))
    def read_one(content):
        # WHEN a part of it is wrong
        part.write_bytes(content)

        # THEN it is said, or its rows are those of jobs
        said = refusal(tmp_path)
        assert said is None or said.endswith("with --catalogue.")

    read_one()


def asks(path):
    with suppress(*NOT_AS_WRITTEN):
        look_up(path)


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ({"reference": "a", "begin_ns": 1, "asked": [[1, 2, 3]]}, lambda path: kept(path.parent, "b", 9)),
        ({"launcher": "torch", "job": "a", "start_realtime_ns": MOMENT}, lambda path: _began_ns(path, 1)),
        (
            {"boot_id": "a", "addresses": ["127.0.0.1"], "port": 1, "token": "0f"},
            asks,
        ),
    ],
    ids=["clock", "first rank", "whom to ask"],
)
def test_any_tree_of_another_rank(content, read, tmp_path):
    path = tmp_path / KEPT

    @many(60)
    @given(changed_json(json.dumps(content).encode()))
    @example(NESTED)
    @example(json.dumps(content).replace("1", "1e400").encode())
    def read_one(content):
        path.write_bytes(content)
        read(path)

    read_one()


CONFIG = {
    "cluster": {"worker": ["h1:1", "h2:1"], "chief": ["h0:1"], "evaluator": ["h3:1"]},
    "task": {"type": "worker", "index": 1},
}


@many(200)
@given(changed_json(json.dumps(CONFIG).encode()) | TREES.map(lambda tree: json.dumps(tree).encode()))
@example(NESTED)
@example(b'{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1e400}}')
def test_any_tree_in_the_environment_of_a_rank(content):
    job_identity({"TF_CONFIG": content.decode()})


def test_any_tree_of_verdicts_that_were_kept(tmp_path, monkeypatch):
    # GIVEN a verdict that was kept
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    session = ListedSession(tmp_path / "a", "", COMPLETE, age=(("a", 1),))
    right = KeptVerdict("slow", "A sentence.", "small_reads", "a title", 1.5, 0.5, 3.0)
    verdicts = KeptVerdicts(tmp_path)
    verdicts.put(session, right)
    verdicts.save()
    (file,) = (tmp_path / "cache").rglob("*.json")

    @many(200)
    @given(changed_json(file.read_bytes()))
    @example(NESTED)
    @example(json.dumps({"version": VERSION, "sessions": {"a": {"age": [["a", 1]]}}}).encode())
    def read_one(content):
        # WHEN the file is wrong
        file.write_bytes(content)
        found = KeptVerdicts(tmp_path).get(session)

        # THEN it gives no verdict, or one of the right types
        if found is not None:
            assert isinstance(found.sentence, str)
            assert found.speedup is None or found.speedup + found.lost_s is not None

    read_one()


@many(200)
@given(st.binary(max_size=200))
def test_any_bytes_name_a_rank_or_none(content):
    job_identity({"TF_CONFIG": os.fsdecode(content.replace(b"\0", b""))})
