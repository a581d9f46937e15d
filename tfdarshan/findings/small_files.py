"""Many small files: each is opened, asked, read and closed by itself."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tfdarshan.analysis.call_kinds import CallGroup
from tfdarshan.findings.finding import Assumption, Evidence, Finding
from tfdarshan.findings.full_storage import is_full
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.part_of_calls import LEAST_S, part_of
from tfdarshan.findings.read_split import (
    LIMITS_MEET_BYTES,
    STREAMS_BYTES,
    bytes_are_told,
    counts_bytes,
    limit_words,
    seconds_per_byte_probed,
    seconds_per_byte_shown,
    split_evidence,
    wait_of_a_read,
)
from tfdarshan.findings.record_files import in_shards_already, steps_read_records
from tfdarshan.findings.served_once import SERVED_ONCE, memory_served_later
from tfdarshan.findings.shard_cure import in_shards, records_take_s
from tfdarshan.findings.stat_storm import asked_by_loop
from tfdarshan.staging.candidate import SLOW_OPEN_S, databases
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "small_files"
SHARD_BYTES = 256 << 20
READ_BYTES = 8 << 20
WHOLE = 0.9
FEWEST_FILES = 32
# Of what is expected not to depend on size, what has to be so if storage moves bytes slowly.
MOSTLY = 0.25
# Shares of what does not depend on size that shards save.
SURE = (0.8, 0.95, 1.1)
# Of the opens' time, of several readers; so many readers are one.
SURE_OF_OPENS, ALONE = 0.7, 1.2
ONCE = f"{SERVED_ONCE.format(what='conversion')}pays only if several runs read the shards."


def find(measures: Measures) -> Finding | None:
    """Finds them where what a file costs whatever its size is what costs most."""
    costs, size = measures.costs, measures.sizes
    # A file renamed in the session was made in it, though under another name; one that is gone is no input.
    opened = (costs.opens >= 1) & (measures.files.rows["moves"].to_numpy() == 0)
    whole = opened & (costs.reads > 0) & ((size <= 0) | (costs.read_bytes >= WHOLE * size * costs.opens))
    if measures.pauses is not None:
        # What no step reads is no part of what a batch takes.
        whole[measures.pauses.rows] = False
    if np.count_nonzero(whole) < FEWEST_FILES or steps_read_records(measures):
        return None
    paths = measures.files.paths
    whole &= ~(in_shards_already(paths) | databases(paths))
    files = int(np.count_nonzero(whole))
    files_s = float(costs.call_s[whole].sum())
    if files < FEWEST_FILES or files_s <= 0:
        return None
    passes, moved = float(costs.opens[whole].sum()), float(costs.read_bytes[whole].sum())
    reads, other_s = float(costs.reads[whole].sum()), float(costs.other_s[whole].sum())
    read_s = float(costs.read_s[whole].sum())
    waits = [min(read_s, wait * max(reads - moved / READ_BYTES, 0)) for wait in wait_of_a_read(measures)]
    # What the loop asks about files it may ask of shards, too: at most, it no longer does.
    asked_s = asked_by_loop(measures) * float(costs.stat_s[whole].sum())
    calls = _without_asking(part_of(measures, measures.input_calls, costs.call_s, whole), asked_s)
    calls_s = max(files_s - asked_s, LEAST_S)
    usual_s = max(0.0, other_s - asked_s - _waits_for_bytes(measures))
    spared_s = (_surely_spared_s(measures, usual_s, passes), usual_s, other_s - asked_s)
    unique = float(np.where(size > 0, size, costs.read_bytes / np.maximum(costs.opens, 1))[whole].sum())
    shards = max(1, round(measures.model.readers), math.ceil(unique / SHARD_BYTES))
    # Each shard is opened and waited for as a file is.
    fewer = max(0.0, 1 - shards / files)
    shares = [fewer * (spared + wait) / calls_s for spared, wait in zip(spared_s, waits, strict=True)]
    low, expected, high = (min(fewer, sure * share) for sure, share in zip(SURE, shares, strict=True))
    fixed = percent(shares[1] * calls_s, files_s)
    # Full of calls, or full of bytes? Files of one size do not show it, and shards have as many bytes.
    doubtful = is_full(measures) and measures.allowance is None
    supported = bytes_are_told(measures) or (not doubtful and shares[0] >= MOSTLY * shares[1])
    assumed = Assumption(
        f"{fixed} of a file's time does not depend on its size",
        _seen(measures, shares[0] * calls_s / files_s) if supported else "",
        "larger files take as many times longer",
    )
    chance = 1.0 if supported else UNSHOWN
    more_s = records_take_s(measures, moved)
    gain, stall_s = measures.without(
        calls,
        min(low, expected),
        expected,
        high,
        [assumed],
        other_s=(-more_s[0], -more_s[1], -more_s[2]),
        chance=chance,
    )
    asks_s = asked_s / measures.model.units
    gain = dataclasses.replace(gain, high_s=min(gain.high_s + asks_s, gain.before_s))
    mean, each_s = unique / files, files_s / passes
    once = memory_served_later(measures)
    # What nothing shows of files that are not small to a device, of one epoch, is no reason to convert them.
    guess = once and not supported and not doubtful and mean >= LIMITS_MEET_BYTES
    pays = _pays_after(measures, gain.saved_s, "run" if once else "epoch")
    order = np.argsort(-np.where(whole, costs.call_s, 0), kind="stable")
    return Finding(
        name=NAME,
        kind="note" if guess else "problem",
        title=f"the input is {files:,} small files of {human_bytes(mean)}",
        what=f"Each is opened, read and closed in {human_seconds(each_s)}, of which "
        f"{fixed} does not depend on its size.{ONCE if once else ''}",
        evidence=(
            Evidence("files", f"{files:,}", files),
            Evidence("mean size", human_bytes(mean), mean),
            Evidence("time of one", human_seconds(each_s), each_s),
            Evidence("opens, closes, stats, empty reads, over all threads", human_seconds(other_s), other_s),
            Evidence("waits of reads, over all threads", human_seconds(waits[1]), waits[1]),
            Evidence("converting pays after", pays, None),
            *split_evidence(measures),
        ),
        files=measures.paths_of(order[: min(5, files)]),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=stall_s,
        cure=in_shards(measures, shards, unique / shards, READ_BYTES),
        gain=gain,
        not_worth=f"for a run shorter than the conversion, which reads and writes {human_bytes(unique)} once",
        copied_bytes=unique,
    )


def _without_asking(calls: CallGroup, asked_s: float) -> CallGroup:
    """Gives calls without what the training loop asks about files by name, so many seconds."""
    return dataclasses.replace(calls, within_s=max(0.0, calls.within_s - asked_s))


def _surely_spared_s(measures: Measures, usual_s: float, opens: float) -> float:
    """Gives what of the opens' time is certain not to be taken, of so many opens.

    Some of it may be the processors', or be spent in a queue behind the reads of other readers. What one
    reader waits beyond what a local file system takes is neither.
    """
    sure_s = SURE_OF_OPENS * usual_s
    return sure_s if measures.model.readers > ALONE else max(sure_s, usual_s - SLOW_OPEN_S * opens)


def _waits_for_bytes(measures: Measures) -> float:
    """Gives for how long opens and their like were held by a limit of bytes, which shards have as many of."""
    allowance = measures.allowance
    if allowance is None or not counts_bytes(measures):
        return 0.0
    return allowance.held_share * (1 - allowance.reads_share) * float(measures.costs.call_s.sum())


def _seen(measures: Measures, least: float) -> str:
    """Words what shows how much of a file's time its bytes are not."""
    allowance = measures.allowance
    if allowance is not None and allowance.counts is not None:
        return limit_words(allowance.counts)
    per_byte = seconds_per_byte_shown(measures)
    if per_byte is not None:
        return f"a byte of a read takes {per_byte * 1e9:.2f} ns, by reads of other sizes"
    probed = seconds_per_byte_probed(measures)
    if probed is not None:
        return f"a byte of a read takes {probed * 1e9:.2f} ns, by a probe"
    return f"{percent(least, 1)} even if a reader gets no more than {human_bytes(STREAMS_BYTES[0])}/s"


def _pays_after(measures: Measures, saved_s: float, unit: str) -> str:
    """Words after how many epochs, or runs, the conversion is won back: it takes as long as two passes."""
    times = 1.0 if unit == "run" else measures.figures.epochs
    saved_s *= measures.model.units / times
    if saved_s <= 0:
        return "never"
    reading_s = measures.seconds(measures.input_calls) * measures.model.units / times
    return plural(max(1, math.ceil(2 * reading_s / saved_s)), unit)
