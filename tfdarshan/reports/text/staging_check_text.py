"""A check as text; it fits the width of the terminal."""

from __future__ import annotations

from tfdarshan.analysis.ranks.processor_share import others_sentence
from tfdarshan.file_name import printable
from tfdarshan.staging.check import Assumption, Check
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_seconds, human_times, percent, plural, signed_percent

EPOCHS = Columns(-28, 12, 14, "   ", 0)
ASSUMPTIONS = Columns(-28, 16, 16, "   ", 0)


def render_check(check: Check, width: int = WIDTH) -> str:
    """Return the check as text."""
    low, high = human_seconds(check.low_s), human_seconds(check.high_s)
    promised, obtained = human_seconds(check.promised_s), human_seconds(check.obtained_s)
    epochs = [
        ("An epoch", "time", "gain", ""),
        ("  before", human_seconds(check.before_s), "", ""),
        ("  promised", promised, human_times(1 + check.promised_gain), f"{low} to {high}"),
        ("  obtained", obtained, human_times(1 + check.obtained_gain), signed_percent(check.error)),
    ]
    assumptions = [
        ("Assumption", "promised", "obtained", "moved an epoch by"),
        *map(_assumption, check.assumptions),
        ("  all of these", "", "", _signed(check.obtained_s - check.promised_s)),
    ]
    lines = [
        *wrap(printable(_verdict(check)), width),
        *wrap(others_sentence(check.others_share), width),
        "",
        *Layout(EPOCHS, epochs, width).all_lines(epochs),
        *(line for said in (_measured(check), *_later(check)) for line in wrap(said, width, "  ")),
        "",
        *wrap(_read(check), width),
        "",
        *Layout(ASSUMPTIONS, assumptions, width).all_lines(assumptions),
    ]
    return "\n".join(lines) + "\n"


def _verdict(check: Check) -> str:
    if check.kept:
        return "The promise was kept."
    way = "longer" if check.error > 0 else "shorter"
    worst = check.assumptions[0]
    return (
        f"An epoch is {percent(abs(check.error), 1)} {way} than promised. The assumption that is most wrong "
        f"is {worst.name}: "
        f"{_number(worst, worst.obtained)} instead of {_number(worst, worst.promised)}."
    )


def _measured(check: Check) -> str:
    if check.by_steps:
        return "Times are from the first step's start to the last one's end."
    if check.by_reading:
        return "Times are from the first read of the data set to the last one, without start-up."
    return "Times are of whole sessions, start-up included, for they do not all have steps or all calls."


def _later(check: Check) -> list[str]:
    """Say that a mean is held against a promise for the first epoch."""
    if not check.first_promised:
        return []
    mean = f"the obtained time is the mean of {check.epochs:g} epochs"
    return [f"The promise is for a run's first epoch, and {mean}: memory may serve later epochs."]


def _read(check: Check) -> str:
    planned = plural(check.planned, "planned file")
    return (
        f"The job read the copies of {check.copies_read:,} and the originals of {check.originals_read:,} of "
        f"{planned}."
    )


def _assumption(assumption: Assumption) -> tuple[str, str, str, str]:
    promised, obtained = (_number(assumption, value) for value in (assumption.promised, assumption.obtained))
    return f"  {printable(assumption.name)}", promised, obtained, _signed(assumption.effect_s)


def _signed(seconds: float) -> str:
    return f"{'+' if seconds >= 0 else '-'}{human_seconds(abs(seconds))}"


def _number(assumption: Assumption, value: float) -> str:
    if assumption.unit.startswith("s"):
        return human_seconds(value)
    return f"{value:,.1f}"
