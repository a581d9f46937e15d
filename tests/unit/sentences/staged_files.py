"""A few files that are staged."""

from __future__ import annotations

from pathlib import Path

from tests.integration.staging.tree import make_files, plan_of
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.plan_file import Plan

COUNT = 6


def staged_files(folder: Path) -> tuple[Plan, Path, Path]:
    """Return a plan of six files that is applied, with its two folders."""
    make_files(folder / "slow", COUNT, largest=1000)
    (folder / "fast").mkdir()
    plan = plan_of(folder / "slow", folder / "fast")
    assert apply_plan(plan, ApplyOptions()).copied == COUNT
    return plan, folder / "slow", folder / "fast"
