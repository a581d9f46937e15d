"""The one form of a question about more data than memory holds: map a task, merge partials.

A task names data, and is as small as a path and some bounds. Its partial is small, too. Merging is
associative and commutative, and `empty` is its identity: whoever runs the tasks, in whatever order, gets one
answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Generic, Protocol, TypeVar

from tfdarshan.errors import SessionDataError


class Task(Protocol):
    """What a question maps; `name` is what people are told of it if nobody could."""

    @property
    def name(self) -> str:
        """What it is of."""


class Versioned(Protocol):
    """A partial says which version of its kind it is: workers of a cluster may have another tfdarshan."""

    @property
    def version(self) -> int:
        """The version."""


TaskT = TypeVar("TaskT", bound=Task)
TaskIn = TypeVar("TaskIn", bound=Task, contravariant=True)
PartialT = TypeVar("PartialT", bound=Versioned)


class Question(Protocol[TaskIn, PartialT]):
    """A question; it goes to workers, so it is small and can be pickled. All its functions are pure."""

    def empty(self) -> PartialT:
        """Return the partial of no task."""

    def map(self, task: TaskIn) -> PartialT:
        """Return the partial of a task.

        Raises:
            SessionDataError: Its data is damaged or missing.
        """

    def merge(self, one: PartialT, other: PartialT) -> PartialT:
        """Return the partial of the tasks of both: of all tasks it is the answer."""


@dataclass(frozen=True)
class Gathered(Generic[PartialT]):
    """The merged partials of tasks, and the names of those that no worker lived to map, in order."""

    partial: PartialT
    lost: tuple[str, ...] = ()


def merged(question: Question[TaskT, PartialT], parts: Iterable[PartialT]) -> PartialT:
    """Merge partials.

    Raises:
        SessionDataError: One was made by another version of tfdarshan.
    """
    known = question.empty()

    def together(one: PartialT, other: PartialT) -> PartialT:
        if other.version != known.version:
            raise SessionDataError(
                f"a worker has another version of tfdarshan: its partials have version {other.version}, "
                f"and these {known.version}."
            )
        return question.merge(one, other)

    return reduce(together, parts, known)
