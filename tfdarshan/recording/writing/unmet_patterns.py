"""Which of a session's include and exclude patterns no path of the job met: they may be misspelt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdarshan.native.spool_reader import SpoolReader

NAMES = ("include", "exclude")
# Of each option; the recorder does not follow more.
MOST_FOLLOWED = 64
MOST_NAMED = 4


class UnmetPatterns:
    """Gathers what each process of a session met.

    Args:
        options: The session's options, as its metadata has them.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._patterns = {name: list(options.get(name) or ())[:MOST_FOLLOWED] for name in NAMES}
        self._met = dict.fromkeys(NAMES, 0)

    def saw(self, reader: SpoolReader) -> None:
        """Take what a process met."""
        for name, bits in zip(NAMES, reader.patterns_met(), strict=True):
            self._met[name] |= bits

    def saw_unreadable(self) -> None:
        """Take a process that may have met anything."""
        self._met = dict.fromkeys(NAMES, (1 << MOST_FOLLOWED) - 1)

    def by_option(self) -> dict[str, list[str]]:
        """Return the patterns that nothing met, by option."""
        return {
            name: [pattern for place, pattern in enumerate(patterns) if not self._met[name] >> place & 1]
            for name, patterns in self._patterns.items()
        }

    def sentence(self) -> str:
        """Name them; "" if there are none."""
        unmet = [f"{name}={pattern}" for name, patterns in self.by_option().items() for pattern in patterns]
        if not unmet:
            return ""
        more = len(unmet) - MOST_NAMED
        named = [*unmet[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
        return f"no file that the job used matches {' or '.join(named)}: see whether these patterns are right"
