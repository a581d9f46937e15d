"""Too few reads at a time: each waits for the one before."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tfdarshan.findings.beside_compute import leaves_a_processor
from tfdarshan.findings.decoding_time import decodes_longer
from tfdarshan.findings.finding import Assumption, Evidence, Finding, Gain, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN, serial_share
from tfdarshan.findings.pipeline_api import (
    OVERLAPPING,
    keeps_decoded,
    more_readers,
    own_threads,
    reads_as_many,
    reads_by_sqlite,
)
from tfdarshan.findings.python_lock import hands_lock_over
from tfdarshan.findings.reader_change import ReaderChange, if_it_waits, if_served, serves_more, with_readers
from tfdarshan.findings.served_once import memory_served_later
from tfdarshan.findings.too_many_threads import crowding
from tfdarshan.units import human_seconds, percent

NAME = "read_parallelism"
MOST_READERS = 16
# Threads that are in calls for less of their time are held up by something else.
BUSY_THREADS = 0.25
# Of what is a guess of the first epoch alone, as the page cache served later ones: local file systems read
# ahead already, and what their devices then take is mostly a limit. Of eleven such jobs of the laboratory one
# gained anything.
GUESSED = 0.2
# A smaller number of readers will do if it saves this much of what the largest does.
NEARLY = 0.9


def _who(readers: float) -> str:
    """Begins the sentence with the readers: one, or about so many."""
    if round(readers) == 1:
        return "One reader at a time reads the input, and spends"
    return f"About {readers:.1f} readers at a time read the input, and each spends"


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where more readers would help."""
    model = measures.model
    if not measures.traced:
        return measures.untraced(NAME, "how many calls ran at a time")
    readers = model.readers
    if reads_by_sqlite(measures):
        # Threads that share a connection take turns; what each would gain by one of its own nothing shows.
        return None
    # Without steps, calls of the loop's own thread are what the job stands still for.
    by_loop = model.storage_s <= 0 and measures.use_and_facts[1].loop_reads
    if (
        crowding(measures) is not None
        or readers >= 0.8 * MOST_READERS
        or not (model.storage_s > 0 or by_loop)
    ):
        return None
    if _threads_rest(measures):
        return None
    share = serial_share(measures)
    if share.is_full:
        # `full_storage` says so.
        return None
    # Calls that are fewer cannot run at a time.
    made = measures.group("read").calls
    choices = [n for n in (2, 4, 8, MOST_READERS) if 1.2 * readers < n <= made]
    if not choices:
        return None
    # What it gives beyond the calls is the processors', and wants no more readers than these. Storage that
    # one reader fills gives as much to any number, so they are as many as do if it waits.
    saved = [if_it_waits(measures, n).spared(measures) for n in choices]
    n = next(n for n, seconds in zip(choices, saved, strict=True) if seconds >= NEARLY * saved[-1])
    if reads_as_many(measures, n):
        return None
    changes, served = list(with_readers(measures, n)), if_served(measures, n)
    if keeps_decoded(measures) and decodes_longer(measures):
        # What a call decodes is the greater part of it, and `decode_bound` says what that gives.
        changes = [dataclasses.replace(change, other=1.0) for change in changes]
        served = dataclasses.replace(served, other=1.0)
    assumed = [serves_more(measures), *leaves_a_processor(measures)]
    gain, stall_s = _gain(measures, changes, assumed, by_loop=by_loop)
    if_it_does, _ = _gain(measures, [served] * 3, [], by_loop=by_loop)
    gain = dataclasses.replace(gain, if_so_s=if_it_does.if_so_s)
    calls = measures.input_calls
    mean_s = calls.thread_s / calls.calls if calls.calls else 0.0
    shown = round(readers)
    # What nothing shows, of the first epoch alone, is worth a trial at most.
    guess = model.likely and not share.known and memory_served_later(measures)
    if guess and hands_lock_over(measures):
        # What later epochs lose by it is certain, what the first one gains is not.
        return None
    if guess:
        gain = dataclasses.replace(gain, saved_s=GUESSED / UNSHOWN * gain.saved_s)
    return Finding(
        name=NAME,
        kind="note" if guess else "problem",
        title=f"only {shown} {'read runs' if shown == 1 else 'reads run'} at a time",
        what=f"{_who(readers)} {percent(model.busy_share, 1)} of its time in calls, one after the other, "
        f"of {human_seconds(mean_s)} on average.",
        evidence=(
            Evidence("readers", f"{readers:.1f}", readers),
            Evidence("threads that read", f"{measures.pipeline.readers.threads:.1f}"),
            Evidence("queue depth", f"{measures.pipeline.readers.together:.1f}"),
            Evidence("mean call", human_seconds(mean_s), mean_s),
            Evidence("readers' time in calls", percent(model.busy_share, 1), model.busy_share),
            Evidence("of a call, served one at a time", share.words),
        ),
        unit=model.unit,
        # Without steps nothing else claims what the loop stands still for: no more than is expected.
        cost_s=gain.saved_s if by_loop else gain.if_so_s,
        stall_s=stall_s,
        cure=more_readers(measures, n, shown),
        gain=gain,
        not_worth="where one reader fills the device already: large reads from a single disk gain nothing",
    )


def _threads_rest(measures: Measures) -> bool:
    """Says whether threads of Python's own read, as many as there are processors, and are seldom in calls.

    They wait for Python's lock then, for a processor, or for who takes what they read, and more of them would
    wait for it, too. Calls that take less make none of this shorter.
    """
    model, threads = measures.model, own_threads(measures)
    # Where no step says that it waited, they may rest because nobody asks for more.
    if not model.certain or threads < max(OVERLAPPING, measures.machine.cpus or 1.0):
        return False
    return model.busy_share * model.readers < BUSY_THREADS * threads


def _gain(
    measures: Measures, changes: Sequence[ReaderChange], assumed: Sequence[Assumption], *, by_loop: bool
) -> tuple[Gain, float]:
    """Gives what changes give at worst, as expected and at best, and what of it the loop stands still for."""
    if not by_loop:
        return measures.gain(*(change.saved_s(measures) for change in changes), assumed=assumed), 0.0
    low, expected, high = (max(0.0, change.spared(measures)) for change in changes)
    return measures.without(measures.input_calls, low, expected, high, assumed)
