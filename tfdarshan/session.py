"""Sessions as users have them: what `profile()` gives back, and what the command line and the tab read."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfdarshan.errors import SessionDataError
from tfdarshan.native.package_versions import check_view
from tfdarshan.sessions.find import find_sessions
from tfdarshan.sessions.session_data import SessionData

if TYPE_CHECKING:
    import pandas as pd

    from tfdarshan.findings.diagnosis import Diagnosis as Diagnosis
    from tfdarshan.findings.verdict import Verdict as Verdict

__all__ = ["Session", "find_sessions", "open_newest", "open_session"]


class Session(SessionData):
    """One recorded session, which can also say what it found. Tables are read when first asked for."""

    @cached_property
    def files_brief(self) -> pd.DataFrame:
        """One row per path with what people read of it, the slowest first: `brief_tables.brief_files`.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        from tfdarshan.analysis.brief_tables import brief_files

        return brief_files(self.processes)

    def files_of(self, *, steps: tuple[int, int] | None = None, epoch: int | None = None) -> pd.DataFrame:
        """One row per path and module that calls of some steps used: `files_of_steps.FilesOfSteps`.

        Args:
            steps: The first and the last step; None for all.
            epoch: The epoch that the steps are of, from 1 on; None for all.

        Raises:
            SessionDataError: There are no such steps, or a table is damaged or missing.
        """
        from tfdarshan.analysis.steps.files_of_steps import files_of_steps

        return files_of_steps(self.processes, steps=steps, epoch=epoch).rows

    @cached_property
    def steps_brief(self) -> pd.DataFrame:
        """One row per training step, times in ms: `brief_tables.brief_steps`. Empty where there are none.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        from tfdarshan.analysis.brief_tables import brief_steps

        return brief_steps(self.steps)

    def summary(self, *, verbose: bool = False) -> str:
        """Return the session's summary as text, at most 100 columns wide; the verdict on it comes first.

        Args:
            verbose: All of it, as `tfdarshan summary -v` prints it; a screen by default.
        """
        from tfdarshan.findings.diagnosis import summary_and_diagnosis
        from tfdarshan.reports.text.answer_text import answer_text
        from tfdarshan.reports.text.brief_text import brief_text
        from tfdarshan.reports.text.summary_text import render
        from tfdarshan.terminal.paint import Paint

        data, diagnosis = summary_and_diagnosis(self, top=5)
        if verbose:
            return render(data, answer_text(diagnosis, Paint()))
        return brief_text(data, diagnosis)

    @cached_property
    def findings(self) -> Diagnosis:
        """What makes the job slow: the verdict, findings with what they cost, and what is not known.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        from tfdarshan.findings.diagnosis import diagnose

        return diagnose(self)

    @property
    def verdict(self) -> Verdict:
        """The sentence that comes first, with the gain of the fix that it names.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        return self.findings.verdict

    def log_to(self, logger: Any, step: int | None = None) -> dict[str, float]:
        """Write the main numbers into the log of a training run, and return them by name.

        The names begin with `tfdarshan/` and end with the unit, such as `tfdarshan/input_wait_share`
        (0 to 1), `tfdarshan/read_bytes_per_s` and `tfdarshan/expected_speedup` (of the verdict's
        fix). A number that the session cannot tell is left out.

        Args:
            logger: A W&B run, the module mlflow, a logger of Lightning, a SummaryWriter of PyTorch or
                TensorFlow, or a function that takes a dict and a step.
            step: The training step that the numbers are logged at; None: what the logger takes by itself.

        Raises:
            ConfigurationError: The logger is none of these.
            SessionDataError: A table is damaged or missing.
        """
        from tfdarshan.findings.diagnosis import summary_and_diagnosis
        from tfdarshan.reports.numbers_of_session import numbers_of, write_numbers

        data, diagnosis = summary_and_diagnosis(self, top=1)
        numbers = numbers_of(data, diagnosis.verdict)
        write_numbers(numbers, logger, step)
        return numbers

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows; None, and so the plain text, where the data cannot be read."""
        from tfdarshan.reports.notebook import session_html

        try:
            return session_html(self)
        except SessionDataError:
            return None


def open_session(path: str | os.PathLike[str], *, skip_damaged: bool = False) -> Session:
    """Open a session directory, or the newest finished session of a logdir.

    Args:
        path: The session directory, the logdir, or `LOGDIR:RUN` for a run or a session below it.
        skip_damaged: Leave out processes whose data cannot be read, and say so in `Session.problems`.

    Raises:
        SessionDataError: There is no finished session, or its data is damaged or of a newer schema.
        UnsupportedPlatformError: The packages that read sessions are missing, or do not work together.
    """
    check_view()
    return Session.open(path, skip_damaged=skip_damaged)


def open_newest(path: str | os.PathLike[str], count: int) -> list[Session]:
    """Open the newest `count` finished sessions of a logdir, oldest first; a session directory is one.

    Raises:
        SessionDataError: There are fewer, or one's data is damaged or of a newer schema.
        UnsupportedPlatformError: The packages that read sessions are missing, or do not work together.
    """
    check_view()
    return Session.open_newest(path, count)
