"""The time model of a step, with terms measured in the session.

A step of S seconds waits W for its input and computes C = S - W (host-to-device copies and communication are
in C: they go on after the input is there). Its input pipeline works beside a share o of C, so that one batch
takes it P = W + o C. For another pipeline time P' the step takes

    S' = C + max(0, P' - o C)

which is the sum of both at o = 0 and the longer of both at o = 1. What a cure takes from P is saved as long
as there is a wait for it: min(P - P', W), whatever o is. Time in which the training loop's own thread is in a
call outside of its wait (a checkpoint, a stat) is saved less what the pipeline does beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

# From this share of the time on, readers that are always in a call say that the job waits for them.
SATURATED = 0.8
# A thread that makes this share of the calls itself does nothing else meanwhile, and nobody does it for it.
OWN_CALLS = 0.8
# With less wait the pipeline is held back by the steps: it could be quicker than it was.
HELD_BACK = 0.05
# Of the wait a cure saves this much at most, in the lower bound, expectation and upper bound, of a pipeline
# that works beside all compute: some batches come late though they would be in time on average.
MOST_OF_WAIT = (0.85, 0.95, 1.0)
# Nothing says whether a job waits for calls that readers of their own make now and then: it may as well not.
MAY_WAIT = 0.5
# Steps are not equally long: a run that changes nothing differs by this share, too. And the run that was
# recorded is one of several, which differ by this share of what is left, by runs of hundreds of jobs.
NOISE, RUNS_DIFFER = 0.01, 0.03
# A run that hardly takes anything any more differs by a part of that, whatever it took before.
NOISE_LEFT = 0.2
# What is left of a step has the processors, memory and storage more for itself the more is gone: at most it
# gets quicker by this share of the share that is gone. So chosen that of the promises made to jobs that
# nobody had seen nine of ten hold.
QUICKER_LEFT = 0.4


def most_saved_s(unit_s: float, saved_s: float) -> float:
    """Gives the most that is saved of a unit that loses `saved_s`: what is left gets quicker.

    Args:
        unit_s: What a unit took.
        saved_s: What it no longer waits, 0 to `unit_s`; of what is longer instead nothing gets quicker.
    """
    if saved_s <= 0 or unit_s <= 0:
        return saved_s
    return saved_s + QUICKER_LEFT * saved_s / unit_s * max(unit_s - saved_s, 0.0)


def noise_s(unit_s: float, saved_s: float) -> float:
    """Gives how much more, or less, another run of a job may save of a unit that loses `saved_s`."""
    return max(NOISE * unit_s, RUNS_DIFFER * (unit_s - saved_s))


def most_of_a_run_s(unit_s: float, saved_s: float) -> float:
    """Gives the most that a run saves of a unit that is expected to lose at most `saved_s`.

    Runs differ, and what is left gets quicker.

    Args:
        unit_s: What a unit took.
        saved_s: The most that it no longer waits.
    """
    more_s = min(noise_s(unit_s, saved_s), NOISE_LEFT * max(unit_s - saved_s, 0.0))
    return most_saved_s(unit_s, saved_s + more_s)


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
        handed_s: What of W it takes to hand a ready batch over to Python, which no cure spares.
        first_wait_s: What the first step waited longer than others, over their number: it has none before it.
        shared_writes_s: What of C writes to the input's storage take longer, at most, because it is read from
            meanwhile.
        writes_for_reads_s: What of that is expected: those that follow each other are so much quicker.
        unhidden_s: What of W calls have no part in: it is waited for however quick these are. 0 if unknown.
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
    first_wait_s: float = 0.0
    shared_writes_s: float = 0.0
    writes_for_reads_s: float = 0.0
    unhidden_s: float = 0.0

    @property
    def all_s(self) -> float:
        """The time of all units."""
        return self.units * self.unit_s

    @property
    def most_of_wait(self) -> tuple[float, float, float]:
        """What share of the wait a cure saves at most.

        All of it where no step says that it waited, and where the pipeline stands still beside compute: then
        each batch is waited for as long as it takes.
        """
        overlap = 0.0 if self.wait_s is None else self.overlap
        low, expected, high = (1 - overlap * (1 - share) for share in MOST_OF_WAIT)
        return low, expected, high

    @property
    def most_for_calls_s(self) -> tuple[float, float, float]:
        """What quicker calls save of the wait at most: in the lower bound, as expected, and at most."""
        called_s = max(0.0, self.most_wait_s - self.unhidden_s)
        low, expected, high = (share * self.most_wait_s for share in self.most_of_wait)
        return min(low, called_s), min(expected, called_s), high

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
    def chance_of_wait(self) -> float:
        """How likely it is that the job waits for these calls: 1 where it is known, or all but known."""
        return 1.0 if self.likely else MAY_WAIT

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

    @property
    def idle_s(self) -> float:
        """What of P is neither a call nor processor time: readers that wait for each other, and take turns.

        It goes along with the calls when these are fewer or more at a time.
        """
        return max(self.other_s - (self.cpu_s or 0.0), 0.0)

    def held_up_s(self, waited_s: float) -> tuple[float, float, float]:
        """Gives what of waits beside calls is for these calls: at least, as expected, and at most.

        Readers whose batches keep their order rest, once they are as far ahead as they may be, until the
        slowest call returns. What the processors did meanwhile, such as decoding other files, they still have
        to do: at worst all that they did, and by and large what they do at any time, but for the steps.

        Args:
            waited_s: What of a unit its steps waited with the calls under way.
        """
        if self.cpu_s is None or self.unit_s <= 0:
            return 0.0, 0.0, waited_s
        beside = min(1.0, max(0.0, self.cpu_s - self.compute_s) / self.unit_s)
        return max(0.0, waited_s - self.cpu_s), waited_s * (1 - beside), waited_s

    def step_s(self, pipeline_s: float, overlap: float | None = None) -> float:
        """Gives S' for another P, or another overlap."""
        o = self.overlap if overlap is None else overlap
        return self.compute_s + max(0.0, pipeline_s - o * self.compute_s)

    def saved_s(self, pipeline_less_s: float, stall_less_s: float = 0.0, beside: float = 0.0) -> float:
        """Gives what a step saves: no more than it waits beyond the handing over of a ready batch.

        What the pipeline did while the loop stood still it has to do in the wait when the loop no longer
        does: with C' = C - stall, S' = C' + max(0, P' - (o C - beside stall)).

        Args:
            pipeline_less_s: What its pipeline takes less.
            stall_less_s: What its loop stands still less, outside of its wait.
            beside: The share of its full pace at which the pipeline works meanwhile.
        """
        less_s = min(max(pipeline_less_s, 0.0), self.pipeline_s)
        waited_s = self.pipeline_s - self.overlap * self.compute_s
        left_s = max(0.0, waited_s + beside * stall_less_s - less_s)
        most_s = max(0.0, self.most_wait_s - self.handed_s) + stall_less_s
        return min(stall_less_s + max(0.0, waited_s) - left_s, most_s)
