"""The replay model beside the findings, on fixes that were run."""

import dataclasses
from pathlib import Path

import pytest

from tests.unit.replay.made_up_jobs import file_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import Readers, edited
from tfdarshan.replay.loader_edits import WorkersKept
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.workloads.laboratory.draw import draw
from tfdarshan.workloads.laboratory.fix_edits import edits_for
from tfdarshan.workloads.laboratory.fix_pair import FixPair, fix_pairs, pair_lines
from tfdarshan.workloads.laboratory.known_fix import KnownFix
from tfdarshan.workloads.laboratory.program_fixes import known_fixes
from tfdarshan.workloads.laboratory.said import Promised, Said
from tfdarshan.workloads.laboratory.timed_run import TimedRun
from tfdarshan.workloads.laboratory.truth import Tried, Truth

SOME = (
    FixPair("parallel", (1.9, 2.0, 2.1), (1.5, 2.2, 3.0), (1.0, 1.0, 1.5)),
    FixPair("prefetch", (0.9, 1.0, 1.1), (1.2, 1.3, 1.4), None),
    FixPair("moved", (3.0, 4.0, 5.0), None, None),
)


def test_a_fix_that_nobody_names_counts_as_no_change():
    # WHEN log errors are log 1.1, log 1.3 and log 4; and log 2, 0 and log 4
    replay, findings = pair_lines(SOME)

    # THEN
    assert replay.startswith("replay model: median |log error| 0.262 of 3 fixes")
    assert findings.startswith("findings: median |log error| 0.693 of 3 fixes")


def test_promises_are_held_against_what_runs_tell():
    replay, findings = pair_lines(SOME)
    assert replay.endswith("of 2 promised 1 inside, 1 below, 0 above, width 1.53")
    assert findings.endswith("of 1 promised 0 inside, 0 below, 1 above, width 1.50")


def test_without_fixes_there_is_nothing_to_say():
    assert pair_lines(()) == []


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return calibrated(facts_of(file_job(tmp_path_factory.mktemp("job"), batches=4)))


def test_each_fix_of_the_laboratory_is_an_edit(job):
    # GIVEN all fixes of many programs
    programs = [draw(seed).program(Path("/nowhere")) for seed in range(200)]
    fixes = {fix.name: program for program in programs for fix in known_fixes(program)}

    # THEN
    assert len(fixes) > 20
    for name, program in fixes.items():
        edits = edits_for(name, program, job)
        assert edits
        assert edited(job, *edits).model.tasks == job.model.tasks


@pytest.mark.parametrize(("shards", "workers"), [(4, 4), (40, 16)])
def test_workers_share_no_shard(job, shards, workers):
    changes = {"shape": "torch_iterable", "shards": shards, "threads": 0}
    program = dataclasses.replace(draw(0).program(Path("/nowhere")), **changes)

    # THEN, and workers that there are live on
    assert edits_for("parallel", program, job) == (Readers(workers),)
    one = dataclasses.replace(program, threads=1)
    assert edits_for("parallel", one, job) == (WorkersKept(), Readers(workers))


def test_a_run_fix_is_told_what_the_model_expects(tmp_path):
    # GIVEN a job of 16 x 60 ms, and staging with which it took 0.4 s
    session = file_job(tmp_path)
    program = draw(0).program(tmp_path)
    before = TimedRun(0.96, tmp_path)
    tried = Tried(KnownFix("staging", 2, program), [TimedRun(0.4, tmp_path)])
    said: list[str] = []

    # WHEN
    told = Said("slow", "-", "staging", None, (), promised=(Promised("staging", (2.0, 2.5, 3.0), "step"),))
    (pair,) = fix_pairs(Truth(program, [before], [tried]), told, said.append)

    # THEN
    assert session.path
    assert pair.obtained[1] == pytest.approx(2.4)
    assert pair.replay[0] < 0.96 / 0.32 < pair.replay[2]
    assert pair.findings == (2.0, 2.5, 3.0)
    assert "staging: obtained 2.40x, replay 2." in said[0]
