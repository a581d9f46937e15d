"""What tfdarshan says of a job.

As a program it asks the tfdarshan that it runs with, of whatever version, about jobs that were kept:
`python workloads/laboratory/said.py KEPT said.json`. `--judge-again KEPT --said said.json` then judges that.
It imports nothing of the laboratory.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tfdarshan.errors import TfdarshanError
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import open_session

if TYPE_CHECKING:
    from tfdarshan.findings.diagnosis import Diagnosis
    from tfdarshan.findings.finding import Finding

Unit = Literal["training", "step", "session"]
# A lower bound, what is expected, and an upper bound, in times faster.
Range = tuple[float, float, float]
LEAST_GAIN = 1.05
# Say something else than a fix: never a promise.
REMARKS = ("input_bound", "page_cache", "mapped_cached", "low_coverage", "truncated_trace")
# An open upper bound is this.
OPEN_END = 1e9


@dataclass(frozen=True)
class Promised:
    """What one finding promises: its gain, of steps or of all of the session."""

    name: str
    gain: Range
    unit: Unit


@dataclass(frozen=True)
class Said:
    """What the tool says first.

    Attributes:
        state: "slow", "healthy" or "unknown".
        first: The headline's finding, "" where it names none.
        promise: Its gain: lower bound, expected, upper bound; None where it promises none.
        problems: Names of all problems.
        cures: What their fixes say to write, in the same order.
        notes: Names of notes that promise LEAST_GAIN or more.
        unit: What the promise is of: step time, or all of the session.
        line: What its fix says to write.
        instead_of: And to take out.
        promised: What all findings promise, those before others first.
    """

    state: str
    sentence: str
    first: str
    promise: Range | None
    problems: tuple[str, ...]
    line: str = ""
    instead_of: str = ""
    cures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unit: Unit = "step"
    promised: tuple[Promised, ...] = ()

    def offers(self, other: Said) -> bool:
        """Whether it offers the kind of fix that another one offers first, with whatever numbers."""
        offered = [(self.first, self.line), *zip(self.problems, self.cures, strict=False)]
        kinds = {(name, _without_numbers(line)) for name, line in offered}
        return bool(other.first) and (other.first, _without_numbers(other.line)) in kinds


def _without_numbers(line: str) -> str:
    """Return a line with the same word for each number."""
    return re.sub(r"\b\d[\d_.]*\b", "N", line)


def said_of(logdir: Path) -> Said:
    """Ask the tool about a session."""
    try:
        return said_in(diagnose(open_session(logdir)))
    except TfdarshanError as error:
        return Said("unknown", str(error), "", None, ())


def said_in(diagnosis: Diagnosis) -> Said:
    """Take from a diagnosis what is judged."""
    verdict = diagnosis.verdict
    first = verdict.finding if verdict.finding not in REMARKS else ""
    finding = next((one for one in diagnosis.findings if one.name == first), None)
    fix = _fix_of(finding) if finding is not None else None
    gain = verdict.gain if first else None
    return Said(
        verdict.state,
        verdict.sentence,
        first,
        None if gain is None else (gain.speedup_range[0], gain.speedup, min(gain.speedup_range[1], OPEN_END)),
        tuple(one.name for one in diagnosis.problems),
        fix.line if fix else "",
        fix.instead_of if fix else "",
        tuple(fix.line if (fix := _fix_of(one)) else "" for one in diagnosis.problems),
        tuple(one.name for one in diagnosis.findings if one.kind == "note" and _is_worth_it(one)),
        "session" if gain is not None and gain.unit == "session" else "step",
        tuple(promised for one in diagnosis.findings if (promised := _promised(one)) is not None),
    )


def _fix_of(finding: Finding) -> Any:
    """Return what to do; older versions of tfdarshan have it as "cure"."""
    return finding.fix if hasattr(finding, "fix") else getattr(finding, "cure", None)


def _promised(finding: Finding) -> Promised | None:
    gain = finding.gain
    if gain is None:
        return None
    low, high = gain.speedup_range
    unit: Unit = "session" if gain.unit == "session" else "step"
    return Promised(finding.name, (low, gain.speedup, min(high, OPEN_END)), unit)


def _is_worth_it(finding: Finding) -> bool:
    return finding.gain is not None and finding.gain.speedup >= LEAST_GAIN


def read_said(path: Path) -> dict[int, Said]:
    """Return what was said of each seed.

    Raises:
        OSError: The file cannot be read.
        ValueError, KeyError, TypeError: It is of another shape.
    """
    return {
        int(seed): said_from(plain) for seed, plain in json.loads(path.read_text(encoding="utf-8")).items()
    }


def said_from(plain: dict[str, Any]) -> Said:
    """Return what `dataclasses.asdict` and JSON made of it."""
    listed: dict[str, Any] = {name: tuple(one) for name, one in plain.items() if isinstance(one, list)}
    of_all = plain.get("promised", ())
    promised = tuple(Promised(one["name"], tuple(one["gain"]), one["unit"]) for one in of_all)
    return Said(**(plain | listed | {"promised": promised}))


def main(kept: Path, to: Path) -> None:
    """Ask about the recorded run of each job that was kept, and write what is said."""
    said = {}
    for record in sorted(kept.glob("*/trial.json")):
        trial = json.loads(record.read_text(encoding="utf-8"))
        found = said_of(record.parent / trial["before"][0]["logdir"])
        print(f"seed {trial['seed']}: {found.sentence}", flush=True)
        said[trial["seed"]] = dataclasses.asdict(found)
    to.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: said.py KEPT FILE: the folder of --keep, and where what is said is written")
    main(*map(Path, sys.argv[1:]))
