"""Records some of a job's steps alone: the recording begins with the first and ends with the last of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from numbers import Real
from typing import Any

from tfdarshan.errors import ConfigurationError, TfdarshanError, reason
from tfdarshan.notice import warn

HOW_TO_MARK = "go over the input with `for batch in tfdarshan.steps(loader):`"


class ChosenSteps:
    """Counts steps, recorded or not, and begins and ends a recording.

    Args:
        first: The first step to record.
        last: The last one.
        begin: Begins to record. What goes wrong is a warning: the job goes on.
        end: Ends the recording.
        put_off: Forgets a recording that has no step: another one begins with the first step.

    Attributes:
        newest: The number of the newest step, -1 before the first.
        passes: Passes over the input that have begun.
        recording: Whether these steps are being recorded.
    """

    def __init__(
        self,
        first: int,
        last: int,
        begin: Callable[[], None],
        end: Callable[[], None],
        put_off: Callable[[], None],
    ) -> None:
        self.newest, self.passes = -1, 0
        self.recording = False
        self._first, self._last = first, last
        self._begin, self._end, self._put_off = begin, end, put_off
        self._begun, self._over, self._pid = 0, False, os.getpid()

    def expect(self, number: int | None, *, may_begin: bool = True) -> None:
        """Is told that a step is about to begin; None for the one after the newest.

        A recording does not begin with a request that only ends a pass: a validation may follow it.
        """
        if self._over or os.getpid() != self._pid:
            return
        expected = self._numbered(number)
        if self.recording and expected > self._last:
            self._finish()
        elif may_begin and not self.recording and self._first <= expected <= self._last:
            self._start()

    def passed(self) -> None:
        """Is told that the request that was expected to begin a step has ended its pass.

        What follows is another pass, or a validation: a recording that began with the request does not go on.
        """
        if self.recording and self.newest < self._first and os.getpid() == self._pid:
            self.recording = False
            self._put_off()

    def begun(self, number: int | None) -> None:
        """Is told that it has begun."""
        self.newest = self._numbered(number)
        self._begun += 1

    def ended(self) -> None:
        """Is told that the newest step has ended, before another one is known of."""
        if self.recording and self.newest >= self._last and os.getpid() == self._pid:
            self._finish()

    @property
    def unreached(self) -> str:
        """Why nothing was recorded, as a sentence; "" if something was."""
        if self.recording or self._over:
            return ""
        steps = f"steps {self._first:,} to {self._last:,} were not reached"
        if not self._begun:
            return f"{steps}: the job marks no steps. To mark them, {HOW_TO_MARK}."
        return f"{steps}, so nothing was recorded: the newest step is {self.newest:,}. Choose others."

    def _numbered(self, number: int | None) -> int:
        after = self.newest + 1
        return after if number is None else whole_number(number, after, is_first=not self._begun)

    def _start(self) -> None:
        self.recording = True
        try:
            self._begin()
        except (TfdarshanError, OSError, RuntimeError, MemoryError) as error:
            self.recording, self._over = False, True
            said = str(error) if isinstance(error, TfdarshanError) else f"{reason(error)}."
            warn(f"steps {self._first:,} to {self._last:,} are not recorded: {said}")

    def _finish(self) -> None:
        self.recording, self._over = False, True
        self._end()


def whole_number(number: Any, otherwise: int, *, is_first: bool) -> int:
    """Return the number that a job gave a step, as it is now; a job does not end if it is none.

    Args:
        number: What the job gave.
        otherwise: The number after that of the step before.
        is_first: There is no step before. Else a number that may be on a device is `otherwise`: asking for it
            would wait until the device has computed it.
    """
    in_memory = isinstance(number, Real) or type(number).__module__ == "numpy"
    if not (in_memory or is_first):
        return otherwise
    try:
        return int(number)
    except Exception:  # whatever a class of the job raises
        return otherwise


def checked_steps(steps: Any) -> tuple[int, int] | None:
    """Return the first and the last step that are chosen; None for all.

    Raises:
        ConfigurationError: It is neither a step nor two of them.
    """
    if steps is None:
        return None
    first, last = steps if isinstance(steps, (tuple, list)) and len(steps) == 2 else (steps, steps)
    whole = all(isinstance(number, int) and not isinstance(number, bool) for number in (first, last))
    if not whole or not 0 <= first <= last:
        raise ConfigurationError(
            f"steps must be a number from 0 on, or the first and the last such as (100, 200), not {steps!r}."
        )
    return first, last
