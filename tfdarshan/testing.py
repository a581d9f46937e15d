"""`io_budget`: fails a test that does more file I/O than it may.

Importing this module loads nothing: what records and counts is imported when a budget begins.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tfdarshan.durable.user_folders import temporary_folder
from tfdarshan.errors import ConfigurationError
from tfdarshan.options import make_options
from tfdarshan.recording.keyword_options import documents_options, option_values, says_wrong_arguments

if TYPE_CHECKING:
    from tfdarshan.comparison.metric import Metric
    from tfdarshan.recording.profiler import Profile
    from tfdarshan.session import Session

P = ParamSpec("P")
R = TypeVar("R")

# What a budget can limit, and the columns of the file table that say which files it was spent on.
BUDGETS: dict[str, tuple[str, ...]] = {
    "bytes_read": ("bytes_read",),
    "bytes_written": ("bytes_written",),
    "files": ("opens",),
    "opens": ("opens",),
    "calls": ("opens", "reads", "writes", "stats"),
    "reads": ("reads",),
    "zero_length_reads": ("zero_reads",),
    "writes": ("writes",),
    "stats": ("stats",),
    "syncs": ("writes",),
    "failures": ("opens",),
    "io_time": ("time_s",),
    "read_time": ("read_s",),
    "write_time": ("write_s",),
    "metadata_time": ("meta_s",),
    "storage_bytes_read": ("bytes_read",),
}
MOST_FILES = 5


class BudgetExceeded(AssertionError):  # noqa: N818 - pytest shows the name: it says what happened
    """More I/O was done than the test may do; the message names the files that cost most."""


@dataclasses.dataclass(frozen=True)
class Overrun:
    """One budget that was exceeded; figures in the metric's unit."""

    metric: Metric
    allowed: float
    spent: float


@documents_options(tf_profiler=False)
class io_budget:  # noqa: N801 - reads as a function where it is used
    """Limits the file I/O of a block or a function; raises `BudgetExceeded` where it does more.

    Use it as `with io_budget(opens=100, bytes_read="10MB"):` or as a decorator of a function or coroutine
    function. What the block raises itself goes through, and nothing is checked then. A limit is a number
    (bytes, seconds) or text with a unit such as "10MB" or "1.5s". TensorFlow's own profiler, which takes time
    and memory, is left out unless it is asked for.

    Args:
        bytes_read: Limit on what reads and copies returned; B.
        bytes_written: Limit on what writes and copies took; B.
        files: Limit on files with at least one call; a count.
        opens: Limit on opens that succeeded; a count.
        calls: Limit on all recorded calls; a count.
        reads: Limit on read calls; a count.
        zero_length_reads: Limit on reads that returned nothing: probes for the end of a file; a count.
        writes: Limit on write calls; a count.
        stats: Limit on stat and its like; a count.
        syncs: Limit on fsync, fflush; a count.
        failures: Limit on calls that returned an error; a count.
        io_time: Limit on wall clock: at least one call was running; s.
        read_time: Limit on wall clock: at least one read was running; s.
        write_time: Limit on wall clock: at least one write or sync was running; s.
        metadata_time: Limit on wall clock: at least one such call was running; s.
        storage_bytes_read: Limit on what the kernel fetched from the machine's own storage meanwhile; B.
        logdir: Local folder that keeps the session. Without it the session is removed once it was checked.
        {options}

    Attributes:
        session: What was recorded, once the block has ended; without `logdir` its tables are gone by then.
        spent: Each limited figure, in its unit, once the block has ended.

    Raises:
        ConfigurationError: A name is no limit and no option, nothing is limited, or a limit cannot be read.
    """

    @says_wrong_arguments
    def __init__(
        self,
        *,
        bytes_read: float | str | None = None,
        bytes_written: float | str | None = None,
        files: float | str | None = None,
        opens: float | str | None = None,
        calls: float | str | None = None,
        reads: float | str | None = None,
        zero_length_reads: float | str | None = None,
        writes: float | str | None = None,
        stats: float | str | None = None,
        syncs: float | str | None = None,
        failures: float | str | None = None,
        io_time: float | str | None = None,
        read_time: float | str | None = None,
        write_time: float | str | None = None,
        metadata_time: float | str | None = None,
        storage_bytes_read: float | str | None = None,
        logdir: str | os.PathLike[str] | None = None,
        engine: str = "auto",
        darshan_library: str | os.PathLike[str] | None = None,
        darshan_files: int = 1_000_000,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        default_excludes: bool = True,
        memory_cap_mb: int = 1024,
        trace: bool = True,
        trace_memory_mb: int | None = None,
        spool_dir: str | os.PathLike[str] | None = None,
        follow_children: bool = True,
        programs: bool = False,
        mapped: bool | str = False,
        as_if: str | None = None,
        as_if_paths: Sequence[str] = (),
        tf_profiler: bool | str = False,
        tf_profiler_max_s: int = 60,
        probe: bool = False,
        job: str | None = None,
    ) -> None:
        given = dict(locals())
        limits = {name: given[name] for name in BUDGETS if given[name] is not None}
        self._logdir, self._options = logdir, option_values(given)
        self._given = limits | self._options | {"logdir": logdir}
        if not limits:
            raise ConfigurationError(
                f"io_budget needs something to limit: {', '.join(BUDGETS)}, such as io_budget(opens=100)."
            )
        self._limits = {name: _limit_of(name, value) for name, value in limits.items()}
        make_options(self._options)
        self._profile: Profile | None = None
        self._folder: Path | None = None
        self.session: Session | None = None
        self.spent: dict[str, float] = {}

    def __enter__(self) -> io_budget:
        from tfdarshan.recording.profiler import start_alone

        logdir = self._logdir
        if logdir is None:
            logdir = self._folder = Path(tempfile.mkdtemp(prefix="tfdarshan-budget-", dir=temporary_folder()))
        try:
            self._profile = start_alone(logdir, self._options)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        __tracebackhide__ = True
        assert self._profile is not None
        in_this_process = self._profile.in_this_process()
        try:
            self._profile.stop()
            if kind is None and in_this_process:
                self._check(self._profile.session)
        finally:
            if in_this_process:  # a child that leaves the block, too, leaves the session to its parent
                self._remove()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function or coroutine function: every call has the budget for itself."""
        if inspect.isclass(function):
            raise ConfigurationError(
                f"{function.__qualname__} is a class, and a budget is for one call: give each test its own "
                "by `@pytest.mark.io_budget(...)` at the class."
            )
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise ConfigurationError(
                f"{function.__qualname__} is a generator, which runs while others do: "
                "use `with io_budget(...)` inside it."
            )
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def limited_coroutine(*args: P.args, **kwargs: P.kwargs) -> Any:
                __tracebackhide__ = True
                with io_budget(**self._given):
                    return await function(*args, **kwargs)

            return limited_coroutine  # type: ignore[return-value]

        @functools.wraps(function)
        def limited(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            with io_budget(**self._given):
                return function(*args, **kwargs)

        return limited

    def _check(self, session: Session) -> None:
        __tracebackhide__ = True
        from tfdarshan.comparison.metric import find_metric
        from tfdarshan.reports.views.view_source import Source

        self.session = session
        source = Source(session)
        overruns, unknown = [], []
        for name, allowed in self._limits.items():
            metric = find_metric(name)
            spent = metric.value(source)
            if spent is None:
                unknown.append(name)
                continue
            self.spent[name] = spent
            if spent > allowed:
                overruns.append(Overrun(metric, allowed, spent))
        if overruns:
            raise BudgetExceeded(_message(overruns, source))
        if unknown:
            raise BudgetExceeded(f"the session does not say {', '.join(unknown)}: leave that limit out.")

    def _remove(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _limit_of(name: str, value: Any) -> float:
    """Return a limit in the metric's unit."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
        return float(value)
    limit = _with_unit(name, value) if isinstance(value, str) else None
    if limit is None:
        raise ConfigurationError(f"{name} must be {_allowed(name)}, not {value!r}.")
    return limit


def _with_unit(name: str, text: str) -> float | None:
    """Return the limit that text such as "10MB" says, None where it says none."""
    from tfdarshan.comparison.condition import VALUE, parse_condition

    try:
        condition = parse_condition(f"{name}>{text.strip()}")
    except ConfigurationError:
        return None
    return condition.limit if condition.kind == VALUE else None


def _allowed(name: str) -> str:
    from tfdarshan.comparison.condition import UNITS
    from tfdarshan.comparison.metric import find_metric

    units = ", ".join(UNITS.get(find_metric(name).unit, {}))
    return f"a number from 0 on, or text with one of the units {units}" if units else "a number from 0 on"


def _message(overruns: list[Overrun], source: Any) -> str:
    """Describe what was exceeded by how much, on which files it was spent, and what disturbs times."""
    from tfdarshan.analysis.ranks.processor_share import others_sentence
    from tfdarshan.units import plural

    lines = [f"{plural(len(overruns), 'budget')} exceeded:"]
    for overrun in overruns:
        worded = overrun.metric.worded
        lines.append(
            f"  {overrun.metric.label}: {worded(overrun.spent)}, allowed {worded(overrun.allowed)} "
            f"({overrun.metric.name}={overrun.allowed:g})"
        )
    for overrun in overruns:
        lines += _costliest(overrun.metric, source.files.rows)
    if any(overrun.metric.is_timed for overrun in overruns):
        lines += filter(None, [others_sentence(source.summary.others_share)])
    return "\n".join(lines)


def _costliest(metric: Metric, rows: Any) -> list[str]:
    from tfdarshan.terminal.columns import Columns
    from tfdarshan.units import human_seconds, plural

    columns = Columns("  ", 12, "  ", 0)
    cost = rows[list(BUDGETS[metric.name])].sum(axis=1)
    chosen = cost[cost > 0].sort_values(ascending=False, kind="stable")
    if not len(chosen):
        return []
    lines = [f"most {metric.label}, of {plural(len(chosen), 'file')}:"]
    for place, value in chosen.head(MOST_FILES).items():
        worded = human_seconds(value) if metric.unit == "s" else metric.worded(value)
        lines.append(columns.row(worded, rows["path"][place]))
    return lines
