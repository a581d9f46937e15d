"""What a finding is, for its page of the documentation: each cause says it in its own module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class About:
    """A finding explained.

    Attributes:
        title: Its title, such as "Reads are serial".
        cause: What happens, and why it costs time: two or three sentences.
        says: A title of one, as `tfdarshan findings` and the tab's Overview show it.
        seen: What else a reader sees, and where; nothing if that is all.
        fixes: The change for each framework, or kind of file or job, in the order shown.
        estimate: How its speedup is estimated: what the replay changes, and what makes the range wide.
        ignore: When to ignore it, to be read after "Ignore this if": on its page, and of each finding.
        fix: What the fix is called among others, such as "more reads at a time"; "" without one.
    """

    title: str
    cause: str
    says: str
    seen: tuple[str, ...] = ()
    fixes: Mapping[str, str] = field(default_factory=dict)
    estimate: str = ""
    ignore: str = ""
    fix: str = ""
