"""What is known of a loop that no framework knows: its marks alone, `tfdarshan.steps()` and `step()`."""

from __future__ import annotations

from typing import ClassVar

from tfdarshan.frameworks.adapter import Adapter
from tfdarshan.frameworks.plain.save_words import ANY_FILE, ARRAYS
from tfdarshan.frameworks.words import Saves


class Plain(Adapter):
    """A loop of Python's own."""

    saves: ClassVar[tuple[Saves, ...]] = (ARRAYS, ANY_FILE)


ADAPTER = Plain()
