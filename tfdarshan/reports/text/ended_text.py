"""Words that a session's processes ended before it was stopped, and of which ranks."""

from __future__ import annotations

from tfdarshan.analysis.summary_data import SummaryData

MOST_NAMED = 5


def ended_sentence(data: SummaryData) -> str:
    """Return who ended without stopping the session; "" if nobody did."""
    if data.finished:
        return ""
    ranks = data.unstopped_ranks
    if not ranks and data.became_another:
        return (
            "The process became another program, which did not stop the session: this is what both had "
            "recorded until then."
        )
    if not ranks:
        return "The process ended without stopping the session: this is what it had recorded until then."
    named = ", ".join(map(str, ranks[:MOST_NAMED]))
    more = f" and {len(ranks) - MOST_NAMED:,} more" if len(ranks) > MOST_NAMED else ""
    who, they = ("Rank", "it") if len(ranks) == 1 else ("Ranks", "they")
    had = f"this is what {they} had recorded until then"
    return f"{who} {named}{more} ended without stopping the session: {had}."
