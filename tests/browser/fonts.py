"""Fonts that pages are tried with: files that Matplotlib brings, whatever fonts the machine has."""

from __future__ import annotations

import base64
from pathlib import Path

import matplotlib
from playwright.sync_api import Page

# Regular and bold: the widest digits, the widest words, and a narrow font.
FONTS = {
    "DejaVu Sans": ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    "DejaVu Sans Mono": ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"),
    "STIXGeneral": ("STIXGeneral.ttf", "STIXGeneralBol.ttf"),
}
WIDE = "DejaVu Sans Mono"
# The bytes are given to the page: its policy lets it fetch nothing.
USE_FONT = """async ([family, faces]) => {
  for (const [weight, text] of faces) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    document.fonts.add(await new FontFace(`tried ${family}`, bytes, { weight }).load());
  }
  document.body.style.fontFamily = `"tried ${family}"`;
}"""


def use_font(page: Page, family: str) -> None:
    """Show the page in one of FONTS; a font that cannot be loaded is an error."""
    faces = zip(("400", "600"), FONTS[family], strict=True)
    page.evaluate(USE_FONT, [family, [(weight, _text_of(name)) for weight, name in faces]])


def _text_of(name: str) -> str:
    path = Path(matplotlib.get_data_path(), "fonts", "ttf", name)
    if not path.is_file():
        raise FileNotFoundError(f"Matplotlib {matplotlib.__version__} has no font {name}: name another one")
    return base64.b64encode(path.read_bytes()).decode()
