"""What commands print, word by word: a change of words shows as a change of a file here.

`pytest tests/unit/golden --golden` writes the files anew.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.golden.commands import COMMANDS, LOGDIRS
from tests.unit.golden.golden_file import assert_golden
from tests.unit.golden.sessions import golden_folder, without_folder
from tfdarshan.commands import COMMANDS as VERBS
from tfdarshan.commands import main, make_parser


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Yield the folder of all sessions; times of day are UTC."""
    with golden_folder() as made, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield made
    time.tzset()


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints(name, folder, capsys, request):
    # GIVEN fixed sessions
    # WHEN the commands of a golden file run
    printed = [_printed(command, folder, capsys) for command in COMMANDS[name]]
    # THEN they print what the file has
    assert_golden(f"{name}.txt", "\n".join(printed), request.config)


def test_what_verbs_say_of_themselves(request):
    # GIVEN all verbs
    # WHEN each is asked what it and its options are for
    printed = [_about(verb) for verb in VERBS]
    # THEN they print what the file has
    assert_golden("help_of_verbs.txt", "\n".join(printed), request.config)


def _printed(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return a command and what it prints, with a name for the folder that is always the same."""
    words = [str(folder / word) if word in LOGDIRS else word for word in command.split()]
    code = main(words)
    said = capsys.readouterr()
    ended = f"[exit code {code}]\n" if code else ""
    return without_folder(f"$ tfdarshan {command}\n{said.out}{said.err}{ended}", folder)


def _about(verb: str) -> str:
    """Return a verb's description and options, without the layout that differs between Pythons."""
    (verbs,) = (action for action in make_parser(verb)._actions if isinstance(action.choices, dict))
    parsers: dict[str, argparse.ArgumentParser] = dict(verbs.choices or {})
    return "\n".join(_about_parser(f"tfdarshan {name}", parser) for name, parser in parsers.items())


def _about_parser(name: str, parser: argparse.ArgumentParser) -> str:
    lines = [f"{name}: {parser.description}"]
    for action in parser._actions:
        if isinstance(action.choices, dict):
            lines += [_about_parser(f"{name} {verb}", below) for verb, below in action.choices.items()]
        elif action.help != argparse.SUPPRESS:
            called = ", ".join(action.option_strings) or str(action.metavar)
            lines.append(f"  {called}: {(action.help or '') % vars(action)}")
    return "\n".join(lines) + "\n"
