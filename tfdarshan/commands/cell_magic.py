"""`%%tfdarshan` of IPython and notebooks: records a cell, and shows the verdict below its output."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import Any, NoReturn

from tfdarshan.commands.arguments import DEFAULT_LOGDIR, add_options, options_of, say
from tfdarshan.errors import ConfigurationError, TfdarshanError
from tfdarshan.recording.profiler import Profile

NAME = "tfdarshan"
MARK = f"%%{NAME}"


class CellError(TfdarshanError):
    """A cell cannot be recorded: IPython shows the sentence alone, and does not run the cell."""

    def _render_traceback_(self) -> list[str]:
        return [f"{NAME}: {self}"]


class CellMagic:
    """Records cells that begin with `%%tfdarshan`.

    The first line of such a cell becomes a call, and IPython runs the rest like any other cell: results,
    tracebacks and `await` stay as they are. The session ends with the cell.

    Args:
        shell: The IPython shell.
    """

    # A cell is complete if IPython says so of what was typed.
    has_side_effects = True

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._profile: Profile | None = None
        # Cells that the recorded one runs.
        self._inner = 0

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the lines of a cell as IPython is to run them."""
        if not lines or lines[0].split(maxsplit=1)[:1] != [MARK]:
            return lines
        arguments = lines[0].strip().removeprefix(MARK).strip()
        call = f"get_ipython().run_line_magic({NAME!r}, {arguments!r})\n"
        return [call, *self._body(lines[1:])]

    def _body(self, lines: list[str]) -> list[str]:
        """Return the lines of the rest, which may begin with another cell magic."""
        if not lines or not lines[0].startswith("%%"):
            return lines
        cell: str = self._shell.input_transformer_manager.transform_cell("".join(lines))
        return cell.splitlines(keepends=True)

    def record(self, line: str) -> None:
        """Record the file I/O of a cell, and show the verdict: `%%tfdarshan LOGDIR [options]`.

        The options are the session options of `tfdarshan run`; `tfdarshan run --help` lists them.
        """
        try:
            self._profile = _profile(line).start()
        except TfdarshanError as error:
            raise CellError(str(error)) from None
        self._inner = 0
        self._shell.events.register("pre_run_cell", self._begin_inner)
        self._shell.events.register("post_run_cell", self._end_cell)

    def _begin_inner(self, _cell: Any) -> None:
        self._inner += 1

    def _end_cell(self, _result: Any) -> None:
        if self._inner:
            self._inner -= 1
            return
        self._shell.events.unregister("pre_run_cell", self._begin_inner)
        self._shell.events.unregister("post_run_cell", self._end_cell)
        profile, self._profile = self._profile, None
        if profile is not None:
            self._end(profile)

    def _end(self, profile: Profile) -> None:
        try:
            profile.stop()
            shown = {"text/plain": profile.summary(), "text/html": profile._repr_html_()}
        except TfdarshanError as error:
            say(f"{NAME}: {error}", error=True)
        else:
            self._shell.display_pub.publish({kind: text for kind, text in shown.items() if text is not None})


class _Parser(argparse.ArgumentParser):
    """Raise an error instead of ending the shell."""

    def error(self, message: str) -> NoReturn:
        raise ConfigurationError(
            f"{MARK} takes LOGDIR and the session options of `tfdarshan run`: {message}."
        )


def _profile(line: str) -> Profile:
    """Return the session that the words of a line ask for, to be started."""
    parser = _Parser(prog=MARK, add_help=False, allow_abbrev=False)
    parser.add_argument("logdir", nargs="?", default=DEFAULT_LOGDIR)
    add_options(parser)
    parsed = parser.parse_args(_words(line))
    return Profile(parsed.logdir, **options_of(parsed))


def _words(line: str) -> Sequence[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ConfigurationError(f"{MARK} {line} cannot be read: {str(error).lower()}.") from None


def add_to(shell: Any) -> None:
    """Add `%%tfdarshan` to a shell of IPython that does not have it."""
    if shell.find_line_magic(NAME) is None:
        magic = CellMagic(shell)
        shell.register_magic_function(magic.record, "line", NAME)
        shell.input_transformers_cleanup.append(magic)
