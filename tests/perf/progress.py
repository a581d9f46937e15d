"""Say on a terminal what is being measured; silent in a pipe."""

from __future__ import annotations

import sys


def show(text: str) -> None:
    """Replace the terminal's last line; "" clears it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)
