"""Runs the commands of a page in an empty folder, and fills in what they print.

`<!-- file: NAME -->` before a code block has the block written to a file. `<!-- run: 2 paragraphs -->` before
a block has its commands run, and the first paragraphs (or lines; nothing: all) of what the last of them
prints shown in a block after it, up to `<!-- end -->`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(
    r"<!-- file: (?P<name>\S+) -->\n```\w*\n(?P<content>.*?)^```\n"
    r"|<!-- run:(?P<about>[^\n]*?)-->\n```\n(?P<commands>.*?)^```\n.*?<!-- end -->\n",
    re.DOTALL | re.MULTILINE,
)
# What stands for the folder in what is printed.
SHOWN_FOLDER = "/home/me/tutorial"
COMMANDS = {"tfdarshan": ("-m", "tfdarshan"), "python": ()}


@dataclass
class Shell:
    """Runs commands in a folder, with this Python as `python` and its tfdarshan as `tfdarshan`.

    Attributes:
        folder: Where commands run.
        printed: What each block of commands printed, in the order of the page.
    """

    folder: Path
    printed: list[str] = field(default_factory=list)

    def run(self, commands: str) -> str:
        """Return what the last of some commands prints on stdout.

        Raises:
            RuntimeError: A command failed.
        """
        *first, last = commands.strip().split("\n")
        for command in first:
            self._one(command)
        said = self._one(last).replace(str(self.folder), SHOWN_FOLDER)
        self.printed.append(said)
        return said

    def _one(self, command: str) -> str:
        environment = os.environ | {"PATH": f"{self._programs()}:{os.environ['PATH']}", "COLUMNS": "100"}
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def _programs(self) -> Path:
        programs = self.folder.parent / "programs"
        for name, arguments in COMMANDS.items():
            if not (programs / name).exists():
                programs.mkdir(exist_ok=True)
                script = f'#!/bin/sh\nexec {" ".join((sys.executable, *arguments))} "$@"\n'
                (programs / name).write_text(script, encoding="utf-8")
                (programs / name).chmod(0o755)
        return programs


def run_page(text: str, shell: Shell) -> str:
    """Return a page's text with what its commands print.

    Raises:
        RuntimeError: A command failed.
    """
    return BLOCK.sub(lambda match: _done(match, shell), text)


def _done(match: re.Match[str], shell: Shell) -> str:
    if match["name"]:
        (shell.folder / match["name"]).write_text(match["content"], encoding="utf-8")
        return match[0]
    said = part_of(shell.run(match["commands"]), match["about"].strip())
    shown = f"\n```text\n{said}\n```\n" if said else ""
    return f"<!-- run:{match['about']}-->\n```\n{match['commands']}```\n{shown}<!-- end -->\n"


def part_of(said: str, about: str) -> str:
    """Return the first paragraphs or lines of a text, as "2 paragraphs" or "3 lines" says; all for ""."""
    said = said.strip("\n")
    if not about:
        return said
    count, unit = about.split()
    between = "\n\n" if unit.startswith("paragraph") else "\n"
    return between.join(said.split(between)[: int(count)])


def main() -> None:
    """Run a page and fill it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path, help="the page, such as docs/tutorial.md")
    page = parser.parse_args().page
    with tempfile.TemporaryDirectory() as folder:
        (work := Path(folder) / "tutorial").mkdir()
        text = run_page(page.read_text(encoding="utf-8"), Shell(work))
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
