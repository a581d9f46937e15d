"""Pictures of pages: small, and with paths that say nothing of the machine."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def with_few_colours(picture: Path) -> None:
    """Write a picture with 256 colours, which takes a third of the bytes."""
    from PIL import Image

    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


@contextmanager
def plain_folder(name: str) -> Iterator[Path]:
    """Yield an empty folder of that name below the one for temporary files, whose path may be seen."""
    folder = Path(tempfile.gettempdir()) / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)
