"""A diagnosis as plain data, for JSON."""

from __future__ import annotations

import dataclasses
from typing import Any

from tfdarshan.findings.diagnosis import Diagnosis
from tfdarshan.findings.finding import Finding, Gain


def plain_diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    """Gives `verdict`, `findings` and `unknown`: the fields of their classes, and the speedups of gains."""
    verdict = diagnosis.verdict
    return {
        "verdict": dataclasses.asdict(verdict) | {"gain": plain_gain(verdict.gain)},
        "findings": [plain_finding(finding) for finding in diagnosis.findings],
        "unknown": [dataclasses.asdict(entry) for entry in diagnosis.unknown],
    }


def plain_finding(finding: Finding) -> dict[str, Any]:
    """Gives a finding's fields."""
    return dataclasses.asdict(finding) | {"gain": plain_gain(finding.gain)}


def plain_gain(gain: Gain | None) -> dict[str, Any] | None:
    """Gives a gain's fields and the speedups."""
    if gain is None:
        return None
    low, high = (min(value, 1e9) for value in gain.speedup_range)
    speedups = {"speedup": min(gain.speedup, 1e9), "speedup_low": low, "speedup_high": high}
    return dataclasses.asdict(gain) | speedups
