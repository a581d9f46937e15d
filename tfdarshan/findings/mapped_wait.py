"""Threads wait in page faults on mapped files: each reads one window, and waits for it."""

from __future__ import annotations

from dataclasses import dataclass

from tfdarshan.analysis.mapped_waits import MappedWaits
from tfdarshan.findings import mapped_random
from tfdarshan.findings.beside_compute import LIKELY, processors_free
from tfdarshan.findings.finding import Assumption, Evidence, Finding, Unknown
from tfdarshan.findings.mapped_cures import READERS, name_of, read_ahead_of_faults
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.findings.more_readers import FULL, TRANSFERS, WAITS, probe_command, times_as_long
from tfdarshan.findings.unseen_faults import unseen_faults
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "mapped_wait"
# The loop reads by itself where so much of the waits is its own.
BY_LOOP = 0.8
# What a fault usually reads, and what a byte of it usually costs: 400 MB/s.
WINDOW_BYTES, BYTE_S = 131_072, 1 / 400e6
# Of what more reads at a time are sure to give, so much is promised.
SURELY = 0.8
# The cure takes the place of what yields records one by one: what that costs besides may go, too.
TAKES_PLACE = ("lmdb",)
# What such a cure reads ahead before the first batch is there, once, or a second time while the job ends.
AHEAD_BYTES = 16 << 20
# Of the waits: storage is not said to be the limit where other reads would save as much.
MUCH = 0.2
# Faults out of order are most of them from here on.
JUMPS = 0.3


@dataclass(frozen=True)
class _Serial:
    """What of a fault's read storage serves one at a time, with its bounds; `words` say how it is known."""

    expected: float
    low: float
    high: float
    words: str
    known: bool


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where faults take a part of the time that reading ahead would give back."""
    reads, model, found = measures.summary.mapped, measures.model, measures.mapped
    if measures.imported:
        return None
    if not reads.asked or (reads.files and not found.kept):
        unseen = unseen_faults(measures)
        return Unknown(NAME, f"{unseen.what}: {unseen.why}", unseen.record) if unseen else None
    if not found.files or found.wait_s / model.units < LEAST_SHARE * model.unit_s:
        return None
    serial = _serial(measures)
    pipeline_s, stall_s = found.beside_s / found.readers / model.units, found.within_s / model.units
    by_loop = found.own_s >= BY_LOOP * found.beside_s > 0
    if serial.known and serial.low >= FULL and not by_loop:
        ordered = _ordered_share(measures)
        single_s = _single_pages_s(measures)
        if ordered is not None and ordered[1] * pipeline_s > single_s:
            return _ordered(measures, ordered)
        if single_s >= MUCH * (pipeline_s + stall_s):
            return None  # storage gives bytes that nobody touches: that is the finding
        return _full(measures, serial, pipeline_s + stall_s)
    left = [_left(share, found.readers) for share in (serial.high, serial.expected, serial.low)]
    hidden_s = found.hidden_s / model.units if by_loop else 0.0
    sure, alone = SURELY if serial.known else 0.0, _alone(found, model.units)
    # What is read ahead anyway keeps a device busy beside compute that serves one read at a time.
    beside = [alone, 1 - serial.expected * (1 - alone), 1.0]
    saved = [
        pipeline_s * (1 - part) + likely * min(hidden_s * rests, part * pipeline_s)
        for part, likely, rests in zip(left, LIKELY, beside, strict=True)
    ]
    idle_s = LIKELY[0] * hidden_s * alone
    low_s = max(sure * pipeline_s * (1 - left[0]), idle_s)
    if by_loop:
        # What else a batch takes goes on in the threads, too.
        saved[2] = pipeline_s + min(max(model.most_wait_s - pipeline_s, 0.0), model.compute_s)
    elif found.files[0].format in TAKES_PLACE:
        saved[2] = max(saved[2], model.pipeline_s)
    gain = measures.gain(
        low_s,
        saved[1],
        max(saved[2], pipeline_s),
        assumed=_assumed(measures, serial, hidden=idle_s >= low_s > 0),
        stall_s=(sure * stall_s * (1 - left[0]), stall_s * (1 - left[1]), stall_s),
    )
    nobody_knows = model.wait_s is None and pipeline_s > stall_s
    worst = found.files[0]
    jumps = worst.jumps >= JUMPS * max(worst.waits, 1)
    return Finding(
        name=NAME,
        kind="note" if nobody_knows else "problem",
        title=f"threads wait in page faults on {_files(found)}",
        what=_what(found),
        evidence=(*_evidence(measures, serial), *_sampled(measures)),
        files=tuple(one.path for one in found.files[:5] if one.wait_s > 0),
        unit=model.unit,
        cost_s=pipeline_s if nobody_knows else gain.saved_s,
        stall_s=0.0 if nobody_knows else min(stall_s * (1 - left[1]), gain.saved_s),
        cure=read_ahead_of_faults(measures, worst, jumps=jumps),
        gain=None if nobody_knows else gain,
        not_worth="where the page cache keeps the files from the first epoch on, the device gives no more, "
        "or a run takes seconds: what reads ahead begins with more than one batch",
    )


def _left(share: float, readers: float) -> float:
    """Gives what is left of the time in faults with READERS reads at a time."""
    return times_as_long(share, readers, READERS) if readers < READERS else 1.0


def _alone(found: MappedWaits, units: int) -> float:
    """Gives for what share of the waits storage rests beside compute, at least.

    What is read in order the kernel reads ahead while a step computes: a window, and the one after.
    """
    waits, jumps = sum(one.waits for one in found.files), sum(one.jumps for one in found.files)
    return (jumps + max(0.0, waits - jumps - 2 * units)) / max(waits, 1.0)


def _serial(measures: Measures) -> _Serial:
    """Gives it by a probe of the storage under the files, else what is usual."""
    probe = measures.mapped_probe
    scaling = None if probe is None else (probe.large or probe.small)
    if probe is not None and scaling is not None and scaling.share is not None:
        low, high = percent(scaling.low, 1), percent(scaling.high, 1)
        words = f"{percent(scaling.share, 1)} ({low} to {high}), measured by {probe.words}"
        return _Serial(scaling.share, scaling.low, scaling.high, words, True)
    found = measures.mapped
    mean_s = found.wait_s / max(sum(one.waits for one in found.files), 1.0)
    moving = min(1.0, WINDOW_BYTES * BYTE_S / max(mean_s, 1e-9))
    command = probe_command(measures)
    words = "not shown by this session" + (f"; to know it: `{command}`" if command else "")
    return _Serial((1 - moving) * WAITS + moving * TRANSFERS, 0.0, 1.0, words, False)


def _assumed(measures: Measures, serial: _Serial, *, hidden: bool) -> list[Assumption]:
    """Gives what the lower bound rests on: that waits go on beside compute, or more reads at a time."""
    if hidden:
        loop_s = human_seconds(measures.mapped.own_s)
        return [
            Assumption(
                "nothing of these files is read beside compute",
                f"{measures.loop} waits in these faults itself, {loop_s} in all",
                "threads that read ahead change nothing",
            ),
            *processors_free(measures),
        ]
    return [
        Assumption(
            f"storage serves {READERS} reads at a time",
            f"of a read, served one at a time: {serial.words}" if serial.known else "",
            "faults take as many times longer as there are",
        )
    ]


def _files(found: MappedWaits) -> str:
    waited = [one for one in found.files if one.wait_s > 0]
    name = name_of(waited[0])
    if len(waited) > 1:
        return f"{len(waited)} mapped files"
    return f"{'an' if name[0] in 'ALH' else 'a'} {name}"


def _what(found: MappedWaits) -> str:
    waits = sum(one.waits for one in found.files)
    mean_s = found.wait_s / max(waits, 1.0)
    return (
        f"{waits:,.0f} times a thread touched a page that was not in memory, and waited "
        f"{human_seconds(mean_s)} for it, one after the other: {human_seconds(found.wait_s)} in all."
    )


def _evidence(measures: Measures, serial: _Serial) -> tuple[Evidence, ...]:
    found, units = measures.mapped, measures.model.units
    waits = sum(one.waits for one in found.files)
    known = [one.bytes_in for one in found.files if one.bytes_in is not None]
    each_s = found.wait_s / units
    return (
        Evidence("faults that waited", f"{waits:,.0f}", waits),
        Evidence(f"of a {measures.model.unit}, over all threads", human_seconds(each_s), each_s),
        Evidence("threads that wait", f"{found.readers:.1f}", found.readers),
        *((Evidence("bytes that came in", human_bytes(sum(known)), sum(known)),) if known else ()),
        Evidence("of a read, served one at a time", serial.words),
    )


def _sampled(measures: Measures) -> tuple[Evidence, ...]:
    share = measures.summary.mapped.sampled_share
    if share is None or share >= 1:
        return ()
    return (Evidence("of the page faults, seen", percent(share, 1), share),)


def _single_pages_s(measures: Measures) -> float:
    """Gives what reads of single pages are expected to save of a unit."""
    single = mapped_random.find(measures)
    return single.gain.saved_s if single is not None and single.gain is not None else 0.0


def _ordered_share(measures: Measures) -> tuple[float, float] | None:
    """Gives what of the waits goes if only what is touched is read, in order: least and expected share.

    None where the file's cure reads in no order of its own, or faults bring in little besides.
    """
    found, probe = measures.mapped, measures.mapped_probe
    worst = found.files[0]
    if worst.format not in TAKES_PLACE or worst.jumps < JUMPS * worst.waits or not worst.bytes_in:
        return None
    scaling = None if probe is None else (probe.large or probe.small)
    if scaling is None or worst.bytes_in < mapped_random.AMPLIFIED * worst.touched_bytes:
        return None
    bytes_per_s = scaling.levels[-1].bytes_per_s
    left_s = [(worst.touched_bytes + times * AHEAD_BYTES) / bytes_per_s for times in (2, 1)]
    least, expected = (max(0.0, 1 - seconds * found.readers / worst.wait_s) for seconds in left_s)
    return (SURELY * least, expected) if expected > 0 else None


def _ordered(measures: Measures, share: tuple[float, float]) -> Finding:
    """Words it: storage is full of windows of which little is wanted."""
    found, model = measures.mapped, measures.model
    worst = found.files[0]
    pipeline_s, stall_s = found.beside_s / found.readers / model.units, found.within_s / model.units
    least, expected = share
    came_in, touched = human_bytes(worst.bytes_in or 0), human_bytes(worst.touched_bytes)
    gain = measures.gain(
        least * pipeline_s,
        expected * pipeline_s,
        max(model.pipeline_s, pipeline_s),
        assumed=[
            Assumption(
                "records of a block are wanted together",
                f"{came_in} came in, of which {touched} at most were touched",
                "the order of records is fixed: then each is a read of its own",
            )
        ],
        stall_s=(least * stall_s, expected * stall_s, stall_s),
    )
    return Finding(
        name=NAME,
        kind="problem",
        title=f"page faults on {_files(found)} read far more than is touched",
        what=f"{_what(found)} Storage serves one at a time, so that it is the bytes that count.",
        evidence=(
            *_evidence(measures, _serial(measures)),
            Evidence("bytes touched, at most", touched, worst.touched_bytes),
        ),
        files=(worst.path,),
        unit=model.unit,
        cost_s=gain.saved_s,
        stall_s=min(expected * stall_s, gain.saved_s),
        cure=read_ahead_of_faults(measures, worst, jumps=True),
        gain=gain,
        not_worth=f"where a run reads little more than {human_bytes(AHEAD_BYTES)}, which come in before its "
        "first batch",
    )


def _full(measures: Measures, serial: _Serial, wait_s: float) -> Finding:
    """Says that nothing is to be gained: the device is the limit."""
    found = measures.mapped
    return Finding(
        name=NAME,
        kind="note",
        title=f"{plural(len(found.files), 'mapped file')} read as fast as storage gives",
        what=f"{_what(found)} More reads at a time would give next to nothing: storage serves one at a time.",
        evidence=_evidence(measures, serial),
        files=tuple(one.path for one in found.files[:5] if one.wait_s > 0),
        unit=measures.model.unit,
        cost_s=wait_s,
    )
