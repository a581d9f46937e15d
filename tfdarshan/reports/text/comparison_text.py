"""Words comparisons: data in, text out, at most 100 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tfdarshan.comparison.change import NOISE, SAME, UNKNOWN, Change, Comparison, Failure
from tfdarshan.comparison.likeness import NO, NOTED, WITH_CARE, Check
from tfdarshan.comparison.likeness import SAME as SAME_STATE
from tfdarshan.comparison.measured_run import Side
from tfdarshan.file_name import printable
from tfdarshan.sessions.overlap import overlap_lines
from tfdarshan.terminal.columns import Columns
from tfdarshan.units import human_seconds, shortened

WIDTH = 100
# From here on a change is worded as a factor.
MANY_TIMES = 10
CHANGES = Columns(-26, 14, 14, 12, "  ", 10, "  ", 0)
FILES = Columns(12, 12, 12)
SAID = {NO: "no, the work differs", WITH_CARE: "with care, conditions differ"}


def render(comparison: Comparison) -> str:
    """Gives a comparison as text, ending in a newline."""
    sections = [_likeness(comparison), _changes(comparison), _files(comparison)]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def render_side(side: Side) -> str:
    """Says in a line which sessions a label stands for, and in others which overlap these."""
    newest = side.newest.summary
    several = f", medians of {len(side.runs)} sessions" if len(side.runs) > 1 else ""
    head = f"{side.label}  {printable(newest.session)}{several}, in "
    lines = [head + shortened(printable(newest.path), WIDTH - len(head)), *overlap_lines(side.overlapping)]
    return "\n".join(lines) + "\n"


def render_failure(failure: Failure) -> str:
    """Says of a condition that it holds, or why it cannot be judged."""
    change, metric = failure.change, failure.change.metric
    figures = f"{metric.worded(change.before)} before, {metric.worded(change.after)} in {failure.run}"
    if failure.holds is None:
        return f"{failure.condition} cannot be judged: {metric.label} is {figures}."
    within = f", which is {NOISE} ({noise_text(change)})" if change.outcome == NOISE else ""
    return f"{failure.condition} holds: {metric.label} is {figures} ({change_text(change)}{within})."


def change_text(change: Change) -> str:
    """Words how much a figure changed: "+12.3 %", "same", "new" or "-"."""
    if change.outcome in (SAME, UNKNOWN):
        return {SAME: SAME, UNKNOWN: "-"}[change.outcome]
    if change.ratio is None:
        return "new"
    return f"{change.ratio + 1:,.0f}x" if change.ratio >= MANY_TIMES - 1 else f"{100 * change.ratio:+.1f} %"


def noise_text(change: Change) -> str:
    """Words the noise: "+-3.2 %", "" where there is none, "unknown"."""
    if change.noise == 0:
        return ""
    return "noise unknown" if change.noise is None else f"+-{100 * change.noise:.1f} %"


def sentence_of(verdict: str, checks: Sequence[Check]) -> str:
    """Says in one line whether two runs can be compared, and what speaks against it."""
    differ = [check.name for check in checks if check.state not in (SAME_STATE, NOTED)]
    return f"Comparable: {SAID.get(verdict, verdict)}" + (f" ({', '.join(differ)})." if differ else ".")


def _likeness(comparison: Comparison) -> list[str]:
    head = f"{comparison.second} against {comparison.first}. "
    lines = [head + sentence_of(comparison.comparable, comparison.checks)]
    for check in comparison.checks:
        mark = {SAME_STATE: " ", NOTED: "~"}.get(check.state, "!")
        lines += _wrapped(f"  {mark} {check.name:<18} ", check.sentence)
    return lines


def _wrapped(head: str, text: str) -> list[str]:
    return textwrap.wrap(printable(text), WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def _changes(comparison: Comparison) -> list[str]:
    lines = [CHANGES.row("What changed", comparison.first, comparison.second, "change", "noise")]
    for change in comparison.changes:
        if not change.before and not change.after:
            continue
        metric = change.metric
        values = (metric.worded(change.before), metric.worded(change.after))
        outcome = "" if change.outcome in (SAME, UNKNOWN) else change.outcome
        row = (f"  {metric.label}", *values, change_text(change), noise_text(change), outcome)
        lines.append(CHANGES.row(*row))
    return lines


def _files(comparison: Comparison) -> list[str]:
    lines = []
    for file in comparison.files:
        sign = "+" if file.difference_s > 0 else "-"
        difference = sign + human_seconds(abs(file.difference_s))
        row = FILES.row(human_seconds(file.first_s), human_seconds(file.second_s), difference) + "   "
        lines.append(row + shortened(printable(file.path), WIDTH - len(row)))
    head = FILES.row(comparison.first, comparison.second, "change") + "   path"
    return ["Files whose time in calls changed most", head, *lines] if lines else []


def render_failures(failures: Sequence[Failure]) -> str:
    """Gives a line for each."""
    return "".join(f"{printable(render_failure(failure))}\n" for failure in failures)
