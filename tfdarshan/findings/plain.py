"""A diagnosis as plain data, for JSON."""

from __future__ import annotations

import dataclasses
from typing import Any

from tfdarshan.file_name import exact_name
from tfdarshan.findings.diagnosis import Diagnosis
from tfdarshan.findings.finding import Finding, Gain


def plain_diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return all fields of a diagnosis, with speedups; `step_split_s` has its parts of a mean step."""
    verdict = diagnosis.verdict
    return {
        "verdict": dataclasses.asdict(verdict)
        | {"gain": plain_gain(verdict.gain), "together": plain_gain(verdict.together)},
        "findings": [plain_finding(finding) for finding in diagnosis.findings],
        "unknown": [dataclasses.asdict(entry) for entry in diagnosis.unknown],
        "step": None if diagnosis.step is None else dataclasses.asdict(diagnosis.step),
        "step_split_s": {part.name: part.seconds for part in diagnosis.parts},
        "left_out": dataclasses.asdict(diagnosis.left_out),
        "trace_span": None if diagnosis.trace_span is None else dataclasses.asdict(diagnosis.trace_span),
    }


def plain_finding(finding: Finding) -> dict[str, Any]:
    """Return a finding's fields, the fix as "cure", as programs know it; the names of its files are exact."""
    files = [exact_name(path) for path in finding.files]
    shown = dataclasses.replace(finding, edits=())
    plain = dataclasses.asdict(shown) | {"gain": plain_gain(finding.gain), "files": files}
    plain["cure"] = plain.pop("fix")
    return {name: value for name, value in plain.items() if name != "edits"}


def plain_gain(gain: Gain | None) -> dict[str, Any] | None:
    """Return a gain's fields and the speedups."""
    if gain is None:
        return None
    low, high = (min(value, 1e9) for value in gain.speedup_range)
    speedups = {"speedup": min(gain.speedup, 1e9), "speedup_low": low, "speedup_high": high}
    return dataclasses.asdict(gain) | speedups
