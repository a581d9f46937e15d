"""The line that runs the recorded job with the copies of a plan."""

from __future__ import annotations

import pytest

from tfdarshan.staging.staged_command import staged_command

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
        ("./a.out data", f"{RUN} SCRIPT ARGS"),
        ("", f"{RUN} SCRIPT ARGS"),
    ],
)
def test_the_jobs_own_command_goes_on(recorded, line):
    assert staged_command(recorded) == line


def test_the_plan_is_the_one_that_was_written():
    assert staged_command("python t.py", "/fast/p.json") == "tfdarshan run --staged /fast/p.json t.py"
    assert staged_command("", "/fast/p.json") == "tfdarshan run --staged /fast/p.json SCRIPT ARGS"
