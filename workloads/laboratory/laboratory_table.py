"""The laboratory's outcome: a line a job, the totals, and the table between the marks of a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tfdarshan.errors import ConfigurationError

from .fix_pair import pair_lines, told_error
from .judgement import Judgement
from .laboratory_totals import (
    ERROR,
    MOST_ERROR,
    MOST_WIDTH,
    WIDTH,
    mean_width,
    median_error,
    missed,
    totals,
)

DRAW, BESIDE = "laboratory", "laboratory-beside"
BOUND = "; wanted "
NOISY = 1.1  # runs of the same job that differ more are said to
HEAD = ("seed", "best single fix", "first finding", "promised", "obtained", "finding", "promise")


def job_line(one: Judgement) -> str:
    """Return a job's outcome as one line."""
    best = f"{one.best} {one.best_gain:.2f}x" if one.best else f"nothing to fix ({one.best_gain:.2f}x)"
    typed = f"; {one.typed}" if one.typed else ""
    again = "; offered again" if one.again else ""
    unknown = "; a finding that the laboratory does not know" if one.unknown_name else ""
    crowd = f"; others took {one.crowded:.0%} of a processor" if one.crowded >= 0.25 else ""
    crowd += f"; runs before differ {one.noise:.2f} times" if one.noise >= NOISY else ""
    says = f"{one.said.first or one.said.state} {promised(one)}"
    judged = f"finding {one.first}, promise {one.promise}{typed}{again}{unknown}{crowd}"
    obtained = f"obtained {_obtained(one)}"
    return f"seed {one.seed}: {one.words} | best {best} | says {says} | {obtained} | {judged}"


def as_text(judgements: Sequence[Judgement]) -> str:
    """Return the totals."""
    lines = [total.line for total in totals(judgements)]
    width, error = mean_width(judgements), median_error(judgements)
    lines += [] if width is None else [f"{WIDTH}: {width:.2f}; wanted <= {MOST_WIDTH}"]
    lines += [] if error is None else [f"{ERROR}: {error:.3f}; wanted <= {MOST_ERROR}"]
    names = missed(judgements)
    lines += pair_lines([pair for one in judgements for pair in one.pairs])
    lines.append(f"bounds missed: {'; '.join(names) or 'none'}")
    return "\n".join(lines)


def fill_page(page: Path, judgements: Sequence[Judgement], drawn: str, framework: str = "tensorflow") -> None:
    """Put the totals that have a bound, and the jobs that were missed, between the marks of a page.

    Args:
        page: Which.
        judgements: What there is to tell, one at least.
        drawn: When, by which code and on which machine, as it was when the draw began.
        framework: Whose jobs they are: each one's have marks of their own.

    Raises:
        ConfigurationError: The page has none.
    """
    seeds = [one.seed for one in judgements]
    note = f"{len(judgements)} jobs of seeds {min(seeds)} to {max(seeds)}, drawn {drawn}.\n"
    counted = "".join(f"- {line}\n" for line in as_text(judgements).splitlines() if BOUND in line)
    missed_jobs = sorted(filter(_missed, judgements), key=lambda one: one.seed)
    lines = [HEAD, tuple("---" for _ in HEAD), *map(_row, missed_jobs)]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    others = len(judgements) - len(missed_jobs)
    rest = f"The other {others} jobs were judged rightly, or allow both answers.\n"
    mark = DRAW if framework == "tensorflow" else f"{DRAW}-{framework}"
    _fill(page, mark, f"{note}\n{counted}\n{table}\n{rest}")


def fill_beside(page: Path, today: Sequence[Judgement], other: Sequence[Judgement], version: str) -> None:
    """Put what today's tool and another version reach on the same jobs between the marks of a page.

    Args:
        page: Which.
        today: The jobs, judged by what today's tool says.
        other: The same jobs, by what the other version said.
        version: Its name.

    Raises:
        ConfigurationError: The page has no such marks.
    """
    _fill(page, BESIDE, beside(today, other, version))


def beside(today: Sequence[Judgement], other: Sequence[Judgement], version: str) -> str:
    """Return the table of both."""
    rows = [
        (one.words, *(f"{total.hits} of {total.of}" for total in (one, another)))
        for one, another in zip(totals(today), totals(other), strict=True)
    ]
    rows += [(WIDTH, *(_figure(mean_width(judged)) for judged in (today, other)))]
    errors = [told_error([pair for one in judged for pair in one.pairs]) for judged in (today, other)]
    rows += [(f"{ERROR}; a fix that no finding names is expected to change nothing", *map(_figure, errors))]
    head = [("", "this version", version), ("---",) * 3]
    return "".join(f"| {' | '.join(line)} |\n" for line in [*head, *rows])


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _fill(page: Path, mark: str, text: str) -> None:
    begin, end = f"<!-- {mark}:begin -->\n", f"<!-- {mark}:end -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ConfigurationError(f"{page} has no {begin.strip()} and {end} to fill.")
    page.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")


def promised(one: Judgement) -> str:
    """Word a promise: expected, and from lower to upper bound."""
    if one.said.promise is None:
        return "-"
    low, expected, high = one.said.promise
    return f"{expected:.2f}x ({low:.2f}x to {_times(high)})"


def _missed(one: Judgement) -> bool:
    return one.first not in ("right", "quiet", "marginal", "unclear") or one.promise in (
        "below",
        "above",
        "missed",
    )


def _row(one: Judgement) -> tuple[str, ...]:
    best = f"{one.best} {one.best_gain:.2f}x" if one.best else "nothing to fix"
    first = one.said.first or one.said.state
    return (
        str(one.seed),
        best,
        first,
        promised(one),
        _obtained(one),
        one.first,
        one.promise,
    )


def _obtained(one: Judgement) -> str:
    if one.obtained is None or one.obtained_range is None:
        return "-"
    low, high = one.obtained_range
    return f"{_times(one.obtained)} ({low:.2f}x to {_times(high)})"


def _times(value: float | None) -> str:
    if value is None:
        return "-"
    return "any" if value > 1e6 else f"{value:.2f}x"
