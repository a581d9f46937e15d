"""What recording adds to a call, in ns: tfdarshan and its peers, in pairs of runs (without, with)."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.perf import progress
from tests.perf.contender import (
    DARSHAN_ENGINE,
    FLOOR,
    OWN,
    Contender,
    HotLoop,
    Loop,
    Peer,
    darshan_engine,
    floors,
    own_contenders,
)
from tests.perf.peer import find_peers
from tests.perf.row import Row, added_row, single_row
from tests.perf.timing import Timing

GROUP = "ns added per call"
RATIO_GROUP = "times the CPU time that a bare recorder adds to its callers"
RATIO_WANTED = 1.15
BESIDE_GROUP = "CPU time of other threads per call"
TAIL_GROUP = "what 99.9 % of calls take at most"
MANY_THREADS = 64
MAY_WAIT_NS = 1_000
"""Beyond what the bare recorder takes."""
THREADS = (1, 2)
DARSHAN_ALONE = re.compile(r"Darshan( [\d.]+)?")
PEERS_TURN = 3
"""The peers, of which every run is a process, take part in every third round."""

# The loop and the most that it may cost: a bound for transfers, of which there is a floor too.
LOOPS = (
    (Loop("pread", "pread of 1 cached byte", 100_000), 40.0),
    (Loop("fread", "fread of 16 bytes", 300_000), 40.0),
    (Loop("open_close", "open and close", 20_000), None),
    (Loop("stat", "stat", 50_000), None),
)

TAIL_LOOP = Loop("pread_each", "pread of 1 cached byte", 20_000)

Measured = dict[str, list[tuple[Timing, Timing]]]


def call_cost(folder: Path, *, pairs: int) -> tuple[list[Row], list[str]]:
    """Return the rows, and a sentence for each peer that is left out."""
    loops = HotLoop(folder, threads=MANY_THREADS)
    own: list[Contender] = [*own_contenders(loops)]
    peers, missing = find_peers(loops, folder)
    try:
        own.append(darshan_engine(loops, folder))
    except LookupError as error:
        missing.append(str(error))
    rows: list[Row] = []
    ratios: list[Row] = []
    beside: list[Row] = []
    for loop, wanted in LOOPS:
        seeing = [peer for peer in peers if loop.symbol not in peer.blind]
        contenders = [*own, *(floors(loops) if wanted else []), *seeing]
        for threads in THREADS:
            measured = _alternate(contenders, loop, threads, pairs)
            rows += contender_rows(measured, loop, threads, wanted)
            ratios += floor_ratios(measured, loop, threads)
            beside += beside_rows(measured, loop, threads)
    tails = _alternate(
        [*own_contenders(loops), *floors(loops)[:1]], TAIL_LOOP, MANY_THREADS, max(1, pairs // 5)
    )
    return [*rows, *ratios, *beside, *tail_rows(tails, TAIL_LOOP, MANY_THREADS)], missing


def contender_rows(measured: Measured, loop: Loop, threads: int, wanted: float | None) -> list[Row]:
    """Return a row for each contender; `wanted` is wanted of tfdarshan itself."""
    rows = [
        added_row(
            GROUP, _name(loop, threads), runs, subject=subject, wanted=wanted if subject == OWN else None
        )
        for subject, runs in measured.items()
    ]
    return [_bounded(row, rows) for row in rows]


def floor_ratios(measured: Measured, loop: Loop, threads: int) -> list[Row]:
    """Return what each contender adds to its callers' CPU time, over the floor's median.

    Without a floor, or where nothing of it could be measured, there are none.
    """
    floor = statistics.median(_added_cpu(measured[FLOOR])) if FLOOR in measured else 0.0
    return [
        single_row(
            RATIO_GROUP,
            f"{_name(loop, threads)}: {subject}",
            "times",
            [added / floor for added in _added_cpu(runs)],
            subject=subject,
            wanted=RATIO_WANTED if subject.startswith(OWN) and subject != DARSHAN_ENGINE else None,
        )
        for subject, runs in measured.items()
        if floor > 0
    ]


def beside_rows(measured: Measured, loop: Loop, threads: int) -> list[Row]:
    """Return the processor time of each contender in threads that do not call."""
    return [
        single_row(
            BESIDE_GROUP,
            f"{_name(loop, threads)}: {subject}",
            "ns",
            [recorded.beside_ns - plain.beside_ns for plain, recorded in runs],
            subject=subject,
        )
        for subject, runs in measured.items()
        if not subject.startswith("floor")
    ]


def tail_rows(measured: Measured, loop: Loop, threads: int) -> list[Row]:
    """Return the longest time of 99.9 % of the calls; tfdarshan adds MAY_WAIT_NS to the floor at most."""
    floor = statistics.median(recorded.tail_ns for _, recorded in measured[FLOOR])
    return [
        single_row(
            TAIL_GROUP,
            f"{_name(loop, threads)}: {subject}",
            "ns",
            [recorded.tail_ns for _, recorded in runs],
            subject=subject,
            wanted=floor + MAY_WAIT_NS if subject.startswith(OWN) else None,
        )
        for subject, runs in measured.items()
    ]


def _name(loop: Loop, threads: int) -> str:
    return f"{loop.label}, {threads} thread{'s' if threads > 1 else ''}"


def _added_cpu(runs: Sequence[tuple[Timing, Timing]]) -> list[float]:
    return [recorded.cpu_ns - plain.cpu_ns for plain, recorded in runs]


def _bounded(row: Row, rows: Sequence[Row]) -> Row:
    """With the darshan engine a call may cost what tfdarshan and Darshan cost, each by itself."""
    alone = [other.value for other in rows if other.subject == OWN or DARSHAN_ALONE.fullmatch(other.subject)]
    if row.subject != DARSHAN_ENGINE or len(alone) < 2:
        return row
    return replace(row, wanted=sum(alone))


def _alternate(contenders: Sequence[Contender], loop: Loop, threads: int, pairs: int) -> Measured:
    """Return the pairs of each contender by its name; all that take part in a round take it in turn."""
    measured: Measured = {contender.name: [] for contender in contenders}
    for number in range(pairs):
        for contender in contenders:
            if isinstance(contender, Peer) and number % PEERS_TURN:
                continue
            progress.show(f"{loop.label}, threads {threads}, {contender.name}, run {number + 1} of {pairs}")
            pair = (contender.plain(loop, threads), contender.recorded(loop, threads))
            measured[contender.name].append(pair)
    return measured
