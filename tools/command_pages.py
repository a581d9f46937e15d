"""The page of the command line, from the parsers of the verbs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from tfdarshan.commands import COMMANDS, GROUPS, make_parser

Rows = Iterable[tuple[str, ...]]


def verb_rows() -> Rows:
    """Yield a row for each verb: what it is for, its name, and what it does."""
    helps: dict[str, str] = vars(make_parser())["verbs"]
    for group, verbs in GROUPS.items():
        for verb in verbs:
            yield group, f"`tfdarshan {verb}`", helps[verb]


def command_line() -> str:
    """Return a section for each verb, Markdown: its description, and a table of its arguments."""
    return "\n".join(
        section for verb in COMMANDS for section in _sections(f"tfdarshan {verb}", _parser_of(verb), 2)
    )


def _sections(name: str, parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    rows = [_row(action) for action in parser._actions if _is_shown(action)]
    lines = ["| argument | meaning |", "| --- | --- |", *rows] if rows else []
    yield "\n".join([f"{'#' * level} {name}", "", _plain(parser.description or ""), "", *lines, ""])
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for action_name, below in action.choices.items():
                yield from _sections(f"{name} {action_name}", below, level + 1)


def _is_shown(action: argparse.Action) -> bool:
    hidden = isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))
    return not hidden and action.help != argparse.SUPPRESS


def _row(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar or ())
    named = ", ".join(action.option_strings) or value or action.dest
    if action.option_strings and action.nargs != 0:
        named = f"{named} {value}".strip()
    return f"| `{named}` | {_plain((action.help or '') % vars(action))} |"


def _plain(text: str) -> str:
    """Return help text as one line in which Markdown finds no markup: globs have stars."""
    return " ".join(text.split()).replace("*", r"\*").replace("|", "&#124;")


def _parser_of(verb: str) -> argparse.ArgumentParser:
    for action in make_parser(verb)._actions:
        if isinstance(action, argparse._SubParsersAction):
            parser: argparse.ArgumentParser = action.choices[verb]
            return parser
    raise LookupError(f"there is no verb {verb!r}")
