"""What to record instead is said in the words of the way that was used."""

from __future__ import annotations

import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.commands import make_parser
from tfdarshan.commands.arguments import options_of
from tfdarshan.findings.capture_mode import CaptureMode, is_python
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.options import Options


@pytest.mark.parametrize(
    ("started_by", "line"),
    [
        ("run", "tfdarshan run --memory-cap-mb 1280 --trace-memory-mb 512 SCRIPT"),
        ("profile", "with tfdarshan.profile(logdir, memory_cap_mb=1280, trace_memory_mb=512):"),
        ("keras", "IOCallback(logdir, memory_cap_mb=1280, trace_memory_mb=512)"),
        ("tensorflow", "tfdarshan.enable(memory_cap_mb=1280, trace_memory_mb=512)"),
        ("", "with tfdarshan.profile(logdir, memory_cap_mb=1280, trace_memory_mb=512):"),
    ],
)
def test_options_are_spelled_as_they_were_given(started_by, line):
    assert CaptureMode(started_by).line(memory_cap_mb=1280, trace_memory_mb=512) == line


@pytest.mark.parametrize(
    ("started_by", "option"),
    [("run", "`tfdarshan run --steps 100-200`"), ("keras", "`IOCallback(logdir, batches=(100, 200))`")],
)
def test_a_part_of_the_steps_is_recorded_in_the_way_that_was_used(started_by, option):
    assert CaptureMode(started_by).fewer_steps == option


def test_every_option_can_be_spelled_for_the_command_line():
    # GIVEN each option's own default, where it has one
    for name, value in vars(Options()).items():
        if value in (None, ()):
            continue
        spelled = CaptureMode("run").spelled(**{name: value})

        # THEN the command line takes it
        arguments = make_parser().parse_args(["run", *spelled.split(), "train.py"])
        assert options_of(arguments)[name] == value


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (CaptureMode("run", {"tf_profiler": False}, True), "as --tf-profiler auto does"),
        (CaptureMode("profile", {"tf_profiler": False}, True), "tf_profiler='auto' in tfdarshan.profile() d"),
        (CaptureMode("run", {"tf_profiler": False}, False), "mark steps in the script with"),
        (CaptureMode("profile", {"tf_profiler": "auto"}, True), "mark steps with"),
        (CaptureMode("darshan", is_python=True), "record the job with `tfdarshan run`"),
    ],
)
def test_how_to_see_waits_fits_the_job(way, said):
    assert said in way.to_see_waits


@pytest.mark.parametrize(
    ("command", "python"),
    [
        ("/usr/bin/python3.11 train.py", True),
        ("python train.py --epochs 2", True),
        ("/home/u/ior -a HDF5 -o python", False),
        ("/opt/pythonic/solver", False),
        ("", False),
    ],
)
def test_which_command_lines_are_pythons(command, python):
    assert is_python(command) == python
    way = CaptureMode("darshan", is_python=is_python(command))
    assert bool(way.to_see_waits) == bool(way.to_mark_steps) == bool(way.to_see_more) == python


@pytest.mark.parametrize(
    ("way", "why"),
    [
        (CaptureMode("darshan"), "a Darshan log has no steps"),
        (CaptureMode("profile"), "no step was marked"),
        (CaptureMode("profile", uses_tensorflow=True), "no step was marked"),
        (CaptureMode("profile", {"tf_profiler": False}, uses_tensorflow=True), "no step was recorded"),
    ],
)
def test_why_there_are_no_steps_goes_with_what_is_to_be_done(way, why):
    assert way.why_no_step == why
    assert ("mark steps" in way.to_see_waits) == (why == "no step was marked")


@pytest.mark.parametrize(
    ("child", "loaders", "told"),
    [("worker", {}, True), ("program", {}, False), ("worker", {"loaders": {"found": []}}, False)],
    ids=["a worker", "a program", "a loader's worker"],
)
def test_a_job_whose_workers_may_train_is_told_to_record_them(child, loaders, told, tmp_path):
    # GIVEN a job without steps, and a process that it has started
    calls = [(0, 500, 100, "pread", 0, 4000, 0)]
    metas = [loaders, {"role": {"kind": child, "number": 1, "name": ""}}]
    jobs = [
        job_of(calls, ["/data/a"], [4000], pid=100 + place, duration_ns=20 * 10**9, meta=meta)
        for place, meta in enumerate(metas)
    ]

    # WHEN
    record = diagnose(write_session(tmp_path, *jobs)).verdict.record

    # THEN
    said = (
        "If processes that the job starts do the training, record those in place of the main process, with "
        "`with tfdarshan.profile(logdir):` around the training loop"
    )
    assert record.endswith(said) == told
    assert "mark steps" in record
