"""Lines of a text, with each number beside its unit."""

from __future__ import annotations

import re
import textwrap

# A blank that no line ends at.
TIED = "\N{NO-BREAK SPACE}"
UNIT = re.compile(r"(?<=\d) (?=(?:%|(?:[kMGTP]?B(?:/s)?|[num]?s)(?![\w/])))")
RANGE = re.compile(r"\(([\d.]+x) to ([\d.]+x)\)")
# Of a sentence, to be copied.
COMMAND = re.compile(r"`(?:tfdarshan|pip) [^`]+`|(?<= with: )tfdarshan [^`]+$")


def wrap(
    text: str, width: int, indent: str = "", hang: str | None = None, *, whole_words: bool = True
) -> list[str]:
    """Return a text as lines.

    Args:
        text: One paragraph.
        width: How many characters a line may have. A longer word, such as a path, or a command is whole on
            its own line.
        indent: What the first line begins with.
        hang: What the others begin with, None for the same.
        whole_words: Whether such a word is whole; if not, it fills lines of this width.
    """
    ranges = RANGE.sub(rf"(\1{TIED}to{TIED}\2)", text)
    lines = textwrap.wrap(
        tied(ranges),
        width,
        initial_indent=indent,
        subsequent_indent=indent if hang is None else hang,
        break_long_words=not whole_words,
        break_on_hyphens=False,
    )
    return [line.replace(TIED, " ") for line in lines]


def tied(text: str) -> str:
    """Return a text that no line ends within a command of, nor between a number and its unit."""
    return COMMAND.sub(lambda found: found[0].replace(" ", TIED), UNIT.sub(TIED, text))
