"""A job's runs, kept beside their sessions: newer code judges them again without running anything."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.errors import ConfigurationError

from .applied import is_command, is_mirrored
from .known_fix import KnownFix
from .program import Folders, Program
from .said import LEAST_GAIN, Said
from .timed_run import TimedRun
from .truth import Tried, Truth

RECORD = "trial.json"


@dataclass(frozen=True)
class Printed:
    """The fix that was named first, as printed, and its runs.

    Attributes:
        first: Its finding, "" where none was named.
        line: What it says to write.
        instead_of: And to take out.
        typed: How that could be applied.
        runs: Of the job with it; none where it cannot be applied or fails.
        more: And with more of the same, where the first of these is told that.
    """

    first: str = ""
    line: str = ""
    instead_of: str = ""
    typed: str = ""
    runs: Sequence[TimedRun] = ()
    more: Sequence[TimedRun] = ()

    @classmethod
    def of(
        cls, said: Said, typed: str, runs: Sequence[TimedRun] = (), more: Sequence[TimedRun] = ()
    ) -> Printed:
        """Return that of what was said."""
        return cls(said.first, said.line, said.instead_of, typed, tuple(runs), tuple(more))

    def is_of(self, said: Said) -> bool:
        """Return whether this is what is said there first; whatever way to type one copy is as good."""
        if self.first == said.first and is_command(self.line) and is_command(said.line):
            return is_mirrored(self.line) == is_mirrored(said.line)
        return (self.first, self.line, self.instead_of) == (said.first, said.line, said.instead_of)


@dataclass(frozen=True)
class Trial:
    """All runs of a job."""

    seed: int
    words: str
    real: bool
    truth: Truth
    printed: Printed

    def more_is_worth_it(self, after: Said) -> bool:
        """Whether more of the fix, which the fixed job is told to write, gives enough to be told."""
        more = [run.trained_s for run in self.printed.more if not run.failure]
        once = min((run.trained_s for run in self.printed.runs), default=0.0)
        return bool(more) and after.line != self.printed.line and once >= LEAST_GAIN * min(more)


def save_trial(trial: Trial, folder: Path) -> None:
    """Write the record into the folder of the job, beside `runs/`."""
    truth, printed = trial.truth, trial.printed
    plain = {
        "seed": trial.seed,
        "words": trial.words,
        "real": trial.real,
        "keeps_pages": truth.keeps_pages,
        "program": dataclasses.asdict(truth.program),
        "before": _plain(truth.before, folder),
        "tried": [
            {"name": one.fix.name, "effort": one.fix.effort, "runs": _plain(one.runs, folder)}
            for one in truth.tried
        ],
        "printed": {
            "first": printed.first,
            "line": printed.line,
            "instead_of": printed.instead_of,
            "typed": printed.typed,
            "runs": _plain(printed.runs, folder),
            "more": _plain(printed.more, folder),
        },
    }
    (folder / RECORD).write_text(json.dumps(plain, indent=1, default=str) + "\n", encoding="utf-8")


def load_trial(folder: Path) -> Trial:
    """Read the record of a job.

    Raises:
        ConfigurationError: There is none, or it is of another shape.
    """
    try:
        plain = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        program = _program(plain["program"])
        tried = [
            Tried(KnownFix(one["name"], one["effort"], program), _runs(one["runs"], folder))
            for one in plain["tried"]
        ]
        truth = Truth(program, _runs(plain["before"], folder), tried, plain["keeps_pages"])
        printed = dict(plain["printed"])
        runs, more = (tuple(_runs(printed.pop(name), folder)) for name in ("runs", "more"))
        return Trial(
            plain["seed"], plain["words"], plain["real"], truth, Printed(**printed, runs=runs, more=more)
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{folder} holds no job to judge again: {error!r}") from error


def _plain(runs: Sequence[TimedRun], folder: Path) -> list[dict[str, Any]]:
    return [dataclasses.asdict(run) | {"logdir": str(run.logdir.relative_to(folder))} for run in runs]


def _runs(plain: Sequence[Mapping[str, Any]], folder: Path) -> list[TimedRun]:
    return [TimedRun(**(dict(run) | {"logdir": folder / run["logdir"]})) for run in plain]


def _program(plain: Mapping[str, Any]) -> Program:
    folders = Folders(**{name: Path(path) for name, path in plain["folders"].items()})
    return Program(**(dict(plain) | {"folders": folders}))
