"""The commands that stage a recorded job's files and run it with the copies."""

from __future__ import annotations

import os
import shlex

import pytest

from tfdarshan.staging.staged_command import StagedJob, apply_and_run, staged_command

RUN = "tfdarshan run --staged plan.json"


@pytest.mark.parametrize(
    ("recorded", "line"),
    [
        ("python train.py --epochs 2", f"{RUN} train.py --epochs 2"),
        ("/opt/venv/bin/python3.11 train.py", f"{RUN} train.py"),
        ("python -u -X dev train.py", f"{RUN} train.py"),
        ("python -m trainer.main --lr 0.1", f"{RUN} -m trainer.main --lr 0.1"),
        (
            "/usr/bin/python3 /usr/bin/tfdarshan run --logdir logs train.py 7",
            f"{RUN} --logdir logs train.py 7",
        ),
        ("python -m tfdarshan run train.py", f"{RUN} train.py"),
        ("python /bin/tfdarshan run --staged old.json train.py", f"{RUN} train.py"),
        ("python -c import train", f"{RUN} SCRIPT ARGS"),
        ("python", f"{RUN} SCRIPT ARGS"),
        ("", f"{RUN} SCRIPT ARGS"),
    ],
)
def test_the_jobs_own_command_goes_on(recorded, line):
    assert staged_command(recorded) == line
    assert apply_and_run(recorded, "/data") == ["tfdarshan stage apply plan.json", line]


@pytest.mark.parametrize(
    ("recorded", "line"),
    [
        ("./a.out 7", "./a.out 7  # with DIR in place of /nfs/data"),
        ("./a.out /nfs/data 7", "./a.out DIR 7"),
        ("./a.out --data=/nfs/data/train", "./a.out --data=DIR/train"),
        ("./a.out /nfs/data2", "./a.out /nfs/data2  # with DIR in place of /nfs/data"),
        ("./a.out /big/nfs/data", "./a.out /big/nfs/data  # with DIR in place of /nfs/data"),
    ],
)
def test_a_program_that_no_python_runs_reads_a_mirror(recorded, line):
    assert apply_and_run(recorded, "/nfs/data") == ["tfdarshan stage apply plan.json --mirror", line]


def test_a_fast_folder_stays_one_word():
    _, line = apply_and_run("./a.out /nfs/data/train 7", "/nfs/data", "/local/My Data")

    assert shlex.split(line) == ["./a.out", "/local/My Data/train", "7"]


def test_words_of_several_lines_stay_in_one_line():
    # GIVEN a job of code, as sessions have it, and a folder whose name is not UTF-8
    recorded = shlex.join(["./a.out", "-c", "a = 1\nprint(a)"])
    root = os.fsdecode(b"/nfs/\xff")

    # WHEN
    lines = apply_and_run(recorded, root)

    # THEN each line is a command
    assert lines[1] == r"./a.out -c $'a = 1\012print(a)'  # with DIR in place of $'/nfs/\377'"


def test_a_job_of_python_reads_a_mirror_if_that_is_wanted():
    assert apply_and_run("python t.py --data /nfs/data", "/nfs/data", mirrored=True) == [
        "tfdarshan stage apply plan.json --mirror",
        "python t.py --data DIR",
    ]
    job = StagedJob("python t.py", "/s", "/", everything=True, mirrored=True)
    assert job.lines.splitlines() == [
        "tfdarshan advise --logdir /s --fast DIR --slow DATA --all -o plan.json",
        "tfdarshan stage apply plan.json --mirror",
        "python t.py  # with DIR in place of DATA",
    ]


def test_the_plan_and_the_folder_are_those_that_were_written():
    assert apply_and_run("python t.py", "/data", "/fast", "/fast/my p.json") == [
        "tfdarshan stage apply '/fast/my p.json'",
        "tfdarshan run --staged '/fast/my p.json' t.py",
    ]
    assert apply_and_run("./a.out /data", "/data", "/fast/x", "p.json")[1] == "./a.out /fast/x"


@pytest.mark.parametrize(
    ("more", "first"),
    [
        ({"everything": False}, "tfdarshan advise --logdir '/my logs/s' --fast DIR -o plan.json"),
        ({"everything": True}, "tfdarshan advise --logdir '/my logs/s' --fast DIR --all -o plan.json"),
        (
            {"everything": True, "room_bytes": 7},
            "tfdarshan advise --logdir '/my logs/s' --fast DIR --capacity 7 --all -o plan.json",
        ),
        (
            {"everything": True, "place": "/data/part 3"},
            "tfdarshan advise --logdir '/my logs/s' --fast DIR --slow '/data/part 3' --all -o plan.json",
        ),
    ],
)
def test_the_plan_is_made_of_the_session_that_was_read(more, first):
    job = StagedJob(command="python t.py", session="/my logs/s", root="/data", **more)

    assert job.lines.splitlines() == [first, "tfdarshan stage apply plan.json", f"{RUN} t.py"]


def test_a_log_that_no_session_was_kept_of_is_imported_first():
    job = StagedJob("python t.py", "/tmp/gone", "/data", everything=False, log="/logs/a.darshan")

    assert job.lines.splitlines()[:2] == [
        "tfdarshan import /logs/a.darshan --logdir LOGDIR",
        "tfdarshan advise --logdir LOGDIR --fast DIR -o plan.json",
    ]


def test_files_without_a_folder_in_common_need_one_for_a_mirror():
    job = StagedJob("./a.out", "/s", "/", everything=True)

    assert job.lines.splitlines() == [
        "tfdarshan advise --logdir /s --fast DIR --slow DATA --all -o plan.json",
        "tfdarshan stage apply plan.json --mirror",
        "./a.out  # with DIR in place of DATA",
    ]
    assert "--slow" not in StagedJob("python t.py", "/s", "/", everything=True).lines


def test_words_that_a_shell_would_take_apart_stay_words():
    # GIVEN a session's command, and one of an older session, which lost its quotes
    recorded = "python train.py --name 'my run' --tag 'a;b' 'it'\\''s'"

    # WHEN / THEN
    line = staged_command(recorded)
    assert shlex.split(line) == [*RUN.split(), "train.py", "--name", "my run", "--tag", "a;b", "it's"]
    assert staged_command("python train.py --tag a;b it's") == f"{RUN} train.py --tag 'a;b' 'it'\"'\"'s'"
    assert apply_and_run("./a.out '/my data/train' 7", "/my data")[1] == "./a.out DIR/train 7"


def test_a_command_that_was_cut_is_not_run_as_it_is():
    assert staged_command("python train.py --lr 0.1 --na ...") == f"{RUN} SCRIPT ARGS"
