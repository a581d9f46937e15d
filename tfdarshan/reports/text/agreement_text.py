"""Words how far libdarshan and the builtin fold agree."""

from __future__ import annotations

from typing import Any

from tfdarshan.units import plural


def agreement_sentence(result: dict[str, Any]) -> str:
    """Return the outcome of a session's comparison, as its metadata has it, in one sentence."""
    compared = f"{result['counters']} counters of {plural(result['files'], 'file')}"
    unexplained = result.get("unexplained_rows", 0)
    said = f"darshan and builtin agree on {compared}"
    if unexplained:
        rows = plural(unexplained, "row")
        said = f"darshan and builtin differ in {rows} without a known reason, of {compared}"
    if result.get("inexact_rows"):
        said += (
            f", of {plural(result['inexact_rows'], 'row')} only on those that unseen calls do not change: "
            "part of the trace was dropped"
        )
    kinds = [f"{entry['kind']} ({entry['rows']:,})" for entry in result["differences"]]
    return f"{said}; named differences: {', '.join(kinds)}" if kinds else said
