"""Storage that is full: it gives the same however many reads run at a time."""

from __future__ import annotations

from tfdarshan.findings import too_many_threads
from tfdarshan.findings.finding import Cure, Evidence, Finding
from tfdarshan.findings.limit_in_parts import parts_that_pass
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.findings.more_readers import serial_share, turns_words
from tfdarshan.findings.read_split import limit_words
from tfdarshan.findings.served_once import storage_served_once
from tfdarshan.units import human_bytes, human_seconds

NAME = "full_storage"
TURNS = "what the job reads and what it writes to the same place hold each other up"
# Calls of so much of the time are worth a word.
BUSY = 0.5


def find(measures: Measures) -> Finding | None:
    """Finds it where calls take longer the more of them run, so that together they get no further.

    Where fewer at a time get further, that is said instead. A probe may show it where the session does not.
    """
    model = measures.model
    if not measures.traced or not is_full(measures) or model.most_wait_s < LEAST_SHARE * model.unit_s:
        return None
    if isinstance(too_many_threads.find(measures), Finding):
        return None
    share = serial_share(measures)
    levels = measures.pipeline.levels.iloc[1:]
    busy_s, calls = float(levels["seconds"].sum()), measures.input_calls.calls
    if busy_s < BUSY * model.storage_s * model.units or busy_s <= 0:
        return None
    # What memory serves besides is none of it.
    stored = measures.costs.storage_share or 1.0
    bandwidth, rate, what = stored * float(levels["bytes"].sum()) / busy_s, stored * calls / busy_s, "calls"
    if measures.allowance is not None:
        bandwidth, rate, what = measures.allowance.bytes_per_s, measures.allowance.calls_per_s, "reads"
    gives = f"{human_bytes(bandwidth)}/s in {rate:,.0f} {what} a second"
    return Finding(
        name=NAME,
        kind="note",
        title=f"storage gives {human_bytes(bandwidth)}/s however many reads run at a time",
        what=f"It gives {gives}{_up_to(measures)}. {_counted(measures)}More readers give nothing.",
        evidence=(
            Evidence("bandwidth", f"{human_bytes(bandwidth)}/s", bandwidth),
            Evidence(f"{what} a second", f"{rate:,.0f}", rate),
            *_compared(measures),
            Evidence("of a call, served one at a time", share.words, share.expected),
        ),
        unit=model.unit,
        cost_s=0.0 if model.certain else _taken_s(measures, busy_s / model.units),
        cure=_cure(measures),
    )


def _taken_s(measures: Measures, busy_s: float) -> float:
    """Gives what storage takes of a unit at most, where no step says what of that is waited for.

    Args:
        measures: The session.
        busy_s: What of a unit calls on input were running.
    """
    return min(busy_s, measures.model.most_wait_s) * measures.slow_share


def is_full(measures: Measures) -> bool:
    """Says whether the session, or a probe, shows that more reads at a time give nothing."""
    return serial_share(measures).is_full


def _cure(measures: Measures) -> Cure:
    """Words it for what storage limits, if that is known."""
    # What memory serves later anyway is not read less by keeping it.
    ways = "stage the files, keep them in memory"
    if storage_served_once(measures):
        ways = "stage the files if several runs use them"
    less = f"Read less from it: {ways}, store them smaller"
    allowance = measures.allowance
    if parts_that_pass(measures) is not None:
        return Cure(f"{less}.")
    if allowance is None or allowance.counts is None:
        return Cure(f"{less}; where it is calls that it limits, put small files into shards.")
    if allowance.counts.is_bytes:
        return Cure(f"{less}.")
    return Cure(f"Read it in fewer calls: put small files into shards, {ways}.")


def _counted(measures: Measures) -> str:
    """Words what a limit counts, "" if that is not known."""
    allowance, parts = measures.allowance, parts_that_pass(measures)
    if parts is not None:
        return (
            f"It lets {parts.least:,} or {parts.least + 1:,} reads pass in each, {parts.mean:,.1f} on "
            "average. Limits of calls are whole numbers as a rule, so it counts bytes most likely, and "
            "shards give little. "
        )
    if allowance is None or allowance.counts is None:
        return ""
    if allowance.counts.is_bytes:
        return f"It counts bytes, not calls ({limit_words(allowance.counts)}), so shards give nothing. "
    return (
        f"It counts calls, not bytes ({limit_words(allowance.counts)}), so fewer and larger ones give more. "
    )


def _up_to(measures: Measures) -> str:
    """Words what shows it: a limit, how many of the session's calls ran at a time, or a probe."""
    allowance, longer = measures.allowance, ": a call takes the longer the more others run"
    if allowance is not None:
        return (
            f": what is more than a limit allows waits for the next {human_seconds(allowance.interval_s)}, "
            "as a cgroup, a cloud disk or a quota makes it"
        )
    if measures.contention is not None:
        return f" with up to {measures.contention.depth:.0f} of them under way{longer}"
    share = serial_share(measures)
    if measures.turns is not None and share.source == turns_words(measures.turns):
        return f": {TURNS}"
    most = share.most_readers
    return f", and a probe got no more with {most:.0f} reads at a time than with one{longer}"


def _compared(measures: Measures) -> tuple[Evidence, ...]:
    """Gives the calls that show it, where they are the session's."""
    found = measures.contention
    return (
        ()
        if found is None or measures.allowance is not None
        else (Evidence("calls compared", f"{found.calls:,}", found.calls),)
    )
