"""What is known of a loop that no framework knows: its marks alone, `tfdarshan.steps()` and `step()`."""

from __future__ import annotations

from tfdarshan.frameworks.adapter import Adapter

ADAPTER = Adapter()
