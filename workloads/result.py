"""What a run of a workload gives: arms, checks, rows of the table; kept as one JSON file."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tfdarshan.errors import SessionDataError, StorageError, reason

# How a row's two sides compare.
EXACT = "exact"  # must be equal
SHAPE = "shape"  # the form of the curve
ASSUMED = "assumed"  # an input of the emulation or of the model
SCALE = "scale"  # smaller here

# What a row has in place of a figure that the paper lacks.
NO_FIGURE = "-"

RESULTS = "results"


@dataclass(frozen=True)
class Row:
    """One line of the table: what the paper reports and what came out here."""

    what: str
    paper: str
    here: str
    kind: str
    note: str = ""


@dataclass(frozen=True)
class Check:
    """Something that must be equal: counted by the session, and known from the files."""

    what: str
    expected: int
    counted: int

    @property
    def ok(self) -> bool:
        """Whether they are."""
        return self.expected == self.counted


@dataclass
class Arm:
    """One setting of a workload, run several times."""

    name: str
    settings: dict[str, Any]
    values: dict[str, list[float]] = field(default_factory=dict)
    sessions: list[str] = field(default_factory=list)

    def add(self, **values: float) -> None:
        """Add what one run measured."""
        for name, value in values.items():
            self.values.setdefault(name, []).append(float(value))

    def median(self, name: str) -> float:
        """Return the median of the runs."""
        return statistics.median(self.values[name])

    def worded(self, name: str, unit: str = "", digits: int = 2) -> str:
        """Return the median and, of several runs, the smallest and the largest."""
        values, space = self.values[name], f" {unit}" if unit else ""
        middle = f"{statistics.median(values):.{digits}f}{space}"
        if len(values) == 1:
            return middle
        return f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"


@dataclass
class Result:
    """A whole run."""

    workload: str
    tier: str
    tier_said: str
    quick: bool
    repeats: int
    machine: str
    settings: dict[str, Any] = field(default_factory=dict)
    arms: list[Arm] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    legend: list[str] = field(default_factory=list)  # what is the same on every tier

    def arm(self, name: str) -> Arm:
        """Return the arm of that name, made where there is none."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        self.arms.append(Arm(name, {}))
        return self.arms[-1]

    def check(self, what: str, expected: int, counted: int) -> None:
        """Add a check; one that holds in every run is kept once."""
        check = Check(what, int(expected), int(counted))
        if check not in self.checks:
            self.checks.append(check)

    def row(self, what: str, paper: str, here: str, kind: str, note: str = "") -> None:
        """Add a row of the table."""
        self.rows.append(Row(what, paper, here, kind, note))

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check.ok for check in self.checks)


def write_result(result: Result, work_dir: Path) -> Path:
    """Write a result to `<work_dir>/results/<workload>-<tier>.json`, whole or not at all.

    Raises:
        StorageError: It cannot be written.
    """
    tier = "".join(letter if letter.isalnum() else "_" for letter in result.tier)
    name = f"{result.workload}-{tier}" if tier else result.workload
    path = work_dir / RESULTS / f"{name}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(result), indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise StorageError(f"the result {path} was not written: {reason(error)}.") from error
    return path


def read_results(work_dir: Path) -> list[Result]:
    """Return the results below `work_dir`, by name.

    Raises:
        SessionDataError: There is none, or one is damaged.
    """
    paths = sorted((work_dir / RESULTS).glob("*.json"))
    if not paths:
        raise SessionDataError(f"there is no result in {work_dir}: `tfdarshan workload run NAME` makes one.")
    return [_read(path) for path in paths]


def _read(path: Path) -> Result:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        data["arms"] = [Arm(**arm) for arm in data["arms"]]
        data["checks"] = [Check(**check) for check in data["checks"]]
        data["rows"] = [Row(**row) for row in data["rows"]]
        return Result(**data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SessionDataError(
            f"the result {path} cannot be read: {reason(error)}: delete it, or run the workload again."
        ) from error
