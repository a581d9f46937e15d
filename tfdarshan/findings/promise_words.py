"""How a gain is said: as a range if the session supports it, else as what it may be."""

from __future__ import annotations

from tfdarshan.findings.finding import Gain, OpenQuestion
from tfdarshan.units import human_faster, human_speedup, human_times

# An accelerator works on what is queued while the loop waits: nobody knows how long it waited itself.
HIDDEN_WAIT = (
    "The accelerator may compute while the training loop waits: the wait and the speedup are upper bounds.",
    "To find out, time steps that all use one batch, up to the last result: training gets no faster.",
)


def promise_words(gain: Gain) -> str:
    """Word what gets faster by how much, and which command narrows the range."""
    return f"{faster_words(gain)}{condition_words(gain)}"


def speedup_words(gain: Gain) -> str:
    """Word it alone: "1.76x (1.39x to 1.90x)"; if the range is not firm, "up to 2.79x"."""
    return human_speedup(gain.speedup, *gain.speedup_range) if gain.supported else most_words(gain)


def faster_words(gain: Gain) -> str:
    """Word it: "training gets 1.76x faster (likely 1.39x to 1.90x)", or "the job gets up to 2.79x faster"."""
    if not gain.supported:
        return f"{subject_words(gain)} gets {most_words(gain)} faster"
    gets = "gets" if surely_faster(gain) else "may get"
    return f"{subject_words(gain)} {gets} {human_faster(gain.speedup, *gain.speedup_range)}"


def surely_faster(gain: Gain) -> bool:
    """Say whether a promise leaves no doubt to word: by its range, or as it says "up to"."""
    return not gain.supported or gain.speedup_range[0] > 1


def subject_words(gain: Gain) -> str:
    """Name what gets faster: nothing says that a job without steps trains."""
    return "training" if gain.unit == "step" else "the job"


def uncertain_sentences(gain: Gain | None) -> list[str]:
    """Say how uncertain it is: that the fix may give nothing, and what the session leaves open."""
    if gain is None:
        return []
    nothing = []
    if gain.hidden:
        nothing = [*HIDDEN_WAIT]
    elif not gain.waited:
        nothing = [f"The fix gives nothing if {subject_words(gain)} does not wait for its files."]
    elif gain.speedup_range[0] <= 1:
        nothing = ["The fix may also give nothing: try it in a short run."]
    return [*nothing, *map(open_sentence, gain.hangs_on)]


def open_sentence(entry: OpenQuestion) -> str:
    """Say what the session leaves open, and which command tells."""
    told = f"; run `{entry.told_by}` to find out" if entry.told_by else ""
    return f"The speedup depends on {entry.claim}, which the session does not show{told}."


def most_words(gain: Gain) -> str:
    """Word the most that it gives: "up to 2.79x"."""
    return f"up to {human_times(gain.speedup_range[1])}"


def condition_words(gain: Gain) -> str:
    """Word the command that does: "; `tfdarshan probe ...` narrows the range"; "" without one."""
    commands = dict.fromkeys(entry.told_by for entry in gain.hangs_on if entry.told_by)
    return "".join(f"; `{command}` narrows the range" for command in commands)
