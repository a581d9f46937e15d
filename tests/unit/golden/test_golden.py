"""What commands print, word by word: a change of words shows as a change of a file here.

`pytest tests/unit/golden --golden` writes the files anew.
"""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.golden.commands import COMMANDS, LOGDIRS, SLOW
from tests.unit.golden.golden_file import assert_golden
from tests.unit.golden.sessions import golden_folder, without_folder
from tfdarshan.commands import COMMANDS as VERBS
from tfdarshan.commands import main, make_parser
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.reports.views.panel import as_json
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import open_session

# Of a table so many rows are shown.
ROWS = 2
NO_WORDS = {"figure", "exact", "link", "colour", "kind", "key", "paging"}


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


@pytest.mark.parametrize("name", ["findings", *VIEWS])
def test_what_a_view_says(name, folder, request):
    # GIVEN fixed sessions
    sources = {logdir: Source(open_session(folder / logdir)) for logdir in (SLOW, "checkpoints", "no-steps")}
    # WHEN a view is made of each
    views = {"findings": lambda source: findings_panels(diagnose(source.session))}
    view = views[name] if name in views else VIEWS[name][1]
    said = [f"# {logdir}\n{_words(as_json(view(source)))}" for logdir, source in sources.items()]
    # THEN it says what the file has
    assert_golden(f"view_{name}.txt", without_folder("\n".join(said), folder), request.config)


def test_what_verbs_say_of_themselves(request):
    # GIVEN all verbs
    # WHEN each is asked what it and its options are for
    printed = [_about(verb) for verb in VERBS]
    # THEN they print what the file has
    assert_golden("help_of_verbs.txt", "\n".join(printed), request.config)


def _printed(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return a command and what it prints, with a name for the folder that is always the same."""
    words = [
        str(folder / word.removeprefix("@")) if word in LOGDIRS or word.startswith("@") else word
        for word in command.split()
    ]
    try:
        code: object = main([word for word in words if word])
    except SystemExit as ended:
        code = ended.code
    said = capsys.readouterr()
    exit_code = f"[exit code {code}]\n" if code else ""
    return without_folder(f"$ tfdarshan {_as_typed(command)}\n{said.out}{said.err}{exit_code}", folder)


def _as_typed(command: str) -> str:
    """Return a command with quotes around what a shell would take for its own."""
    return " ".join(shlex.quote(word) if set(word) & set("<>*") else word for word in command.split(" "))


def _words(value: Any, name: str = "") -> str:
    """Return the words of a view: a line for each, and the first rows of tables; figures are not words."""
    if isinstance(value, dict):
        return "".join(_words(inner, key) for key, inner in value.items() if key not in NO_WORDS)
    if isinstance(value, (list, tuple)):
        shown = value[:ROWS] if name == "rows" else value
        return "".join(_words(inner, name) for inner in shown)
    return f"{name}: {value}\n" if value and isinstance(value, str) else ""


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
            called = ", ".join(action.option_strings) or str(action.metavar or action.dest)
            lines.append(f"  {called}: {(action.help or '') % vars(action)}")
    return "\n".join(lines) + "\n"
