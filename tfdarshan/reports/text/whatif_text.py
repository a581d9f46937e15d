"""Words what a step would take."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tfdarshan.analysis.trace_span import TraceSpan
from tfdarshan.file_name import printable
from tfdarshan.findings.finding import Gain
from tfdarshan.findings.whatif import Parts, Question, WhatIf
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_bytes, human_seconds, human_times, plural

# More than this, in bytes per second, is what is left where all time is waiting.
MOST_BANDWIDTH_BYTES = 1e13
PARTS = Columns("  ", -24, 14, 14)
QUESTIONS = Columns("  ", -30, 10, "  ", 0)
LABELS = (
    ("storage (T_s)", "storage_s"),
    ("pipeline's other work", "other_s"),
    ("compute and the rest", "compute_s"),
    ("  of it copies (T_d)", "data_s"),
    ("  communication (T_w)", "weights_s"),
    ("step", "step_s"),
)


def whatif_text(found: WhatIf, width: int = WIDTH) -> str:
    """Gives the answer as text, ending in a newline."""
    size = found.moved_bytes / found.requests if found.requests else 0.0
    head = (
        f"A {found.unit}, mean of {found.units:,}: {found.requests:,.1f} reads of {human_bytes(size)}"
        if found.unit == "step"
        else f"The session: {plural(round(found.requests), 'read')} of {human_bytes(size)}"
    )
    table = [("", "now", "then")]
    for label, name in LABELS:
        if getattr(found.before, name) is None:
            continue
        label = found.unit if label == "step" else label
        now, then = (human_seconds(getattr(parts, name)) for parts in (found.before, found.after))
        table.append((label, now, then))
    lines = [*wrap(head, width, hang="  "), *Layout(PARTS, table, width).all_lines(table)]
    lines += [f"  {_speedup(found.gain)}", "", "Storage", *_storage(found, width), "", "Assumptions"]
    for text in found.assumptions:
        lines += wrap(printable(text), width, "  - ", "    ")
    return "\n".join(lines) + "\n"


def questions_text(
    questions: Sequence[Question], path: str, span: TraceSpan | None, width: int = WIDTH
) -> str:
    """Gives each question with its answer in a line, ending in a newline; `span` is what the trace covers."""
    first = questions[0].answer
    unit = "A step takes" if first.unit == "step" else "The session took"
    lines = [f"{unit} {human_seconds(first.before.step_s)}. What if ...", ""]
    rows = [
        (question.options, human_seconds(question.answer.after.step_s), _speedup(question.answer.gain))
        for question in questions
    ]
    lines += Layout(QUESTIONS, rows, width).all_lines(rows)
    if span is not None:
        lines += ["", *wrap(span.sentence, width)]
    lines += ["", "One of them with what it assumes, or another one:"]
    lines.append(f"  tfdarshan whatif {shlex.quote(printable(path))} {questions[0].options}")
    lines += wrap("Also --fast DIR: everything on the device of DIR, which is measured.", width, hang="  ")
    return "\n".join(lines) + "\n"


def _speedup(gain: Gain) -> str:
    low, high = (human_times(bound) for bound in gain.speedup_range)
    return f"{human_times(gain.speedup)} as fast" + (f", between {low} and {high}" if low != high else "")


def _storage(found: WhatIf, width: int) -> list[str]:
    if found.before.device is None:
        nothing = (
            "next to nothing came from storage, the rest from the page cache: other storage changes nothing"
        )
        return wrap(nothing, width, "  ")
    guessed = "" if found.sizes_tell else ", assumed: these reads do not show it"
    now, then = (_device(parts, guessed) for parts in (found.before, found.after))
    return [line for text in (f"now:  {now}", f"then: {then}") for line in wrap(text, width, "  ", " " * 8)]


def _device(parts: Parts, guessed: str) -> str:
    device = parts.device
    if device is None:
        return "another device, as measured"
    waits = f"{human_seconds(device.latency_s)} a read with its opens and stats"
    waits += f", {device.concurrency:.1f} at a time"
    if device.bandwidth_bytes > MOST_BANDWIDTH_BYTES:
        return f"{waits}; a byte takes no time that could be told"
    return f"{waits}; {human_bytes(device.bandwidth_bytes)}/s together{guessed}"
