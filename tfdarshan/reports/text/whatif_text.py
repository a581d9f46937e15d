"""Words what a step would take."""

from __future__ import annotations

from collections.abc import Sequence

from tfdarshan.analysis.calls.trace_span import TraceSpan
from tfdarshan.file_name import printable, shell_word
from tfdarshan.findings.promise_words import faster_words, speedup_words
from tfdarshan.findings.whatif import Question, WhatIf
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_seconds

QUESTIONS = Columns("  ", -30, 10, "  ", 0)


def whatif_text(found: WhatIf, width: int = WIDTH) -> str:
    """Return the answer as text, ending in a newline."""
    now, then = human_seconds(found.before_s), human_seconds(found.after_s)
    takes = f"A step, mean of {found.units:,}, takes" if found.unit == "step" else "The session takes"
    lines = wrap(f"{takes} {then} instead of {now}: {faster_words(found.gain)}.", width, hang="  ")
    for text in found.notes:
        lines += wrap(printable(text), width, "  - ", "    ")
    return "\n".join(lines) + "\n"


def questions_text(
    questions: Sequence[Question], path: str, span: TraceSpan | None, width: int = WIDTH
) -> str:
    """Return questions with their answers, a line each; `span` is what the trace covers."""
    first = questions[0].answer
    unit = "A step takes" if first.unit == "step" else "The session took"
    lines = [f"{unit} {human_seconds(first.before_s)}. What if ...", ""]
    rows = [
        (question.options, human_seconds(question.answer.after_s), speedup_words(question.answer.gain))
        for question in questions
    ]
    lines += Layout(QUESTIONS, rows, width).all_lines(rows)
    lines += ["", *wrap("The last column is the speedup, with its likely range in brackets.", width)]
    if span is not None:
        lines += ["", *wrap(span.sentence, width)]
    lines += ["", "To explain one of these answers, or to ask another question:"]
    lines.append(f"  tfdarshan whatif {shell_word(path)} {questions[0].options}")
    fast = "With --fast DIR, tfdarshan measures the device of DIR, and has all input on that device."
    lines += wrap(fast, width, hang="  ")
    return "\n".join(lines) + "\n"
