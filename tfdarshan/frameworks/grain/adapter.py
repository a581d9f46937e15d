"""What Grain tells of a job."""

from __future__ import annotations

from typing import Any, ClassVar

from tfdarshan.frameworks.adapter import Adapter
from tfdarshan.frameworks.grain import follow_datasets


class Grain(Adapter):
    """Grain, of a script that nobody has changed."""

    name: ClassVar[str] = "grain"
    batches: ClassVar[str] = "Grain's batches"

    def begin(self) -> None:
        """Follow Grain, from its import on."""
        follow_datasets.begin()

    def end(self) -> dict[str, Any]:
        """Stop that: what was noted is in the session's folder."""
        follow_datasets.end()
        return {}


ADAPTER = Grain()
