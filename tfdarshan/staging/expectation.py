"""From seconds of threads saved to seconds of an epoch saved, with a range."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from tfdarshan.analysis.step_model import MAY_WAIT, most_of_a_run_s, noise_s
from tfdarshan.staging.run_facts import RunFacts

# Readers that are busy less than this share of the time wait for something else.
BUSY_READERS, SEVERAL = 0.5, 1.5
# The fast tier may turn out half as fast as the probe found, beside other jobs; and so many times as fast,
# for a copy that was just made is in memory, which the probe reads past.
FAST_SLOWER, FAST_QUICKER = 2.0, 5.0
# What is not waited for any more may be worked for, and more so the more threads take turns at it: of what
# is saved all but this share for each reader is sure, and at least so much.
UNSURE_EACH, SURE = 0.05, 0.75
# A thread that waited goes on later than its call ended, and with cold caches, and so do those that it hands
# its sample to, on processors that fell idle: in the lower bound, the expectation and the upper bound.
WAKE_S = (0.0, 20e-6, 1e-3)
# What is left is the processors' work and reads of the fast tier, neither of which vanishes: no less than
# this share of what is expected.
LEAST_LEFT = 0.3
# Wherever files are, what processors work stays: what training takes at least, in the lower bound and as is
# expected, over what it takes if all processors always work. They never do to the last, and of the work some
# goes with calls.
STILL_WORKED = (1 / 0.9, 0.85)


@dataclass(frozen=True)
class Expectation:
    """An epoch's time before and after staging.

    Attributes:
        epoch_s: Before.
        saved_s: What it takes less.
        low_s: The lower bound of that.
        high_s: The upper bound.
        still_s: Of `saved_s`, what the loop stood still for between steps.
        if_so_s: What it takes less if these files are what the job waits for; `saved_s` where that is known.
        writes_s: Of `saved_s`, what writes by the loop take less that no longer wait for reads.
    """

    epoch_s: float
    saved_s: float
    low_s: float
    high_s: float
    still_s: float = 0.0
    if_so_s: float = 0.0
    writes_s: float = 0.0

    @property
    def gain(self) -> float:
        """How much faster an epoch is: 0.2 is 20 %."""
        return gain(self.epoch_s, self.saved_s)

    @property
    def gain_range(self) -> tuple[float, float]:
        """The bounds of `gain`."""
        return gain(self.epoch_s, self.low_s), gain(self.epoch_s, self.high_s)


@dataclass(frozen=True)
class ThreadTime:
    """Seconds of threads per epoch that a choice of files takes: on the slow tier, and then on the fast one.

    `doubt` is the relative uncertainty of `slow_s`, from the scatter of single files; `waits` are calls for
    which a thread waited on the slow tier. `still_slow_s` and `still_fast_s` are what of both is spent while
    the loop stands still between steps. `looks_more` and `looks_less` are what looks at originals may take
    more or less than was counted, as shares of `slow_s`. `waited_s` is what steps waited with these calls
    under way, shared by all files whose calls were; 0 where nothing says that.
    """

    slow_s: float
    fast_s: float
    doubt: float = 0.0
    waits: float = 0.0
    still_slow_s: float = 0.0
    still_fast_s: float = 0.0
    looks_more: float = 0.0
    looks_less: float = 0.0
    waited_s: float = 0.0

    @property
    def beside(self) -> ThreadTime:
        """What is read for steps."""
        slow_s, fast_s = self.slow_s - self.still_slow_s, self.fast_s - self.still_fast_s
        return dataclasses.replace(self, slow_s=slow_s, fast_s=fast_s, still_slow_s=0.0, still_fast_s=0.0)

    @property
    def in_pauses(self) -> ThreadTime:
        """What is read while the loop stands still between steps."""
        slow_s, fast_s = self.still_slow_s, self.still_fast_s
        return dataclasses.replace(
            self, slow_s=slow_s, fast_s=fast_s, waits=0.0, still_slow_s=0.0, still_fast_s=0.0, waited_s=0.0
        )


def gain(before_s: float, saved_s: float) -> float:
    """Gives how much faster something is that took `before_s` and takes `saved_s` less."""
    left = before_s - saved_s
    return saved_s / left if left > 0 else math.inf


def readers_idle(facts: RunFacts) -> bool:
    """Says whether the readers were not in file calls for most of the time."""
    return facts.busy_share < BUSY_READERS


def expect(facts: RunFacts, epochs: float, time: ThreadTime, input_wait: float | None) -> Expectation:
    """Turns thread time into time of an epoch, by the time model that findings and what-if go by.

    Readers that are kept busy all the time make an epoch shorter by what each of them saves. Calls overlap
    less than there are readers where the readers do other things too; dividing by the calls at a time instead
    gives the upper bound. What training does not wait for cannot be saved; where nothing says whether it
    waits, the lower bound has what its own thread stands still for, if that makes nearly all of the calls.

    Args:
        facts: The run.
        epochs: Epochs in the sessions.
        time: The files' time on either tier.
        input_wait: Share of the run in which training waited for input, None if unknown.
    """
    model = facts.model_with(input_wait)
    pauses, time = time.in_pauses, time.beside
    readers, loop = max(facts.readers, 1.0), facts.loop_share
    together = max(1.0, min(facts.concurrency, readers))
    slower, if_so, faster = _saved_thread_s(time, readers)
    likely = if_so
    # What is gone of the calls that steps wait for, and of these waits.
    shares = [max(0.0, less_s) / max(time.slow_s, 1e-12) for less_s in (slower, if_so, faster)]
    held_up_s = [
        min(1.0, share) * waited_s
        for share, waited_s in zip(shares, model.held_up_s(time.waited_s * epochs), strict=True)
    ]
    if readers >= SEVERAL:
        # Several readers that rest wait for another stage, as long as it is what the steps wait for.
        slower *= min(1.0, model.busy_share / BUSY_READERS)
    if facts.may_wait_for_decoding:
        slower, likely, held_up_s[0] = 0.0, MAY_WAIT * if_so, 0.0
    # What the loop stands still for is saved as a whole, whatever else it waits for.
    stood = facts.pauses_at_a_time
    still_s = [
        min(max(less_s, 0.0) * epochs / stood, facts.pauses_s) for less_s in _saved_thread_s(pauses, stood)
    ]

    def saved(
        place: int, thread_s: float, at_a_time: float, chance: float = 1.0, written_s: float = 0.0
    ) -> float:
        """Gives what an epoch is shorter by: what the loop's own thread stands still for counts whole.

        While a write waits for reads these go on, and what they did then they have to do later.
        """
        woken_s = min(WAKE_S[place] * time.waits * epochs, readers * model.other_s)
        less_s = max(thread_s, 0.0) * epochs + woken_s
        # Of what is likely to be gone, as much as of what is gone if all is so.
        of_these = thread_s / if_so if place == 1 and if_so > 0 else 1.0
        beside_s = max((1 - loop) * less_s / at_a_time, of_these * held_up_s[place])
        waited_s = model.saved_s(beside_s)
        written_s = max(0.0, model.saved_s(beside_s, written_s, 1.0) - waited_s) if written_s > 0 else 0.0
        waited_s = chance * min(waited_s, model.most_for_calls_s[place])
        return min(waited_s + written_s + loop * less_s + still_s[place], whole_s)

    whole_s = facts.training_s
    known = model.certain or facts.loop_reads
    most_s = [max(0.0, whole_s - share * facts.worked_s) for share in STILL_WORKED]
    low_s = saved(0, slower, readers, 1.0 if model.certain else 0.0) if known else still_s[0]
    # What is written to the same storage is written sooner if less is read from it.
    gone = min(1.0, time.slow_s * epochs / max(readers * model.storage_s, 1e-9))
    seen_s = gone * model.writes_for_reads_s
    if_so_s, likely_s, unwritten_s = (
        min(saved(1, thread_s, readers, chance, written_s), most_s[1])
        for thread_s, chance, written_s in (
            (if_so, 1.0, seen_s),
            (likely, model.chance_of_wait, seen_s),
            (likely, model.chance_of_wait, 0.0),
        )
    )
    low_s = min(low_s, most_s[0])
    high_s = saved(2, faster, together)
    writes_s = gone * model.shared_writes_s if likely_s > 0 else 0.0
    high_s = min(high_s + writes_s, whole_s)
    low_s = min(low_s, likely_s)
    low_s = max(0.0, low_s - noise_s(whole_s, low_s))
    sooner_s = likely_s - unwritten_s
    high_s = _at_most(whole_s, likely_s, high_s, writes_s - min(sooner_s, writes_s))
    found_s = (whole_s, likely_s, low_s, max(high_s, if_so_s), still_s[1], if_so_s, sooner_s)
    return Expectation(*(seconds / epochs for seconds in found_s))


def _saved_thread_s(time: ThreadTime, readers: float) -> tuple[float, float, float]:
    """Gives what so many readers' calls take less per epoch: lower bound, expectation, upper bound."""
    likely = time.slow_s - time.fast_s
    slower = time.slow_s * (1 - time.doubt - time.looks_more) - time.fast_s * FAST_SLOWER
    slower = min(slower, max(1 - UNSURE_EACH * readers, SURE) * likely)
    faster = time.slow_s * (1 + time.doubt + time.looks_less) - time.fast_s / FAST_QUICKER
    return slower, likely, faster


def _at_most(whole_s: float, likely_s: float, high_s: float, writes_s: float) -> float:
    """Gives the upper bound of what is saved: runs differ, and of any run some is left, which gets quicker.

    Args:
        whole_s: What there is.
        likely_s: What is expected to be saved.
        high_s: What is saved at most if runs do not differ.
        writes_s: Of what is not expected to be saved, writes that may take nothing.
    """
    high_s = max(likely_s, high_s)
    if likely_s > 0:
        high_s = most_of_a_run_s(whole_s, high_s)
    return max(likely_s, min(high_s, whole_s - LEAST_LEFT * max(whole_s - likely_s - writes_s, 0.0)))
