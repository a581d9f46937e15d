"""Leads a job's opens to the staged copies, without touching its code: `with tfdarshan.staged(PLAN):`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tfdarshan.durable.user_folders import temporary_folder
from tfdarshan.errors import ConfigurationError
from tfdarshan.native import _bridge
from tfdarshan.notice import warn
from tfdarshan.recording.session_lock import note_copies
from tfdarshan.staging.journal import FILE, Record
from tfdarshan.staging.original_looks import LOOK_AGAIN_S, LOOK_AHEAD_PROCESSES, LOOK_AHEAD_S
from tfdarshan.staging.plan_file import Plan, read_plan
from tfdarshan.staging.stage_folder import journal_of
from tfdarshan.units import plural


@contextmanager
def staged(plan: str | os.PathLike[str], *, look_again_s: float = LOOK_AGAIN_S) -> Iterator[StagedFiles]:
    """Open the fast copy wherever the job opens a staged file for reading only.

    At each open the copy is compared with what was staged, by size and time of change, and so is the
    original, unless that was done less than `look_again_s` ago and the job has not opened it for writing.
    Where the copy is missing, or either has changed, the original is opened, as if nothing were staged. This
    needs the hooks of a session: inside a `tfdarshan.profile()` it uses that one, which then shows the paths
    of copies; otherwise one without a trace is made for it and thrown away, so a session cannot begin inside.

    Args:
        plan: A plan that `tfdarshan stage apply` carried out.
        look_again_s: For how many seconds a look at an original holds, in all processes of the job on this
            host: a change by others may go unnoticed for so long. 0 looks at each open, infinity once.

    Raises:
        ConfigurationError: The plan cannot be used, or the seconds are negative.
        StorageError: The journal cannot be read, or staged files are in use already.
    """
    from tfdarshan.recording.profiler import profile

    with ExitStack() as stack:
        files = StagedFiles(read_plan(Path(plan)), look_again_s)
        if not _bridge.session_active():
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="tfdarshan-staged-", dir=temporary_folder())
            )
            stack.enter_context(profile(folder, trace=False, tf_profiler=False))
        files.start()
        try:
            yield files
        finally:
            files.stop()


class StagedFiles:
    """The staged files of a plan, and how often their copies were opened.

    The journal is read here, so that a session that begins after this does not count it as the job's.

    Raises:
        StorageError: The journal cannot be read.
    """

    def __init__(self, plan: Plan, look_again_s: float = LOOK_AGAIN_S) -> None:
        if not look_again_s >= 0:
            raise ConfigurationError(f"look_again_s is {look_again_s}: it has to be 0 seconds or more.")
        self.plan = plan
        self.look_again_s = look_again_s
        self._files = self._copies()
        self.count = len(self._files)
        self._last: _bridge.RedirectTotals | None = None

    def start(self) -> None:
        """Begin to redirect. Nothing is looked at on either tier.

        Raises:
            StorageError: Staged files are in use already.
        """
        if self.plan.files and self.count < len(self.plan.files):
            warn(self._not_applied())
        if why := _bridge.start_redirect(self._files, self.look_again_s):
            warn(f"programs that the job starts open the originals, not the copies, because {why}.")
        note_copies(self.plan.fast_root)

    def look_ahead(self) -> None:
        """Have the originals looked at while a program starts, so that its first opens need not.

        Waits for nothing. To be called after `start()`, by a small process: it forks.
        """
        if self.look_again_s:
            _bridge.look_ahead(LOOK_AHEAD_PROCESSES, LOOK_AHEAD_S)

    def stop(self) -> None:
        """End redirecting."""
        self._last = _bridge.redirect_totals()
        _bridge.stop_redirect()

    @property
    def totals(self) -> _bridge.RedirectTotals:
        """Opens that got a copy, and that got the original because the copy was missing or stale."""
        return self._last or _bridge.redirect_totals()

    def _copies(self) -> list[_bridge.StagedFile]:
        wanted = {file.name for file in self.plan.files}
        return [
            self._staged_file(records[-1])
            for name, records in journal_of(self.plan.fast_root).records.items()
            if name in wanted and self._is_copy(records[-1])
        ]

    def _is_copy(self, record: Record) -> bool:
        return record.kind == FILE and record.stands_for(self.plan.original(record.name))

    def _not_applied(self) -> str:
        """Say that copies were not made, or were taken back."""
        whole, fast = len(self.plan.files), self.plan.fast_root
        if not self.count:
            return (
                f"the plan is not applied: none of its {plural(whole, 'file')} has a copy in {fast}, and the "
                "job reads the originals. `tfdarshan stage apply PLAN` makes the copies"
            )
        return (
            f"the plan is applied in part: {self.count:,} of its {whole:,} files "
            f"{'has' if self.count == 1 else 'have'} a copy in {fast}. "
            "`tfdarshan stage apply PLAN` makes the others"
        )

    def _staged_file(self, record: Record) -> _bridge.StagedFile:
        slow, fast = os.path.normpath(self.plan.slow_root), self.plan.fast_root
        original, copy = (os.path.join(root, record.name) for root in (slow, fast))  # noqa: PTH118
        return _bridge.StagedFile(original, copy, record.size, record.source_mtime_ns, record.mtime_ns)
