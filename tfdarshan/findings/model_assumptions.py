"""What the time model assumes of a gain: said once, for all findings."""

from __future__ import annotations

from tfdarshan.analysis.reader_count import ReaderCount
from tfdarshan.analysis.step_model import StepModel
from tfdarshan.findings.finding import Assumption
from tfdarshan.units import human_seconds, percent

# With fewer readers there is nothing to be shared.
SEVERAL_READERS = 1.5


def waits_for_input(model: StepModel, own_s: float = 0.0) -> Assumption:
    """Gives that what takes these calls less time takes the job less time.

    Args:
        model: The session's.
        own_s: For how long the loop's own thread was in them, where it makes nearly all of them: who waits in
            a call does not go on.
    """
    seen = f"the main thread itself is in them, {human_seconds(own_s)} of {human_seconds(model.unit_s)}"
    seen = seen if own_s > 0 else ""
    if model.wait_s is not None:
        seen = f"{human_seconds(model.wait_s)} of a step's {human_seconds(model.unit_s)}"
    if model.unit == "step":
        return Assumption("steps wait for these files", seen, "steps are as long with the files in memory")
    return Assumption("the job waits for these files", seen, "it takes as long with the files in memory")


def stands_still(model: StepModel, loop: str, stall_s: float) -> Assumption:
    """Gives that the loop does nothing else while it is in a call."""
    seen = f"{human_seconds(stall_s)} a {model.unit}, in its own thread"
    return Assumption(f"{loop} stands still in these calls", seen, "it takes as long without them")


def made_up_for(beside: float) -> Assumption:
    """Gives that what the pipeline does beside a stall is waited for later if there is none."""
    return Assumption(
        "what the pipeline does meanwhile, it has to do later",
        f"it works there at {percent(beside, 1)} of its pace",
        "the input is ready anyway",
    )


def readers_share(readers: float, counted: ReaderCount) -> list[Assumption]:
    """Gives that these calls take the pipeline as much less time as there are readers; nothing of one."""
    if readers < SEVERAL_READERS:
        return []
    return [
        Assumption(
            f"{readers:.1f} readers share these calls",
            f"{counted.together:.1f} calls at a time, by {counted.threads:.1f} threads",
            "one of them makes most of these calls",
        )
    ]
