"""The time model of a step, with terms measured in the session.

A step of S seconds waits W for its input and computes C = S - W (host-to-device copies and communication are
in C: they go on after the input is there). Its input pipeline works beside a share o of C, so that one batch
takes it P = W + o C. For another pipeline time P' the step takes

    S' = C + max(0, P' - o C)

which is the sum of both at o = 0 and the longer of both at o = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from tfdarshan.thresholds import THRESHOLD

# From this share of the time on, readers that are always in a call say that the job waits for them.
SATURATED = THRESHOLD["busy"]
# With less wait the pipeline is held back by the steps: it could be quicker than it was.
HELD_BACK = THRESHOLD["healthy"]


@dataclass(frozen=True, kw_only=True)
class StepModel:
    """Seconds are of one unit, the mean of all.

    Attributes:
        unit: "step", or "session" where nothing says what a step is.
        units: How many there are.
        unit_s: S, from the first one's start to the last one's end, over their number.
        wait_s: W; None if unknown.
        most_wait_s: What can have been waited for at most: W, or the time in which input calls were running.
        overlap: o, 0 to 1.
        storage_s: What of P the pipeline spends in calls: their durations over the readers.
        readers: Calls that can run at a time.
        busy_share: Share of the readers' time spent in calls.
        cpu_s: Processor time of the whole job; None if unknown.
        data_s: T_d, of C: copies from the host to the device; None where the trace shows no device.
        weights_s: T_w, of C: communication; None likewise.
        handed_s: What of W it takes to hand a ready batch over to Python, which no fix spares.
    """

    unit: str
    units: int
    unit_s: float
    wait_s: float | None
    most_wait_s: float
    overlap: float
    storage_s: float
    readers: float
    busy_share: float
    cpu_s: float | None = None
    data_s: float | None = None
    weights_s: float | None = None
    handed_s: float = 0.0

    @property
    def all_s(self) -> float:
        """The time of all units."""
        return self.units * self.unit_s

    @property
    def compute_s(self) -> float:
        """C: what is left of a step, all of it where the wait is unknown and may be nothing."""
        return max(self.unit_s - self.most_wait_s, 0.0)

    @property
    def certain(self) -> bool:
        """Whether it is known that the job waits as long as `most_wait_s` says."""
        return self.wait_s is not None

    @property
    def likely(self) -> bool:
        """Whether that is known, or readers that never rest make it likely."""
        return self.certain or self.busy_share >= SATURATED

    @property
    def wait_share(self) -> float | None:
        """W over S, None if unknown."""
        return self.wait_s / self.unit_s if self.wait_s is not None and self.unit_s > 0 else None

    @property
    def held_back(self) -> bool:
        """Whether the pipeline waits for the steps: then it could be quicker than it was.

        So it is where steps hardly wait; and where all processor time and all calls together are no more than
        what goes on beside compute, so that the wait has another cause.
        """
        if self.most_wait_s < HELD_BACK * self.unit_s:
            return True
        return self.cpu_s is not None and self.storage_s + self.cpu_s < self.overlap * self.compute_s

    @property
    def pipeline_s(self) -> float:
        """P; of a pipeline that is held back, what is known of it: its time in calls."""
        if self.held_back:
            return self.storage_s
        return max(self.most_wait_s + self.overlap * self.compute_s, self.storage_s)

    @property
    def other_s(self) -> float:
        """What of P is no call: decoding, shuffling, copying; 0 where the steps hold the pipeline back."""
        return max(self.pipeline_s - self.storage_s, 0.0)
