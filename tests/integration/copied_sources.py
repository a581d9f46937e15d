"""A copy of what a package is built from."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("csrc", "tensorboard_plugin", "tfdarshan", "workloads", "pyproject.toml", "setup.py", "README.md",
           "LICENSE", "MANIFEST.in")  # fmt: skip


def copy_sources(tree):
    """Copy what a package is built from, and nothing that was built."""
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.o")
            shutil.copytree(source, tree / name, ignore=ignored)
        else:
            shutil.copy(source, tree / name)
