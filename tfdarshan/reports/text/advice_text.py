"""The advice as text; its paragraphs fit the width of the terminal."""

from __future__ import annotations

from tfdarshan.analysis.ranks.processor_share import others_sentence
from tfdarshan.analysis.storage.time_model import TimeModel
from tfdarshan.file_name import printable
from tfdarshan.reports.text.later_epochs_text import later_gain, pays, which_epoch
from tfdarshan.staging.advice import Advice
from tfdarshan.staging.expectation import Expectation
from tfdarshan.staging.question import RuleResult
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout, fact_lines
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import (
    human_bytes,
    human_faster,
    human_range,
    human_seconds,
    human_times,
    percent,
    plural,
    shortened,
)

BAR = 40
WAIT_UNKNOWN = (
    "the gain is not certain, because no step says how long it waits for input: mark steps, and record again"
)
WAIT_HIDDEN = (
    "the gain is not certain, because the accelerator may compute while the training loop waits: time "
    "steps that all use one batch, which no copy makes faster"
)
# Characters of a line of the curve beside its bar.
BESIDE_BAR = 22
HANG = "    "
CURVE_LINES = 10
# Whole blocks that take less than this are as good as the files' own bytes.
NOTABLY_MORE = 1.01
JOB, TIER = 18, 36
RULES = Columns("  ", -16, 12, 11, 16, 12, "   ", 0)
CURVE = Columns("  ", 9, " ", 9, " ", 0)
LEFT_OUT = Columns("  ", 18, " ", 15, "   ", 0)


def render(advice: Advice, width: int = WIDTH) -> str:
    """Return the advice as text."""
    said = [*advice.facts.traces, others_sentence(advice.facts.others_share)]
    parts = [_verdict(advice, width), *(_wrapped(text, width) for text in said if text)]
    if advice.files:
        parts += [_job(advice, width), _tiers(advice, width)]
        if advice.helps:
            parts += [_rules(advice, width), _curve(advice, width)]
    parts.append(_left_out(advice, width))
    return "\n\n".join(part for part in parts if part) + "\n"


def in_blocks(advice: Advice) -> str:
    """Describe what the chosen files take on the fast tier if there is no room for all, and that differs."""
    chosen = advice.chosen
    enough = advice.room_bytes <= advice.question.room_bytes
    if enough or chosen.room_bytes < NOTABLY_MORE * chosen.bytes:
        return ""
    return f", which take {human_bytes(chosen.room_bytes)} there in whole blocks"


def _verdict(advice: Advice, width: int) -> str:
    if not advice.helps:
        return _wrapped(
            "Staging will not help: " + "; ".join(r.sentence for r in advice.reasons) + ".", width
        )
    chosen, expected = advice.chosen, advice.chosen.expected
    of_files, of_bytes = percent(chosen.files, advice.files), percent(chosen.bytes, advice.bytes)
    now, then = human_seconds(expected.epoch_s), human_seconds(expected.epoch_s - expected.saved_s)
    gains = human_faster(expected.speedup, *expected.speedup_range)
    what = f"{plural(chosen.files, 'file')}, {human_bytes(chosen.bytes)}{in_blocks(advice)}"
    lines = [
        f"Stage {what}, to {advice.question.fast}",
        f"  {of_files} of the files, {of_bytes} of the bytes",
        *(f"  {words}" for words in filter(None, [outside_steps(advice)])),
        f"  {which_epoch(advice.later)} then takes {then} instead of {now}: {gains}",
        *_rest(advice),
        *(f"  {words}" for words in filter(None, (later_gain(advice.later), _all_epochs(advice)))),
        f"  copying takes about {human_seconds(advice.copy.seconds)}, {pays(advice.copy, advice.later)}",
    ]
    if not advice.wait_known:
        lines.append(f"  {why_unsure(advice)}")
    return "\n".join(
        found
        for line in lines
        for found in wrap(printable(line.lstrip()), width, "  " * line.startswith(" "), "    ")
    )


def why_unsure(advice: Advice) -> str:
    """Say why the gain is not certain if it is not known what training waits for."""
    return WAIT_HIDDEN if advice.hidden else WAIT_UNKNOWN


def outside_steps(advice: Advice) -> str:
    """Say of how many of the chosen files no time has anything: no step reads them. "" if of none."""
    if not advice.outside_bytes:
        return ""
    some = f"{advice.outside_steps:,} of them {'is' if advice.outside_steps == 1 else 'are'}"
    return f"{some} read only before the first step or after the last: a copy shortens no step"


def _rest(advice: Advice) -> list[str]:
    """Describe what the files add that give little for their bytes."""
    return [] if advice.rest is None else [f"  {added_by_rest(advice, advice.rest)} (--all)"]


def added_by_rest(advice: Advice, rest: RuleResult) -> str:
    """Describe what staging all that fits adds to the small set that was chosen."""
    chosen = advice.chosen
    share = percent(rest.saved_thread_s - chosen.saved_thread_s, rest.saved_thread_s)
    more = f"{plural(rest.files - chosen.files, 'more file')}, {human_bytes(rest.bytes - chosen.bytes)}"
    return (
        f"{more}, would save another {share} of the readers' time: {human_times(rest.expected.speedup)} "
        "in all"
    )


def _all_epochs(advice: Advice) -> str:
    """Describe what all epochs of the job save: at least if the page cache keeps what it can, and at most."""
    epochs, expected = advice.question.epochs, advice.chosen.expected
    if epochs is None or advice.later.known:
        return ""
    least_s, most_s = expected.low_s, expected.high_s * epochs
    return (
        f"{plural(epochs, 'epoch')} save {human_seconds(least_s)} to {human_seconds(most_s)}, less the copy"
    )


def _job(advice: Advice, width: int) -> str:
    facts = advice.facts
    said = [
        ("recorded", f"{human_seconds(facts.duration_s)}, {_epochs(advice.session_epochs)}"),
        ("an epoch", _epoch(advice)),
        ("can be staged", f"{plural(advice.files, 'file')}, {human_bytes(advice.bytes)}"),
        ("readers", f"{facts.readers:.1f}"),
        *_stats(advice),
    ]
    return "\n".join(["The job", *fact_lines(said, width, JOB, "  ")])


def _stats(advice: Advice) -> list[tuple[str, str]]:
    """Return who answers stats by name, if there are any."""
    if not advice.stat_s:
        return []
    taken = f"{human_seconds(advice.stat_s)} of threads an epoch"
    if advice.mirrored:
        return [("stats", f"{taken}, in the gain: the job reads a mirror, whose copies answer them")]
    return [("stats", f"{taken}, not in the gain: `run --staged` asks the originals")]


def _epoch(advice: Advice) -> str:
    facts, wait = advice.facts, advice.facts.input_wait
    text = human_seconds(facts.training_s / advice.session_epochs)
    text += ", start-up included" if facts.steps_s is None else ", from the first step to the last"
    return text if wait is None else f"{text}; {percent(wait, 1)} of it waits for input"


def _epochs(epochs: float) -> str:
    return "1 epoch" if epochs == 1 else f"{epochs:g} epochs"


def _tiers(advice: Advice, width: int) -> str:
    said = f"{human_seconds(advice.pass_s)}, mean, modelled"
    now = fact_lines([("where the files are", said)], width, TIER, "  ")
    return "\n".join(["Time of one pass over a file (open, read, close)", *now, *_fast(advice, width)])


def _fast(advice: Advice, width: int) -> list[str]:
    """Word what the fast tier takes."""
    name, probe = shortened(printable(advice.question.fast), TIER - 2), advice.fast_tier
    if not probe.model.files and probe.model.note:
        return fact_lines([(name, printable(f"not known: {probe.model.note}"))], width, TIER, "  ")
    lines = fact_lines([(name, _time_of(probe.model))], width, TIER, "  ")
    return [*lines, *wrap(printable(probe.note), width, HANG)]


def _time_of(model: TimeModel) -> str:
    """Word the time of one pass over a file."""
    if model.s_per_byte <= 0:
        return f"{human_seconds(model.base_s)} whatever the size"
    return f"{human_seconds(model.base_s)} + size / {human_bytes(1 / model.s_per_byte)}/s"


def _rules(advice: Advice, width: int) -> str:
    table = [("rule", "files", "bytes", "saved an epoch", "gain", "range"), *map(_rule, advice.rules)]
    layout = Layout(RULES, table, width, least=(2, 3))
    lines = [f"Ways to fill {human_bytes(advice.question.room_bytes)}", *layout.all_lines(table)]
    lines += wrap(layout.note(), width, "  ")
    if advice.rest is not None:
        return "\n".join(lines)
    best = advice.chosen.saved_thread_s
    if advice.rules[1].saved_thread_s >= 0.99 * best:
        lines += wrap(_as_good(advice), width, "  ")
    more = advice.best_possible_s / best - 1 if best > 0 else 0.0
    if more > 5e-4:
        units = "folders" if advice.unit == "directory" else "files"
        over = percent(more, 1).removeprefix("> ")
        lines += wrap(f"No other choice of {units} saves over {over} more.", width, "  ")
    return "\n".join(lines)


def _as_good(advice: Advice) -> str:
    """Say that smallest first saves as much, and why where the data say why."""
    if advice.room_bytes <= advice.question.room_bytes:
        return "There is room for all files: the order in which they are chosen does not matter."
    return "Smallest first is as good here: what it chooses saves as much, to within 1 %."


def _rule(rule: RuleResult) -> tuple[str, str, str, str, str, str]:
    expected: Expectation = rule.expected
    saved, given = human_seconds(expected.saved_s), human_times(expected.speedup)
    bounds = human_range(*expected.speedup_range)
    return rule.name, f"{rule.files:,}", human_bytes(rule.bytes), saved, given, bounds


def _curve(advice: Advice, width: int) -> str:
    points = advice.curve
    if len(points) < 3:
        return ""
    most = points[-1].saved_s
    picked = sorted({round(i * (len(points) - 1) / (CURVE_LINES - 1)) for i in range(CURVE_LINES)})
    lines = ["Time saved by bytes copied (100 %: all files staged)"]
    for index in picked:
        point = points[index]
        bar = "#" * round(min(BAR, width - BESIDE_BAR) * point.saved_s / most)
        lines.append(CURVE.row(human_bytes(point.bytes), percent(point.saved_s, most), bar))
    if advice.knee is not None:
        saved = f"{human_bytes(advice.knee.bytes)} save {percent(advice.knee.saved_s, most)} of the time"
        said = f"The first {saved}. After them, each further byte saves less than the average."
        lines += wrap(said, width, "  ")
    return "\n".join(lines)


def _left_out(advice: Advice, width: int) -> str:
    parts = sorted(advice.left_out, key=lambda part: -part.bytes_read)
    if not parts:
        return ""
    table = [
        (plural(part.files, "file"), f"{human_bytes(part.bytes_read)} read", printable(part.reason))
        for part in parts
    ]
    return "\n".join(["Not considered", *Layout(LEFT_OUT, table, width).all_lines(table)])


def _wrapped(text: str, width: int) -> str:
    return "\n".join(wrap(printable(text), width, hang="  "))
