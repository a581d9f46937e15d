"""Files that are read between epochs, while training stands still."""

import dataclasses
from typing import Any

import pytest

from tests.unit.findings.made_up_jobs import KB, LOAD
from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.findings.made_up_validation import VALIDATE, found_validation, validation_job
from tfdarshan.findings import validation
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.finding import Fix
from tfdarshan.findings.fix_lines import more_readers, reads_as_many, validation_fix
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.overlapping_fixes import fix_once, same_lines
from tfdarshan.replay.loop_edits import ValidationCached, ValidationReaders
from tfdarshan.replay.promise import promise
from tfdarshan.replay.storage_edits import Staged


@pytest.mark.parametrize("thread", [1, LOOP])
def test_a_validation_set_that_fits_into_memory_may_be_kept_there(tmp_path, thread):
    # GIVEN 300 ms of reading after each epoch of 600 ms, by a pipeline or by the loop itself
    measures = measure(validation_job(tmp_path, thread=thread, pipelines=thread != LOOP))
    found = validation.find(measures)
    keep = validation_fix(measures, 16, keep=True)

    # THEN the better of two fixes is named: the first of four pauses behind steps is left, or 16 readers
    assert found.title == "training stands still 300.0 ms an epoch while other files are read"
    assert all(path.startswith("/validation/") for path in found.files)
    assert ("load_validation).cache()" in keep.line) == (thread != LOOP)
    kept, more = (
        promise(measures.job, edit).expected for edit in (ValidationCached(), ValidationReaders(16))
    )
    assert kept == pytest.approx((4 * 600 + 4 * 300) / (4 * 600 + 300), rel=0.02)
    assert (found.fix == keep) is (kept > more)


def test_one_that_memory_serves_after_its_first_pass_is_not_kept_for_much(tmp_path):
    # GIVEN a first pass of 600 ms, and later ones of 12
    measures = measure(validation_job(tmp_path, read_ms=10.0, later_ms=0.2))

    assert promise(measures.job, ValidationCached()).expected < 1.02


def test_one_that_does_not_fit_is_to_be_read_by_more(tmp_path):
    found = validation.find(measure(validation_job(tmp_path, memory=10_000 * KB)))

    assert "map(load_validation, num_parallel_calls=16" in found.fix.line
    assert [type(edit) for edit in found.edits] == [ValidationReaders]


def test_python_code_reads_several_files_of_it_at_a_time(tmp_path):
    found = validation.find(measure(validation_job(tmp_path, memory=10_000 * KB, pipelines=False)))

    assert found.fix.what == "Read the validation set with 16 calls at a time."
    assert found.fix.line == (
        "samples = concurrent.futures.ThreadPoolExecutor(16).map(read_validation, paths)"
    )


def test_one_file_that_does_not_fit_has_no_fix(tmp_path):
    # GIVEN a set of one file, which no more calls than one read
    found = validation.find(measure(validation_job(tmp_path, validation=1, read_ms=300.0, memory=50 * KB)))

    assert (found.kind, found.fix, found.edits) == ("note", None, ())


@pytest.mark.parametrize("thread", [1, LOOP])
def test_a_copy_gives_what_training_stands_still_for_whichever_thread_reads(tmp_path, thread):
    # GIVEN four pauses of 600 ms behind four epochs as long, in which storage serves 10 ms a file
    job_of = measure(validation_job(tmp_path, thread=thread, pipelines=thread != LOOP, read_ms=10.0)).job

    # THEN all of them are saved if all files are staged, but for the fast tier's time
    assert promise(job_of, Staged()).expected == pytest.approx((4 + 4) * 600 / (4 * 600), rel=0.05)


@pytest.mark.parametrize(("validate", "twice"), [(LOAD, True), (VALIDATE, False)])
def test_a_line_that_two_data_sets_have_is_told_by_what_it_reads(tmp_path, validate, twice):
    # GIVEN data sets of one function, or of two, and steps that wait 20 of 30 ms
    session = validation_job(tmp_path, validate=validate, wait_ms=20, read_ms=20.0)
    fixes = [one.fix for one in diagnose(session).findings if one.fix and "read_image" in one.fix.instead_of]

    # THEN each fix of a line of both says which one it means, and no other needs to
    of_validation = found_validation(session).fix.what
    assert ("change the one that is read between epochs, from /validation." in of_validation) is twice
    assert all((" Several data sets have this line: " in fix.what) is twice for fix in fixes)
    assert any("that steps read, from /data." in fix.what for fix in fixes) is twice


def test_lines_of_two_data_sets_are_two_changes(tmp_path):
    # GIVEN a training and a validation set that one function reads, and one change that both need
    session = validation_job(tmp_path, validate=LOAD, wait_ms=20, read_ms=20.0)
    of_validation = found_validation(session)
    line: dict[str, Any] = {"line": "dataset = a.cache()", "instead_of": "dataset = a"}
    fixed = dataclasses.replace(of_validation, fix=dataclasses.replace(of_validation.fix, **line))
    of_training = dataclasses.replace(fixed, name="fits_in_memory", fix=Fix("Keep it.", **line))

    # THEN neither stands for the other, and each stands for itself
    assert not same_lines(fixed, of_training)
    assert fix_once(fixed, [of_training, fixed]) == fixed.fix
    assert same_lines(fixed, dataclasses.replace(fixed, name="staging"))


@pytest.mark.parametrize("evaluated", [False, True])
def test_a_model_that_is_evaluated_first_trains_on_the_other_data_set(tmp_path, evaluated):
    # GIVEN a training set that is read by 8 calls at a time, and a validation set by one
    load = LOAD | {"calls": 8, "function": "load_training"}
    session = validation_job(tmp_path, load=load, evaluated=evaluated, memory=10_000 * KB)
    measures = measure(session)

    # THEN facts and lines are of the training set, but the line for the validation set
    assert measures.job.facts.pipeline.declared_readers == 8
    assert reads_as_many(measures, 4)
    assert "map(load_training, num_parallel_calls=16" in more_readers(measures, 16, 8).line
    assert "map(load_validation, num_parallel_calls=16" in found_validation(session).fix.line


@pytest.mark.parametrize("changes", [{"validation": 0}, {"read_ms": 0.02}])
def test_pauses_without_reading_are_none(tmp_path, changes):
    assert found_validation(validation_job(tmp_path, **changes)) is None


def test_steps_that_read_the_same_files_are_no_validation(tmp_path):
    # GIVEN an epoch's first batch, which is read before its step begins
    calls, steps, at = [], [], 0.0
    for _ in range(4):
        calls += [(at + 5 * n, at + 5 * n + 5, 1, "pread", n, 100 * KB, 0) for n in range(20)]
        at += 100
        for n in range(20):
            steps.append((at, at + 30, 1))
            calls.append((at + 2, at + 6, 1, "pread", n, 100 * KB, 100 * KB))
            at += 30
    session = training(tmp_path, calls, steps, paths=[f"/data/{n}" for n in range(20)], sizes=[10**9] * 20)
    assert found_validation(session) is None
