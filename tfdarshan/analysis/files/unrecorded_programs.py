"""Programs that a job started and that were not recorded: what a coverage below 100 % may be of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfdarshan.units import plural

MOST_NAMED = 4


@dataclass(frozen=True)
class UnrecordedPrograms:
    """Such programs of a session.

    Attributes:
        starts: How often each was started, by its name.
        not_waited_for: How many may be in none of the kernel's figures: nobody had waited for them.
        others: There were more than the session has noted.
    """

    starts: Mapping[str, int] = field(default_factory=dict)
    not_waited_for: int = 0
    others: bool = False

    @property
    def words(self) -> str:
        """Name them, the most frequent first; "" if there are none."""
        least = "at least " if self.others else ""
        ranked = sorted(self.starts.items(), key=lambda entry: (-entry[1], entry[0]))
        named = ranked[:MOST_NAMED]
        words = [f"{name} ({least}{starts:,} times)" if starts > 1 else name for name, starts in named]
        more = len(ranked) - MOST_NAMED
        return ", ".join([*words, *([f"{more} more"] if more > 0 else [])])

    @property
    def sentences(self) -> list[str]:
        """Say which they are and how to record them, and that nobody waited for some."""
        said = []
        if self.starts:
            said.append(f"Programs that were not recorded: {self.words}. Record them with `--programs`.")
        if self.not_waited_for:
            lacks = plural(self.not_waited_for, "program")
            said.append(f"The kernel's count may lack {lacks} that the job had not waited for.")
        return said


NONE_UNRECORDED = UnrecordedPrograms()


def unrecorded_programs(metas: Iterable[Mapping[str, Any]]) -> UnrecordedPrograms:
    """Return those of a session.

    Args:
        metas: The metadata of its processes, of which the owners' has them.
    """
    starts: Counter[str] = Counter()
    not_waited_for, others = 0, False
    for meta in metas:
        programs = meta.get("programs") or {}
        starts.update(programs.get("not_recorded", {}))
        not_waited_for += programs.get("not_waited_for", 0)
        others |= programs.get("list_full", False)
    return UnrecordedPrograms(dict(starts), not_waited_for, others)
