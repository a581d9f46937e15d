"""What more readers give: as much as storage does at a time, which the session shows, or does not."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from tfdarshan.analysis.allowance import Allowance
from tfdarshan.analysis.contention import call_time
from tfdarshan.analysis.taking_turns import TakingTurns
from tfdarshan.findings.finding import Evidence
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.probed_share import probed_share
from tfdarshan.findings.read_split import waits_share
from tfdarshan.units import human_seconds, percent

# What of a wait, and of a transfer, is expected to be served one at a time where nothing shows it: servers
# wait side by side, and most disks and links are a pipe that one reader fills.
WAITS, TRANSFERS = 0.08, 0.8
# From this share of a call on, more readers give at most 1.4 times as much.
FULL = 0.7
# Where nothing shows whether storage waits or is full, it is as likely to be the one as the other.
UNSHOWN = 0.5
# What an interval allows is the same for any readers: expected, lower and upper bound. What reads and writes
# show is no more certain than that.
ALLOWED = (1.0, 0.9, 1.0)
# Storage is known to bear as many readers as were seen, and is trusted to bear so many times more.
FURTHER = 2.0


@dataclass(frozen=True)
class SerialShare:
    """What of a call storage serves one at a time: at 1 more readers give nothing.

    Attributes:
        expected: Of a call's time alone, 0 to 1.
        low: Lower bound.
        high: Upper bound; 1 where the session does not show it.
        most_readers: Up to how many the session supports it; 1 where it does not.
        known: Whether the session shows it, or a probe.
        source: What shows it in place of the session: which probe; "" where the session does, or nothing.
        command: The command that would show it, "" where there is none.
    """

    expected: float
    low: float
    high: float
    most_readers: float
    known: bool
    source: str = ""
    command: str = ""

    @property
    def is_full(self) -> bool:
        """Whether it is shown that more reads at a time give next to nothing."""
        return self.known and self.low >= FULL

    def times(self, before: float, after: float) -> float:
        """Gives what calls are expected to take of a unit with other readers, as a share of before."""
        left = times_as_long(self.expected, before, after)
        return left if self.known or left > 1 else 1 - UNSHOWN * (1 - left)

    @property
    def words(self) -> str:
        """It in words."""
        if not self.known:
            to_know = f"; to know it: `{self.command}`" if self.command else ""
            return f"not shown by this session, which always had as many under way{to_know}"
        by = f", measured by {self.source}" if self.source else ""
        return f"{percent(self.expected, 1)} ({percent(self.low, 1)} to {percent(self.high, 1)}){by}"


def serial_share(measures: Measures) -> SerialShare:
    """Gives it: by the session, else by a probe, else what is usual, which has no lower bound of any gain."""
    allowance, found = measures.allowance, measures.contention
    if allowance is not None:
        return SerialShare(*ALLOWED, 1.0, True, allowed_words(allowance))
    if found is not None:
        return SerialShare(found.share, found.low, found.high, FURTHER * found.depth, True)
    turns = measures.turns
    if turns is not None and turns.low >= FULL:
        return SerialShare(turns.share, min(turns.low, ALLOWED[1]), 1.0, 1.0, True, turns_words(turns))
    probed = probed_share(measures)
    if probed is not None and measures.probe is not None:
        words = measures.probe.words
        return SerialShare(probed.expected, probed.low, probed.high, probed.most_readers, True, words)
    waits = waits_share(measures, 1)
    usual = waits * WAITS + (1 - waits) * TRANSFERS
    return SerialShare(usual, 0.0, 1.0, 1.0, False, command=probe_command(measures))


def allowed_words(found: Allowance) -> str:
    """Says what shows that storage gives so much in each interval."""
    return (
        f"{found.calls:,} calls that take {percent(found.held_share, 1)} of the time and end "
        f"{human_seconds(found.interval_s)} apart"
    )


def turns_words(found: TakingTurns) -> str:
    """Says what shows that reads and writes are served in turn."""
    return (
        f"writes, which go at {percent(found.writes, 1)} of their pace beside calls on input, and "
        f"{found.beside:,} of these, which go at {percent(found.reads, 1)} of theirs"
    )


def times_as_long(share: float, before: float, after: float) -> float:
    """Gives what calls take of a unit with other readers, as a share of what they took before."""
    return (call_time(share, after) / after) / (call_time(share, before) / before)


def probe_evidence(measures: Measures) -> tuple[Evidence, ...]:
    """Gives what to say of the share if it is a probe's, nothing else."""
    share = serial_share(measures)
    return (Evidence("of a call, served one at a time", share.words),) if share.source else ()


def probe_command(measures: Measures) -> str:
    """Gives the command that would show it; "" where the storage was emulated, or is of another machine."""
    if measures.imported or measures.summary.emulation is not None:
        return ""
    return f"tfdarshan probe --logdir {shlex.quote(measures.summary.path)}"
