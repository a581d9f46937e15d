"""tools/try_wheel.py: what it refuses, and that a wheel that promises more than it keeps fails."""

import json
from subprocess import CompletedProcess
from typing import Any

import pytest

from tools import try_wheel
from tools.try_wheel import EXPECTED, FailedError, install_what_is_named, main, read

SENTENCE = "tfdarshan: reading sessions needs pandas: run `pip install 'tfdarshan[view]'`.\n"


class Answers:
    """Stands for an environment whose programs print what is given, one after the other."""

    def __init__(self, *said):
        self.said, self.ran = list(said), []

    def run(self, *command, code=0):
        self.ran.append(command)
        said = self.said.pop(0)
        return CompletedProcess(command, code, said, said)


def test_a_machine_that_can_compile_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name == "gcc" else None)

    assert main("made.whl") == 1
    assert capsys.readouterr().err == (
        "tfdarshan: /usr/bin/gcc is here: wheels are tried where nothing can be built\n"
    )


def test_each_python_is_tried_and_one_failure_is_enough(monkeypatch, capsys):
    # GIVEN
    def tried(python, _wheel):
        if python == "python3.99":
            raise FailedError("it ended")
        return "a verdict"

    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(try_wheel, "try_python", tried)

    # WHEN / THEN
    assert main("made.whl", "python3.99", "python3.11") == 1
    assert capsys.readouterr().out == "FAILED python3.99: it ended\npython3.11: a verdict\n"


def test_the_command_is_run_as_it_is_printed():
    environment: Any = Answers(SENTENCE, "")

    install_what_is_named(environment)

    assert environment.ran[1] == ("sh", "-c", "pip install 'tfdarshan[view]' --quiet")


@pytest.mark.parametrize("said", ["", "tfdarshan: pandas is missing.\n", f"Traceback\n{SENTENCE}"])
def test_another_sentence_fails(said):
    environment: Any = Answers(said)

    with pytest.raises(FailedError, match="did not name what is missing"):
        install_what_is_named(environment)


@pytest.mark.parametrize("off", [0, 1])
def test_counts_are_compared_with_those_of_the_job(off):
    rest = dict.fromkeys(EXPECTED, 0) | {"POSIX_OPENS": 1, "TFD_ZERO_READS": off}
    rows = [{**EXPECTED, "POSIX_OPENS": EXPECTED["POSIX_OPENS"] - 1}, rest]
    environment: Any = Answers(json.dumps({"files": rows}), "Two lines\nof a verdict.\n\nA step\n", "")

    if off:
        with pytest.raises(FailedError, match="was counted instead of"):
            read(environment)
    else:
        assert read(environment) == "Two lines of a verdict."
