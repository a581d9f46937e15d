"""Environments in which tfdarshan is as a wheel installs it: with what a starting interpreter runs."""

import shutil
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
JOIN = ROOT / "csrc" / "joining" / "tfdarshan_join.pth"


def make_environment(folder: Path) -> Path:
    """Make a virtual environment; return its interpreter."""
    venv.create(folder, symlinks=True, with_pip=False)
    install(next(folder.glob("lib/python3*/site-packages")))
    return folder / "bin" / "python"


def install(packages: Path) -> None:
    """Put into a folder of packages what is of tfdarshan there, and the way to what it needs."""
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "found.pth").write_text("\n".join([str(ROOT), *ours]) + "\n")
    shutil.copy(JOIN, packages)
