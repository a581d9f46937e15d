"""Files that once ended a verb with a traceback: tests/fuzz_inputs, named by kind, exception and place.

Each of the tables' is made here, by the change of one byte that it consists of.
"""

import shutil
from pathlib import Path

import pytest

from tests.integration.tried_verbs import VERBS, run_verb
from tests.made_up_session import image_job, write_session
from tests.unit.checkpoint.made_up_tiers import Tiers
from tfdarshan import TfdarshanError, open_session
from tfdarshan.checkpoint.burst_status import burst_status
from tfdarshan.checkpoint.state_file import read_state
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.staging.journal import Journal
from tfdarshan.staging.plan_file import Plan, PlannedFile, read_plan, write_plan

INPUTS = sorted((Path(__file__).parents[1] / "fuzz_inputs").iterdir())
# The name of a column, and what one byte made of it.
TABLES = {
    "files-ArrowInvalid-frames.py-50": (b"POSIX_STRIDE1_STRIDE", b"POSIX_STRIDE2_STRIDE"),
    "files-KeyError-file_totals.py-177": (b"fs_type", b"ds_type"),
    "files-KeyError-process_data.py-71": (b"mount_point", b"mount_poi~t"),
}


def inputs(kind):
    found = [path for path in INPUTS if path.name.startswith(f"{kind}-")]
    assert found
    return pytest.mark.parametrize("path", found, ids=lambda path: path.name)


@pytest.fixture
def logs(tmp_path):
    return write_session(tmp_path / "logs", image_job(3, 2, 2)).path.parents[2]


def refused(capfd, line, **places):
    code, said = run_verb(capfd, line, **places)
    assert code in (1, 2), line
    assert len(said) == 1, line
    assert said[0].startswith("tfdarshan: "), line
    return said[0]


@inputs("meta")
def test_metadata(path, logs, tmp_path, capfd):
    # GIVEN a session with such metadata
    (meta,) = logs.rglob("*.meta.json")
    shutil.copyfile(path, meta)
    (tmp_path / "out").mkdir()

    # WHEN / THEN it cannot be read, by a function or a verb, and one sentence says why
    with pytest.raises(TfdarshanError, match=f"^{meta} is damaged: [^\n]*; [^\n]*[.]$"):
        open_session(logs)
    for line in VERBS:
        assert f"{meta.name} is damaged" in refused(capfd, line, LOGS=logs, OUT=tmp_path / "out")


@pytest.mark.parametrize("name", TABLES)
def test_tables(name, logs, tmp_path, capfd):
    # GIVEN a session with such a table
    (path,) = logs.rglob("*.files.parquet")
    content, (before, after) = path.read_bytes(), TABLES[name]
    place = content.index(before, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))
    path.write_bytes(content[:place] + after + content[place + len(before) :])
    (tmp_path / "out").mkdir()

    # WHEN / THEN
    session = open_session(logs)
    for read in (lambda: session.files, session.summary, lambda: diagnose(session)):
        with pytest.raises(TfdarshanError, match=f"{path.name} is damaged") as error:
            read()
        assert "\n" not in str(error.value)
    for line in VERBS:
        assert f"{path.name} is damaged" in refused(capfd, line, LOGS=logs, OUT=tmp_path / "out"), line


@inputs("plan")
def test_plan(path, tmp_path, capfd):
    with pytest.raises(TfdarshanError, match=f"^the plan {path} is damaged: [^\n]*[.]$"):
        read_plan(path)
    for action in ("apply", "verify", "undo"):
        refused(capfd, f"stage {action} PLAN", PLAN=path)


@inputs("journal")
def test_journal(path, tmp_path, capfd):
    # GIVEN a plan whose fast root has such a journal
    (tmp_path / "slow").mkdir()
    state = tmp_path / "fast" / ".tfdarshan-stage"
    state.mkdir(parents=True)
    shutil.copyfile(path, state / "journal")
    plan = Plan(str(tmp_path / "slow"), str(tmp_path / "fast"), (PlannedFile("a", 1, 1),))
    write_plan(plan, tmp_path / "plan.json")

    # WHEN / THEN
    with pytest.raises(TfdarshanError, match=r"journal is damaged at line 1 [^\n]*[.]$"):
        Journal(state / "journal")
    for action in ("apply", "verify", "undo"):
        refused(capfd, f"stage {action} PLAN", PLAN=tmp_path / "plan.json")


@inputs("state")
def test_state(path, tmp_path, capfd):
    # GIVEN a slow tier with such a state file, and a checkpoint that is to get there
    tiers = Tiers(tmp_path)
    tiers.seal(3)
    tiers.close()
    shutil.copyfile(path, tmp_path / "slow" / "checkpoint")

    # WHEN / THEN
    for read in (read_state, burst_status):
        with pytest.raises(
            TfdarshanError, match=r"checkpoint (is damaged|is not a checkpoint state file)[^\n]*"
        ):
            read(tmp_path / "slow")
    refused(capfd, "burst status SLOW", SLOW=tmp_path / "slow")
    refused(capfd, "burst drain FAST SLOW --wait-limit-s 0", FAST=tmp_path / "fast", SLOW=tmp_path / "slow")
