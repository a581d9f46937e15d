"""The `tfdarshan` command: one module per verb, listed in COMMANDS."""

from __future__ import annotations

import argparse
import codecs
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from tfdarshan.commands.arguments import say
from tfdarshan.commands.exit_codes import BROKEN_PIPE, FAILURE, WRONG_USE
from tfdarshan.errors import ConfigurationError, TfdarshanError, meant, reason
from tfdarshan.file_name import printable
from tfdarshan.native.versions import VERSION
from tfdarshan.terminal.fitting import FittedStream, fold
from tfdarshan.terminal.paint import paint_for
from tfdarshan.terminal.wrapping import wrap

# What the verbs are for, in the order in which they are needed; and the modules here that have them. Only
# the module of the verb that is given is imported.
GROUPS = {
    "record": {"run": "run", "import": "import_log", "rebuild": "rebuild", "recover": "recover"},
    "look": {
        "list": "list_sessions",
        "summary": "summary",
        "findings": "findings",
        "whatif": "whatif",
        "files": "files",
        "steps": "list_steps",
        "fleet": "fleet",
        "compare": "compare",
        "view": "view",
        "report": "report",
        "export": "export",
        "mcp": "mcp_server",
    },
    "fix": {
        "advise": "advise",
        "stage": "stage",
        "burst": "burst",
        "probe": "probe_data",
        "lmdb": "lmdb_database",
    },
    "try": {"workload": "workload", "doctor": "doctor"},
}
COMMANDS = {verb: module for verbs in GROUPS.values() for verb, module in verbs.items()}
RUN = "run"
# What our own texts have beside ASCII, as written where an encoding lacks it.
SPELT = {"±": "+-"}
SPELT_OR_ESCAPED = "tfdarshan.spelt_or_escaped"
SHELLS = ("bash", "zsh", "tcsh")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb and return the exit code: 0, 1 for a failure, 2 for wrong use."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    # 1 would be that a condition holds.
    checks = given[:1] == ["compare"] or (given[:1] == ["advise"] and "--check" in given)
    failed = WRONG_USE if checks else FAILURE
    try:
        outcome = _outcome(given)
    except ConfigurationError as error:
        return _complain(str(error), WRONG_USE)
    except TfdarshanError as error:
        return _complain(str(error), failed)
    except ImportError as error:
        from tfdarshan.native.package_versions import packages_problem, view_problem

        if (problem := packages_problem() or view_problem(error.name or "")) is None:
            raise
        return _complain(problem, failed)
    except KeyboardInterrupt:
        if arguments is None:
            # The interpreter ends by SIGINT; where it was is nothing to read.
            sys.excepthook = lambda *_error: None
        raise
    except BrokenPipeError:
        _write_no_more()
        return BROKEN_PIPE
    except OSError as error:
        _write_no_more()
        what = (
            "the output cannot be written" if error.filename is None else f"{error.filename} cannot be used"
        )
        return _complain(f"{what}: {reason(error)}.", failed)
    # A script runs outside of the above: its errors are its own.
    return outcome() if callable(outcome) else outcome


def _outcome(given: Sequence[str]) -> int | Callable[[], int]:
    """Do what was typed, and write what was printed: nothing is left for the interpreter's end."""
    try:
        if not given:
            print(make_parser().format_help(), end="")
            return 0
        parsed = make_parser(given[0]).parse_args(given)
        if given[0] == RUN:
            # What the script prints is its own.
            outcome: int | Callable[[], int] = parsed.command(parsed)
            return outcome
        escape_what_the_locale_lacks()
        with _fitted(exact=getattr(parsed, "json", False)):
            return int(parsed.command(parsed))
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()


@contextmanager
def _fitted(*, exact: bool) -> Iterator[None]:
    """Have lines folded that are wider than the terminal they go to, but for `exact` ones such as JSON."""
    stream = sys.stdout
    if exact or not stream.isatty():
        yield
        return
    sys.stdout = FittedStream(stream, paint_for(stream).width)
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout = stream


def _write_no_more() -> None:
    """Have the interpreter's end write what stdout still holds to nowhere."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def escape_what_the_locale_lacks() -> None:
    """Have characters that an encoding cannot write escaped, as Python does on stderr, or spelt otherwise.

    A stdout that was closed becomes one that writes nowhere.
    """
    if sys.stdout is None:
        _open_what_was_closed()
    codecs.register_error(SPELT_OR_ESCAPED, _spelt_or_escaped)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            with suppress(ValueError):  # closed
                reconfigure(errors=SPELT_OR_ESCAPED)


def _spelt_or_escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what stands for the first character that an encoding lacks, and where to go on."""
    if isinstance(error, UnicodeEncodeError):
        error.end = error.start + 1
        if (spelt := SPELT.get(error.object[error.start])) is not None:
            return spelt, error.end
    return codecs.backslashreplace_errors(error)


def _open_what_was_closed() -> None:
    """Give numbers 0 to 2 to /dev/null where they are free, so that no file of ours is stdin or stdout."""
    number = os.open(os.devnull, os.O_RDWR)
    while number < 3:
        number = os.open(os.devnull, os.O_RDWR)
    os.close(number)
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


class _Parser(argparse.ArgumentParser):
    """Take options anywhere; say what is wrong without writing arguments to the terminal as they are."""

    _between = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Take names that options part, as in `fleet whatif --link 100Gb DIR`; after -- all are names."""
        takes_the_rest = (argparse.PARSER, argparse.REMAINDER)
        all_are_names = any(one.nargs in takes_the_rest for one in self._get_positional_actions())
        if self._between or all_are_names or "--" in (args or ()):
            return super().parse_known_args(args, namespace)
        self._between = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._between = False

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Unlike argparse's own, does not hide that nothing can be written."""
        to = sys.stderr if file is None else file
        if message and to is not None:
            width = paint_for(to).width if to.isatty() else len(message)
            to.write("\n".join(folded for line in message.split("\n") for folded in fold(line, width)))


class _TopParser(_Parser):
    """The parser of all verbs: lists them by what they are for, and names the verb that was meant."""

    verbs: dict[str, str]

    def format_help(self) -> str:
        """Return usage, options, and the verbs in groups."""
        width, columns = max(map(len, self.verbs)) + 2, paint_for(sys.stdout).width
        lines = [self.format_usage().rstrip(), "", *wrap(str(self.description), columns), ""]
        for title, names in GROUPS.items():
            lines.append(f"{title}:")
            for name in names:
                said = f"  {name:<{width}}{self.verbs[name]}"
                lines += wrap(said, columns, hang=" " * (width + 2))
        last = (
            "`tfdarshan VERB --help` explains a verb. --version prints the version, --print-completion SHELL "
            f"what makes a shell complete verbs and options ({', '.join(SHELLS)})."
        )
        lines += ["", *wrap(last, columns)]
        return "\n".join(lines) + "\n"

    def error(self, message: str) -> NoReturn:
        """Say which verb there is instead of listing all."""
        wrong = re.search(r"argument VERB: invalid choice: '(.*?)'", message)
        if wrong is None:
            super().error(message)
        hint = meant(wrong[1], list(self.verbs), "`tfdarshan --help` lists them.")
        self.exit(WRONG_USE, f"tfdarshan: there is no verb {printable(wrong[1])!r}: {hint}\n")


class _PrintCompletion(argparse.Action):
    """Prints a shell's completion and ends."""

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: object, values: object, _option: str | None = None
    ) -> NoReturn:
        import shtab

        print(shtab.complete(parser, str(values)))
        parser.exit()


def make_parser(verb: str = "") -> argparse.ArgumentParser:
    """Make the parser of one verb; of all where it is none."""
    parser = _TopParser(
        prog="tfdarshan", description="See a job's file I/O, counted by Darshan's definitions."
    )
    parser.add_argument("--version", action="version", version=f"tfdarshan {VERSION}")
    parser.add_argument("--print-completion", action=_PrintCompletion, choices=SHELLS, help=argparse.SUPPRESS)
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=_Parser)
    for name in [COMMANDS[verb]] if verb in COMMANDS else COMMANDS.values():
        importlib.import_module(f"tfdarshan.commands.{name}").add_parser(verbs)
    parser.verbs = {action.dest: action.help or "" for action in verbs._get_subactions()}
    return parser


def _complain(sentence: str, code: int) -> int:
    with suppress(OSError, ValueError, AttributeError):  # stderr is full or closed, too
        say(f"tfdarshan: {sentence}", error=True)
    return code
