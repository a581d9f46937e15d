"""What a probe of the storage says of a session's calls: the share that is served one at a time."""

from __future__ import annotations

from dataclasses import dataclass

from tfdarshan.findings.measures import Measures
from tfdarshan.storage_probe.depth_scaling import Scaling

# Where this share of the bytes is streamed, the kernel reads ahead: storage sees reads of so many bytes.
STREAMED = 0.8
READ_AHEAD_BYTES = 131_072


@dataclass(frozen=True)
class ProbedShare:
    """It, with its bounds, and the most readers at a time that the probe had."""

    expected: float
    low: float
    high: float
    most_readers: float


def probed_share(measures: Measures) -> ProbedShare | None:
    """Gives it for the session's mix of calls; None without a probe that shows it."""
    probe = measures.probe
    if probe is None:
        return None
    small, large = probe.small, probe.large
    told = [scaling for scaling in (small, large) if scaling is not None and scaling.share is not None]
    if small is None or not told:
        return None
    reads, calls = measures.group("read"), measures.input_calls
    size = reads.moved_bytes / reads.calls if reads.calls else 0.0
    if measures.streamed_share >= STREAMED:
        size = max(size, READ_AHEAD_BYTES)
    if large is not None and len(told) == 1 and told[0] is not _nearer(small, large, size):
        return None
    others = max(calls.calls - reads.calls, 0)
    alone_s = _at(size, [scaling.alone_s for scaling in told], told)
    other_s = told[0].alone_s
    whole_s = alone_s * reads.calls + other_s * others
    expected, low, high = (
        min(1.0, (_at(size, serial, told) * reads.calls + serial[0] * others) / max(whole_s, 1e-12))
        for serial in (
            [(scaling.share or 0.0) * scaling.alone_s for scaling in told],
            [scaling.low * scaling.alone_s for scaling in told],
            [scaling.high * scaling.alone_s for scaling in told],
        )
    )
    most = min(scaling.most_readers for scaling in told)
    return ProbedShare(expected, min(low, expected), max(high, expected), most)


def _nearer(small: Scaling, large: Scaling, size: float) -> Scaling:
    """Gives that of which the reads are nearer to such reads."""
    return large if size > (small.size * large.size) ** 0.5 else small


def _at(size: float, seconds: list[float], told: list[Scaling]) -> float:
    """Gives what a read of a size takes by what reads of one or two sizes do: on the line through them."""
    if len(told) == 1:
        return seconds[0]
    slope = (seconds[1] - seconds[0]) / (told[1].size - told[0].size)
    return max(seconds[0] + slope * (size - told[0].size), min(seconds))
