"""What more readers give: as much as storage does at a time, which the session shows, or does not."""

from __future__ import annotations

from dataclasses import dataclass

from tfdarshan.analysis.contention import call_time
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.read_split import waits_share
from tfdarshan.units import percent

# What of a wait, and of a transfer, is expected to be served one at a time where nothing shows it: servers
# wait side by side, and most disks and links are a pipe that one reader fills.
WAITS, TRANSFERS = 0.08, 0.8
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
        known: Whether the session shows it.
    """

    expected: float
    low: float
    high: float
    most_readers: float
    known: bool

    @property
    def words(self) -> str:
        """It in words."""
        if not self.known:
            return "not shown by this session, which always had as many under way"
        return f"{percent(self.expected, 1)} ({percent(self.low, 1)} to {percent(self.high, 1)})"


def serial_share(measures: Measures) -> SerialShare:
    """Gives it: as measured, or what is usual, and then with no lower bound of what more readers give."""
    found = measures.contention
    if found is not None:
        return SerialShare(found.share, found.low, found.high, FURTHER * found.depth, True)
    waits = waits_share(measures, 1)
    return SerialShare(waits * WAITS + (1 - waits) * TRANSFERS, 0.0, 1.0, 1.0, False)


def times_as_long(share: float, before: float, after: float) -> float:
    """Gives what calls take of a unit with other readers, as a share of what they took before."""
    return (call_time(share, after) / after) / (call_time(share, before) / before)
