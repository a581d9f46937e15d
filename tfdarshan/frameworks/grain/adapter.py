"""What Grain tells of a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tfdarshan.frameworks.adapter import Adapter, DeclaredInput
from tfdarshan.frameworks.grain import follow_datasets
from tfdarshan.frameworks.grain.dataset_look import declared, training_look
from tfdarshan.frameworks.words import Words


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

    def declared(self, meta: Mapping[str, Any]) -> DeclaredInput | None:
        """Return how the training dataset prepares batches."""
        look = training_look(meta)
        return None if look is None else declared(look)

    def words(self, meta: Mapping[str, Any]) -> Words | None:
        """Return how fixes of the training dataset are typed."""
        # No recording needs them.
        from tfdarshan.frameworks.grain.dataset_words import DatasetWords

        look = training_look(meta)
        return None if look is None else DatasetWords(look)


ADAPTER = Grain()
