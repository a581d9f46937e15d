"""Words comparisons: data in, text out, within the width of the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from tfdarshan.analysis.ranks.processor_share import others_sentence
from tfdarshan.comparison.change import (
    BETTER,
    CHANGED,
    LEAST_CHANGE,
    NOISE,
    SAME,
    UNKNOWN,
    WORSE,
    Change,
    Comparison,
    Failure,
)
from tfdarshan.comparison.likeness import NO, NOTED, WITH_CARE, Check
from tfdarshan.comparison.likeness import SAME as SAME_STATE
from tfdarshan.comparison.measured_run import Side
from tfdarshan.comparison.metric import COUNT, SHARE, find_metric
from tfdarshan.comparison.rank_change import RankChange
from tfdarshan.file_name import printable
from tfdarshan.sessions.overlap import overlap_lines
from tfdarshan.terminal.columns import Columns, fitted
from tfdarshan.terminal.layout import WIDE, Layout, fact_lines
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_seconds, plural, shortened

# From here on a change is worded as a factor.
MANY_TIMES = 10
CHANGES = Columns(-26, 15, 15, 13, "  ", 11, "  ", 0)
# On a narrow terminal a figure's name stands above it.
BELOW = Columns("  ", 14, 15, 11)
FILES = Columns(15, 15, 12, "   ", 0)
MOST_CHARACTERS, NARROW_CHARACTERS, LEAST_PATH = 14, 12, 24
MOST_RANKS = 5
CHECK = 21
MARKS = {"!": "!: this difference matters", "~": "~: this difference may matter"}
SAID = {NO: "no, the work differs", WITH_CARE: "with care, conditions differ"}


def render(comparison: Comparison, width: int = WIDTH) -> str:
    """Return a comparison as text, ending in a newline."""
    said = wrap(printable(headline(comparison.comparable, comparison.changes)), width)
    sections = [
        said,
        _likeness(comparison, width),
        _changes(comparison, width),
        _ranks(comparison, width),
        _files(comparison, width),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def headline(comparable: str, changes: Sequence[Change]) -> str:
    """Say first what became of the job: "3.26x faster: a step takes 36.5 ms (before: 118.9 ms)."."""
    change = of_the_job(changes)
    if change is None:
        return "Which of the runs is faster is not known: one does not say how long it took."
    what = "a step takes" if change.metric.name == "step_time" else "the session took"
    figures = f"{what} {change.metric.worded(change.after)} (before: {change.metric.worded(change.before)})"
    if comparable == NO:
        return f"The runs did different work, so their times say little: {figures}."
    if change.outcome in (BETTER, WORSE):
        return f"{change.times:.2f}x {'faster' if change.outcome == BETTER else 'slower'}: {figures}."
    if change.outcome == NOISE:
        return f"Neither faster nor slower by more than noise ({noise_text(change)}): {figures}."
    if change.outcome == CHANGED:
        return f"Whether it is faster by more than noise is not known: {figures}."
    return f"As fast as before: {figures}."


def of_the_job(changes: Sequence[Change]) -> Change | None:
    """Return the time of a step; of runs without steps how long they took."""
    for name in ("step_time", "duration"):
        change = next(one for one in changes if one.metric is find_metric(name))
        if change.outcome != UNKNOWN:
            return change
    return None


def render_side(side: Side, width: int = WIDTH) -> str:
    """Say in a line which sessions a label stands for, and in others which overlap these."""
    newest = side.newest.summary
    several = f", medians of {len(side.runs)} sessions" if len(side.runs) > 1 else ""
    which = "" if side.label == newest.session else f"{printable(newest.session)}, "
    head = f"{printable(side.label)}{several}: {which}in "
    lines = [
        head + shortened(printable(newest.path), max(width - len(head), LEAST_PATH)),
        *overlap_lines(side.overlapping),
    ]
    return "\n".join(lines) + "\n"


def render_failure(failure: Failure) -> str:
    """Say of a condition that it holds, or why it cannot be judged."""
    change, metric = failure.change, failure.change.metric
    before, after = (
        "unknown" if value is None else metric.worded(value) for value in (change.before, change.after)
    )
    figures = f"{before} before, {after} in {failure.run}"
    if failure.holds is None:
        return f"{failure.condition} cannot be judged: {metric.label} is {figures}."
    within = f", which is {NOISE} ({noise_text(change)})" if change.outcome == NOISE else ""
    return f"{failure.condition} holds: {metric.label} is {figures} ({change_text(change)}{within})."


def change_text(change: Change) -> str:
    """Word how much a figure changed: "+12.3 %", "+1.2 points", "same", "new" or "-"."""
    if change.outcome in (SAME, UNKNOWN):
        return {SAME: SAME, UNKNOWN: "-"}[change.outcome]
    difference = (change.after or 0.0) - (change.before or 0.0)
    if change.metric.unit == SHARE:
        points = f"{100 * difference:+.1f} points"
        return "< 0.1 points" if points[1:] == "0.0 points" else points
    if change.ratio is None:
        return "new"
    share = f"{100 * change.ratio:+.1f} %"
    if change.times < 1 + LEAST_CHANGE or share[1:] == "0.0 %":
        # As many digits as a share has would say that nothing changed.
        return f"{difference:+,.0f}" if change.metric.unit == COUNT else "< 0.1 %"
    if share == "-100.0 %" and change.after:
        return "over 99.9 % less"
    return f"{change.ratio + 1:,.0f}x" if change.ratio >= MANY_TIMES - 1 else share


def noise_text(change: Change) -> str:
    """Word the noise: "±3.2 %", of a share "±1.2 points", "" where there is none, "unknown"."""
    if change.noise == 0:
        return ""
    if change.noise is None:
        return "noise unknown"
    if change.metric.unit == SHARE:
        return f"±{100 * change.noise * (change.before or 0.0):.1f} points"
    return f"±{100 * change.noise:.1f} %"


def sentence_of(verdict: str, checks: Sequence[Check]) -> str:
    """Say in one line whether two runs can be compared, and what speaks against it."""
    differ = [check.name for check in checks if check.state not in (SAME_STATE, NOTED)]
    return f"Comparable: {SAID.get(verdict, verdict)}" + (f" ({', '.join(differ)})." if differ else ".")


def _likeness(comparison: Comparison, width: int) -> list[str]:
    head = f"{printable(comparison.first)} -> {printable(comparison.second)}. "
    lines = wrap(head + sentence_of(comparison.comparable, comparison.checks), width)
    marks = [{SAME_STATE: "", NOTED: "~"}.get(check.state, "!") for check in comparison.checks]
    facts = [
        (f"{mark:2}{check.name}", printable(check.sentence))
        for mark, check in zip(marks, comparison.checks, strict=True)
    ]
    legend = [words for mark, words in MARKS.items() if mark in marks]
    return [*lines, *fact_lines(facts, width, CHECK, "  "), *wrap("; ".join(legend), width, "  ")]


def _changes(comparison: Comparison, width: int) -> list[str]:
    most = MOST_CHARACTERS if width >= WIDTH else NARROW_CHARACTERS
    names = [shortened(printable(name), most) for name in (comparison.first, comparison.second)]
    shown = [change for change in comparison.changes if change.before or change.after]
    table = [("What changed", *names, "change", "noise", ""), *map(_change_row, shown)]
    return _change_lines(table, width)


def _change_row(change: Change) -> tuple[str, ...]:
    metric = change.metric
    values = (metric.worded(change.before), metric.worded(change.after))
    outcome = "" if change.outcome in (SAME, UNKNOWN) else change.outcome
    return f"  {metric.label}", *values, change_text(change), noise_text(change), outcome


def _change_lines(table: Sequence[tuple[str, ...]], width: int) -> list[str]:
    """Return a figure's row, or its name and a row below it where that does not fit in one."""
    if width >= WIDE:
        layout = Layout(CHANGES, table, width, least=(4,), below=False)
        return [*layout.all_lines(table), *wrap(layout.note(), width)]
    same = [row[0].strip() for row in table if row[3] == SAME]
    rows = [row for row in table if row[3] != SAME]
    named = (f"{row[0]}: {row[5]}" if row[5] else row[0] for row in rows)
    lines = [line for name, row in zip(named, rows, strict=True) for line in (name, BELOW.row(*row[1:4]))]
    return [*lines, *(wrap(f"The same: {', '.join(same)}.", width, "  ") if same else [])]


def _ranks(comparison: Comparison, width: int) -> list[str]:
    found = comparison.ranks
    if found is None:
        return []
    names = [shortened(printable(name), MOST_CHARACTERS) for name in (comparison.first, comparison.second)]
    rows = [
        (f"  {change.rank}", shortened(printable(change.host), MOST_CHARACTERS), *rank_cells(change))
        for change in found.changes[:MOST_RANKS]
    ]
    lines = [
        f"Ranks that changed most: {found.measure}",
        *fitted([("  rank", "host", *names, "change"), *rows]),
    ]
    if len(found.changes) > MOST_RANKS:
        lines.append(f"  and {plural(len(found.changes) - MOST_RANKS, 'more rank')} (--json lists all)")
    for name, only in ((comparison.first, found.only_first), (comparison.second, found.only_second)):
        if only:
            said = f"only {printable(name)} has {plural(len(only), 'rank')} more, the first is {only[0]}"
            lines += wrap(said, width, "  ")
    return lines


def rank_cells(change: RankChange) -> tuple[str, str, str]:
    """Word a rank's seconds before and after, and the difference."""
    sign = "+" if change.difference_s > 0 else "-"
    difference = f"{sign}{human_seconds(abs(change.difference_s))}" if change.difference_s else SAME
    return human_seconds(change.before_s), human_seconds(change.after_s), difference


def _files(comparison: Comparison, width: int) -> list[str]:
    names = [shortened(printable(name), MOST_CHARACTERS) for name in (comparison.first, comparison.second)]
    table = [(*names, "change", "path")]
    for file in comparison.files:
        if abs(file.difference_s) < LEAST_CHANGE * max(file.first_s, file.second_s):
            continue
        sign = "+" if file.difference_s > 0 else "-"
        difference = sign + human_seconds(abs(file.difference_s))
        times = human_seconds(file.first_s), human_seconds(file.second_s)
        table.append((*times, difference, printable(file.path)))
    lines = Layout(FILES, table, width, cut=shortened).all_lines(table)
    return ["Files whose time in calls changed most", *lines] if len(table) > 1 else []


def render_failures(failures: Sequence[Failure], sides: Sequence[Side] = ()) -> str:
    """Return a line for each, and one on other programs, which disturb times, if they took enough for a word.

    Args:
        failures: The conditions.
        sides: The runs that they are of.
    """
    lines = [printable(render_failure(failure)) for failure in failures]
    if any(failure.change.metric.is_timed for failure in failures):
        shares = [run.summary.others_share for side in sides for run in side.runs]
        most = max((share for share in shares if share is not None), default=None)
        lines += filter(None, [others_sentence(most)])
    return "".join(f"{line}\n" for line in lines)
