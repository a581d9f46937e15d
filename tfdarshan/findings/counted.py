"""What counters alone say where a log has no times of single calls: how often, and at most how long."""

from __future__ import annotations

from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_seconds, percent


def counted_note(
    measures: Measures,
    name: str,
    *,
    unknown: str,
    title: str,
    what: str,
    evidence: tuple[Evidence, ...],
    most_s: float,
    fix: Fix,
) -> Finding | Unknown:
    """Return a note of what was counted, or what is unknown where it cannot have cost much.

    Args:
        measures: The session.
        name: The finding.
        unknown: What its times would say.
        title: A few words.
        what: What happens.
        evidence: The counts.
        most_s: Time in calls of this kind and others that the log adds up with them, over all processes.
        fix: What to do.
    """
    data = measures.summary
    whole_s = max(data.processes * data.duration_s, 1e-9)
    if most_s < THRESHOLD["note"] * whole_s:
        return measures.untraced(name, unknown)
    share = percent(min(most_s, whole_s), whole_s)
    bound = Evidence("at most, over all processes", f"{human_seconds(most_s)}, {share} of their time", most_s)
    return Finding(
        name=name,
        kind="note",
        title=title,
        what=f"{what} The counters do not tell how long these calls took.",
        evidence=(*evidence, bound),
        fix=fix,
    )
