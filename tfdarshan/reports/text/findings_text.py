"""Words a diagnosis: data in, lines out; all but those of fixes fit the width."""

from __future__ import annotations

from tfdarshan.file_name import printable
from tfdarshan.findings import input_bound
from tfdarshan.findings.diagnosis import Diagnosis
from tfdarshan.findings.finding import Finding, Gain
from tfdarshan.findings.overlapping_fixes import fix_once, one_of_words
from tfdarshan.findings.promise_words import faster_words, open_sentence, surely_faster
from tfdarshan.findings.verdict import record_sentence
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_seconds, percent, shortened

# What others claim but for less than this is theirs.
LEAST_COST_SHARE = 0.0005
HEADINGS = {"doubt": "Why other figures may be wrong", "problem": "What costs time", "note": "Also found"}


def verdict_text(diagnosis: Diagnosis, width: int = WIDTH) -> str:
    """Return the verdict as a paragraph, what else to know, and what to record where it cannot tell."""
    lines = wrap(printable(diagnosis.verdict.sentence), width)
    for said in (*diagnosis.verdict.notes, *filter(None, [record_sentence(diagnosis.verdict)])):
        lines += wrap(printable(said), width)
    return "\n".join(lines) + "\n"


def findings_text(diagnosis: Diagnosis, width: int = WIDTH) -> str:
    """Return everything that was found, ending in a newline."""
    parts = [verdict_text(diagnosis, width)]
    if diagnosis.trace_span is not None:
        parts.append("\n".join(wrap(diagnosis.trace_span.sentence, width)) + "\n")
    for kind, heading in HEADINGS.items():
        found = [finding for finding in diagnosis.findings if finding.kind == kind]
        if found:
            said = "\n".join(_finding(finding, diagnosis, width) for finding in found)
            parts.append(f"{heading}\n\n{said}")
    if diagnosis.unknown:
        lines = ["What this session does not tell"]
        for entry in diagnosis.unknown:
            record = f" ({entry.record})" if entry.record and entry.record != diagnosis.verdict.record else ""
            lines += _wrapped(f"{entry.why[:1].upper()}{entry.why[1:]}{record}", width, "  ")
        parts.append("\n".join(lines) + "\n")
    if diagnosis.left_out.worth_saying:
        parts.append("\n".join(_wrapped(diagnosis.left_out.sentence, width, "")) + "\n")
    return "\n".join(parts)


def gain_text(gain: Gain) -> str:
    """Word a gain: "training gets 1.40x faster (likely 1.20x to 1.60x), a step of 1.0 s takes 0.3 s less"."""
    saved = human_seconds(gain.saved_s) if gain.supported else f"up to {human_seconds(gain.high_s)}"
    takes = "takes" if surely_faster(gain) else "may take"
    return f"{faster_words(gain)}: a {gain.unit} of {human_seconds(gain.before_s)} {takes} {saved} less"


def cost_text(finding: Finding) -> str:
    """Word what a finding costs: "12.0 ms a step, 4.0 %"; "" where next to nothing."""
    bounded = finding.gain is not None and not finding.gain.supported
    if finding.cost_share < LEAST_COST_SHARE or finding.name == input_bound.NAME or bounded:
        # Its title or the most that its fix gives say it.
        return ""
    further = ", once the fixes above are made" if _is_further(finding) else ""
    return f"{human_seconds(finding.cost_s)} a {finding.unit}, {percent(finding.cost_share, 1)}{further}"


def _is_further(finding: Finding) -> bool:
    """Say whether findings before it have claimed some of the time that its fix gives back."""
    gain = finding.gain
    return gain is not None and gain.saved_s - finding.cost_s >= LEAST_COST_SHARE * gain.before_s


def _finding(finding: Finding, diagnosis: Diagnosis, width: int) -> str:
    fix, one_of = fix_once(finding, diagnosis.findings), one_of_words(finding, diagnosis.findings)
    cost = cost_text(finding)
    title = f"* {finding.title}{f': costs {cost}' if cost else ''}"
    lines = _wrapped(title, width, "  ", hang="    ")
    lines += _wrapped(finding.what, width, "    ")
    lines += _wrapped(one_of, width, "    ") if one_of else []
    if fix is not None:
        lines += _wrapped(f"Fix: {fix.what}", width, "    ")
        lines += [f"      - {printable(line)}" for line in fix.instead_of.splitlines()]
        lines += [f"      + {printable(line)}" for line in fix.line.splitlines()]
    if finding.gain is not None:
        label = "Speedup of this fix alone" if _is_further(finding) else "Speedup"
        lines += _wrapped(f"{label}: {gain_text(finding.gain)}", width, "    ")
        for entry in finding.gain.hangs_on:
            lines += _wrapped(open_sentence(entry), width, "    ")
    numbers = "; ".join(f"{entry.label}: {entry.text}" for entry in finding.evidence)
    lines += _wrapped(f"Shown by: {numbers}", width, "    ") if numbers else []
    lines += ["    Files:"] if finding.files else []
    lines += [f"      {shortened(printable(path), width - 6)}" for path in finding.files]
    # Who is told to do nothing has nothing to ignore.
    ignore = finding.not_worth if finding.fix is not None else ""
    lines += _wrapped(f"Ignore this if {ignore}.", width, "    ") if ignore else []
    return "\n".join(lines) + "\n"


def _wrapped(text: str, width: int, indent: str, hang: str | None = None) -> list[str]:
    return wrap(printable(text), width, indent, hang)
