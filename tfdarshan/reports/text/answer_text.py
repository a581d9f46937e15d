"""Words the answer to "why is it slow, and what do I do": the verdict, its fix's lines, a step's parts."""

from __future__ import annotations

from tfdarshan.file_name import printable
from tfdarshan.findings.diagnosis import Diagnosis
from tfdarshan.findings.step_split import StepPart
from tfdarshan.findings.verdict import explanation, record_sentence
from tfdarshan.reports.text.step_text import length_words
from tfdarshan.terminal.paint import Paint
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import percent

MARKS = {
    "worker_starts": "s",
    "storage": "#",
    "page_faults": "f",
    "decoding": "d",
    "other_wait": "o",
    "own_calls": "w",
    "compute": ".",
}
SHORTEST_BAR, WIDEST_BAR = 10, 60
# A part that is shorter is not worth a place in the legend.
LEAST_SHARE = 0.005


def answer_text(diagnosis: Diagnosis, paint: Paint) -> list[str]:
    """Return its lines, within `paint.width` columns but for the lines of the fix."""
    verdict = diagnosis.verdict
    lines = [paint.bold(line) for line in wrap(printable(verdict.sentence), paint.width)]
    for said in (*verdict.notes, *filter(None, [record_sentence(verdict)])):
        lines += wrap(printable(said), paint.width)
    change = [*explanation_lines(diagnosis, paint), *change_lines(diagnosis, paint)]
    lines += ["", *change] if change else []
    bar = step_bar(diagnosis, paint)
    return [*lines, "", *bar] if bar else lines


def explanation_lines(diagnosis: Diagnosis, paint: Paint) -> list[str]:
    """Return what the named fix says beyond the sentence of the verdict and its notes."""
    named = diagnosis.named
    if named is None or named.fix is None:
        return []
    beyond = explanation(named.fix.what)
    for note in filter(None, diagnosis.verdict.notes):
        beyond = beyond.replace(note, "")
    return wrap(printable(beyond.strip()), paint.width)


def change_lines(diagnosis: Diagnosis, paint: Paint) -> list[str]:
    """Return the lines to change of the fix that the verdict names; a command as it is to be typed."""
    named = diagnosis.named
    if named is None or named.fix is None:
        return []
    added = [printable(line) for line in named.fix.line.splitlines()]
    if not named.fix.instead_of:
        return [paint.added(f"    {line}") for line in added]
    removed = [printable(line) for line in named.fix.instead_of.splitlines()]
    return [paint.removed(f"  - {line}") for line in removed] + [paint.added(f"  + {line}") for line in added]


def step_bar(diagnosis: Diagnosis, paint: Paint) -> list[str]:
    """Draw where steps' time goes, and say what the marks stand for; nothing where that is not known."""
    parts = diagnosis.parts
    whole_s = sum(part.seconds for part in parts)
    if whole_s <= 0 or diagnosis.step is None:
        return []
    head = f"A step: {length_words(diagnosis.step)} "
    room = paint.width - len(head) - 2
    if room < SHORTEST_BAR:
        head, room = f"{head.strip()}\n  ", paint.width - 4
    drawn = _marks(parts, min(room, WIDEST_BAR))
    legend = ", ".join(
        f"{MARKS[part.name]} {part.label} {percent(part.seconds, whole_s)}"
        for part in parts
        if part.seconds >= LEAST_SHARE * whole_s
    )
    of_what = "" if diagnosis.verdict.epochs is None else "all epochs together: "
    return [*f"{head}[{drawn}]".splitlines(), *wrap(of_what + legend, paint.width, "  ")]


def _marks(parts: tuple[StepPart, ...], width: int) -> str:
    """Return as many marks as the parts' shares; ends are rounded, so that all together fill the width."""
    whole_s, reached_s, drawn = sum(part.seconds for part in parts), 0.0, ""
    for part in parts:
        reached_s += part.seconds
        drawn += MARKS[part.name] * (round(width * reached_s / whole_s) - len(drawn))
    return drawn
