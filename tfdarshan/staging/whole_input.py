"""Staging all files that can be: the one answer that advice, tab, findings and what-if give."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.staging.candidate import Candidates, find_candidates, look_anew, without_looks
from tfdarshan.staging.expectation import Expectation, expect
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.later_epochs import LaterEpochs, later_epochs
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.run_facts import RunFacts
from tfdarshan.staging.valuation import Valuation, total, value_candidates

# So often the length of a run with copies is worked out anew from the looks that it makes.
ROUNDS = 3
# A mirror is named where looks at originals may take this share of what is left of a run with copies. In runs
# of programs that start at once they took half of what they may.
MUCH_LOOKED = 1 / 3


@dataclass(frozen=True)
class WholeInput:
    """All files staged.

    Attributes:
        found: The files that can be.
        valuation: What each takes per epoch, where it is and on the fast tier.
        expected: What to expect of an epoch.
        later: What the page cache may serve of a run's later epochs.
    """

    found: Candidates
    valuation: Valuation
    expected: Expectation
    later: LaterEpochs

    @property
    def saved_s(self) -> Array:
        """Thread seconds per epoch that each of the files saves."""
        saved: Array = self.valuation.saved_s
        return saved

    def expected_of(self, facts: RunFacts, members: Array) -> Expectation:
        """Gives what to expect if only some of the candidates are staged."""
        return expect(facts, self.valuation.epochs, self.valuation.thread_time(members), facts.input_wait)


def stage_all(
    use: FileUse,
    facts: RunFacts,
    fast_tier: TierProbe,
    *,
    found: Candidates | None = None,
    session_epochs: float | None = None,
    input_wait: float | None = None,
    block_bytes: int = 1,
) -> WholeInput:
    """Works out what staging all files gives.

    Args:
        use: What the files were used for.
        facts: The run.
        fast_tier: The tier that they go to.
        found: The files that can be staged; by default all that are input, databases too.
        session_epochs: Epochs in the sessions; None to take the median of how often files were read.
        input_wait: Share of the time in which training waits for input; None to take what the steps say.
        block_bytes: What the fast tier allots space in.
    """
    wait = facts.input_wait if input_wait is None else input_wait

    def staged(found: Candidates) -> WholeInput:
        valuation = value_candidates(
            use, found, fast_tier, readers=facts.readers, epochs=session_epochs, block_bytes=block_bytes
        )
        expected = expect(facts, valuation.epochs, valuation.thread_time(), wait)
        return WholeInput(found, valuation, expected, later_epochs(use, facts, valuation))

    whole = staged(find_candidates(use, by_hand=True) if found is None else found)
    for _ in range(ROUNDS):
        # A run that gets shorter looks at fewer originals, and gets shorter by that.
        left_s = use.run_s * (1 - whole.expected.saved_s / max(whole.expected.epoch_s, 1e-9))
        again = look_anew(use, whole.found, left_s)
        if np.array_equal(whole.found.looks.expected_s, again.looks.expected_s):
            break
        whole = staged(again)
    if not whole.found.mirrored and _looks_take_much(whole, facts, wait):
        return staged(without_looks(use, whole.found))
    return whole


def _looks_take_much(whole: WholeInput, facts: RunFacts, input_wait: float | None) -> bool:
    """Says whether looks may take much of what is left of a run, were the fast tier to take nothing."""
    time = dataclasses.replace(whole.valuation.thread_time(), fast_s=0.0, still_fast_s=0.0)
    left = expect(facts, whole.valuation.epochs, time, input_wait)
    looks_s = total(whole.found.looks.most_s) / max(facts.readers, 1.0) / whole.valuation.epochs
    return looks_s >= MUCH_LOOKED * (left.epoch_s - left.saved_s) > 0
