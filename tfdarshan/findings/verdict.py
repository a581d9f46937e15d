"""What comes first, in three short sentences at most: what is lost, why, what to do and what that gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.analysis.ranks.processor_share import others_sentence
from tfdarshan.analysis.steps.epoch_waits import EpochWaits
from tfdarshan.findings.all_findings import FIX_NAMES
from tfdarshan.findings.finding import Finding, Gain, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.overlapping_fixes import same_lines
from tfdarshan.findings.promise_words import HIDDEN_WAIT, faster_words, promise_words, uncertain_sentences
from tfdarshan.findings.replayed import gain_of, surely_waits
from tfdarshan.findings.step_split import step_split
from tfdarshan.findings.unseen_faults import unseen_faults
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, percent, percent_at_most, plural

NO_FIX = "No known fix is sure to save much of that time"
OTHER_STORAGE = f"{NO_FIX}; `tfdarshan whatif` estimates other storage."
# What is left to say if a part of the wait is the longest one, and the replay of no fix saves enough of it.
WHAT_TO_DO = {
    "worker_starts": f"{NO_FIX}; workers of a program that imports less start sooner.",
    "storage": OTHER_STORAGE,
    "page_faults": OTHER_STORAGE,
    "decoding": f"{NO_FIX}; samples that take less work to decode would.",
    "other_wait": "Look for locks, generators and services that the input pipeline waits for.",
}
# Of what the first epoch alone waits for.
OF_THIS_RUN = "A longer run gains less, because only epoch {} waits."
# Of a copy that would save time in the first epoch alone.
IN_MEMORY = "Memory serves later epochs, so a copy on a local disk only pays off if several runs use it."
RECORD_MORE = "record at least 20 steps and a few seconds"
# Nothing says that a job without steps trains.
RECORD_LONGER = "record a longer run, at least a few seconds"
# Of a speedup that is larger than if the calls of files took no time.
AROUND_CALLS = "The speedup counts the work around file calls, too, and not their time alone."
# Where the first sentence of a fix ends; what follows explains the lines.
NEXT_SENTENCE = re.compile(r"(?<=\.) ")


@dataclass(frozen=True)
class Verdict:
    """What is to be said first.

    Attributes:
        sentence: How much is lost, why, and what to do: three sentences at most.
        state: "slow" where a fix is known, "healthy", "unknown" where the data cannot tell, "suspect" where
            a log cannot tell what was waited for and something in it stands out.
        wait_share: Share of step time that waits for input, None if unknown.
        finding: The name of the finding whose fix is named, "" if there is none.
        gain: What that fix gives.
        record: What to record for a better answer, "" if nothing is missing.
        why: The sentence without the fix.
        second: The name of the finding whose fix is worth making as well, "" if there is none.
        together: What both fixes together give.
        epochs: What the first epoch and later ones wait, if only the first one waits for input.
        notes: What else to know of it, a sentence each: why not to trust it, how uncertain the speedup is, of
            which rank it is, what a second fix adds, and what other programs took of the processors.
    """

    sentence: str
    state: str
    wait_share: float | None
    finding: str
    gain: Gain | None
    record: str = ""
    why: str = ""
    second: str = ""
    together: Gain | None = None
    epochs: EpochWaits | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.sentence


def make_verdict(measures: Measures, findings: Sequence[Finding], unknown: Sequence[Unknown]) -> Verdict:
    """Word the verdict.

    Args:
        measures: The session.
        findings: What was found, the most important first.
        unknown: What it cannot tell.
    """
    found_doubts = [one for one in findings if one.kind == "doubt"]
    doubts = list(map(_doubt, found_doubts))
    problems = [one for one in findings if one.kind == "problem"]
    record = next((entry.record for entry in unknown if entry.name == "input_bound"), "")
    share, epochs, notes = measures.model.wait_share, first_alone(measures), (*doubts, *_beside(measures))
    if measures.too_short:
        text = f"Too short to tell: {measures.too_short}."
        more = RECORD_LONGER if measures.windows is None else RECORD_MORE
        return Verdict(text, "unknown", share, "", None, more, notes=notes)
    if problems:
        return _slow(measures, problems, doubts, record)
    if share is None:
        return _untold(measures, findings, doubts, record)
    if is_healthy(measures):
        waits = _waits(measures)
        text = f"Healthy: {waits[:1].lower()}{waits[1:]} No change of the file I/O is needed."
        return Verdict(text, "healthy", share, "", None, epochs=epochs, notes=notes)
    hidden = HIDDEN_WAIT if measures.hidden else ()
    if found_doubts:
        first, beside = found_doubts[0], (*hidden, *doubts[1:], *_beside(measures))
        text = " ".join([_waits(measures), f"The cause is not known, because {first.title}.", *_fix(first)])
        return Verdict(text, "unknown", share, first.name, None, epochs=epochs, notes=beside)
    text = f"{_waits(measures)} {IN_MEMORY}" if _in_memory(findings) else _unexplained(measures)
    more = _to_see_faults(measures)
    return Verdict(text, "unknown", share, "input_bound", None, more, epochs=epochs, notes=(*hidden, *notes))


def record_sentence(verdict: Verdict) -> str:
    """Say what to record for a better answer; "" if nothing is missing."""
    if not verdict.record:
        return ""
    return f"{'To check this estimate' if verdict.state == 'slow' else 'For a verdict'}, {verdict.record}."


def _doubt(finding: Finding) -> str:
    """Say why the rest of the verdict is uncertain, and what to do about that."""
    return " ".join([f"{as_sentence(finding.title)[:-1]}, so this verdict is uncertain.", *_fix(finding)])


def as_sentence(words: str) -> str:
    """Return words that begin small as a sentence."""
    return f"{words[:1].upper()}{words[1:]}."


def first_alone(measures: Measures) -> EpochWaits | None:
    """Return what epochs wait if the first one alone waits: then the mean is true of none."""
    found = measures.epoch_waits
    waits = found is not None and found.first_share >= THRESHOLD["healthy"] and found.later_hardly_wait
    return found if waits else None


def is_healthy(measures: Measures) -> bool:
    """Say whether steps hardly wait for input, and hardly spend time in file calls of their own."""
    model, least = measures.model, THRESHOLD["healthy"]
    hardly_waits = model.wait_share is not None and model.wait_share < least
    return hardly_waits and _own_s(measures) < least * model.unit_s


def _own_s(measures: Measures) -> float:
    """Return what a step spends in file calls of the loop's own."""
    return next((part.seconds for part in step_split(measures) if part.name == "own_calls"), 0.0)


def _in_memory(findings: Sequence[Finding]) -> bool:
    """Say whether a fix would be worth it if memory did not serve later epochs."""
    return any(not one.lasts and one.cost_share >= THRESHOLD["problem"] for one in findings)


def _unexplained(measures: Measures) -> str:
    """Word what no fix is known for: the wait, or the loop's own file calls if these take longer."""
    model, own_s = measures.model, _own_s(measures)
    if (model.wait_share or 0.0) * model.unit_s >= own_s:
        return f"{_waits(measures)} {_no_fix(measures)}"
    own = percent(own_s, model.unit_s)
    return (
        f"The training loop's own file calls take {own} of step time. {NO_FIX}; `tfdarshan findings` shows "
        "what was measured."
    )


def _slow(measures: Measures, problems: Sequence[Finding], doubts: Sequence[str], record: str) -> Verdict:
    first, second, together = problems[0], "", None
    largest = _largest_cause(problems)
    alone = first_alone(measures)
    lost, fix = _lost(measures, first), _fix(first)
    if largest is first:
        why = f"{lost} {as_sentence(first.title)}"
        said = [why, *fix]
    else:
        why = f"{lost} Another cause is larger: {largest.title}."
        said = [*fix, why]
    longer = [OF_THIS_RUN.format(alone.first)] if alone and _is_of_waits(first.gain) else []
    caveats = [*longer, *filter(None, [first.caveat])]
    pairs = []
    other = next((one for one in problems[1:] if not same_lines(one, first)), None)
    if other is not None:
        second = other.name
        together = gain_of(measures.job, (*first.edits, *other.edits), measures)
        pairs = [f"Together with {FIX_NAMES[second]}, {promise_words(together)}."]
    notes = [*pairs, *caveats, *uncertain_sentences(first.gain), *doubts, *_of_rank(measures)]
    return Verdict(
        " ".join(said), "slow", measures.model.wait_share, first.name, first.gain, record, why, second,
        together, alone, (*notes, *_beside(measures)),
    )  # fmt: skip


def _largest_cause(problems: Sequence[Finding]) -> Finding:
    """Return the problem whose fix alone saves most; the first one unless another saves clearly more."""
    first = problems[0]
    if first.gain is None:
        return first
    least_s = first.gain.saved_s + THRESHOLD["problem"] * first.gain.before_s
    larger = [one for one in problems if one.gain is not None and one.gain.saved_s > least_s]
    return max(larger, key=lambda one: one.gain.saved_s if one.gain else 0.0, default=first)


def _waits(measures: Measures) -> str:
    """Say how much of the steps' time waits for input."""
    found, share = first_alone(measures), percent_at_most if measures.hidden else percent
    if found is None:
        return f"Training waits for input {share(measures.model.wait_share or 0.0, 1)} of the time."
    first, later = share(found.first_share, 1), share(found.later_share, 1)
    return f"Training waits for input {first} of epoch {found.first}, and {later} of later epochs."


def _lost(measures: Measures, first: Finding) -> str:
    """Say what is lost, which is what the fix saves."""
    model, gain = measures.model, first.gain
    if gain is None:
        return "The job loses time."
    of = "step time" if model.unit == "step" else "the session"
    most = f"up to {percent(gain.high_s, gain.before_s)} of {of} can be saved."
    saved = f"an estimated {percent(gain.saved_s, gain.before_s)} of {of} can be saved."
    saved = most if measures.hidden else saved
    if model.wait_share and _is_of_waits(gain):
        beyond_s = gain.saved_s - model.wait_share * gain.before_s
        waits = _waits(measures)
        if beyond_s < THRESHOLD["note"] * gain.before_s:
            return waits
        return f"{waits[:-1]}; {saved[:-1]}, as the fix also shortens the rest of a step."
    if not (surely_waits(measures, measures.job) or (measures.hidden and model.certain)):
        why = measures.why_no_wait
        return f"{why[:1].upper()}{why[1:]}: if {_who(measures)} waits for its files, {most}"
    return f"{saved[0].upper()}{saved[1:]}"


def _is_of_waits(gain: Gain | None) -> bool:
    """Say whether most of what a fix gives back is input that the loop waits for."""
    return gain is not None and 2 * gain.wait_s >= gain.saved_s


def in_short(what: str) -> str:
    """Return the first sentence of what to do, without its full stop."""
    return NEXT_SENTENCE.split(what, maxsplit=1)[0].removesuffix(".")


def explanation(what: str) -> str:
    """Return what follows the first sentence of what to do, "" if nothing does."""
    return "".join(NEXT_SENTENCE.split(what, maxsplit=1)[1:])


def _fix(finding: Finding) -> list[str]:
    """Say what to do, and what that gives."""
    if finding.fix is None:
        return []
    if finding.gain is None:
        return [f"{in_short(finding.fix.what)}."]
    return [_promised(finding.fix.what, faster_words(finding.gain))]


def _promised(what: str, speed: str) -> str:
    """Say what to do, and what that gives."""
    short = in_short(what)
    return f"{short}; then {speed}." if ": " in short else f"{short}: {speed}."


def _untold(measures: Measures, findings: Sequence[Finding], doubts: Sequence[str], record: str) -> Verdict:
    """Word the verdict on a session that does not say what was waited for."""
    costly = [one for one in findings if one.kind == "note" and one.cost_s > 0 and one.lasts]
    best = max(costly, key=lambda one: one.cost_s, default=None)
    name, gain = ("", None) if best is None else (best.name, best.gain)
    by_loop = gain is not None and surely_waits(measures, measures.job)
    told = _reads_itself(measures) if by_loop else _cannot_tell(measures)
    because = [IN_MEMORY] if _in_memory(findings) else []
    if best is not None and not because:
        fix = _fix(best)
        because = [as_sentence(best.title), *fix] if by_loop else _if_it_did(best, fix, measures)
    suspect = measures.imported and best is not None and best.cost_share >= THRESHOLD["problem"]
    text = " ".join([*because, told] if suspect else [told, *because])
    caveats = [] if best is None or because == [IN_MEMORY] else list(filter(None, [best.caveat]))
    notes = (*caveats, *_around(gain, measures), *uncertain_sentences(gain), *doubts, *_beside(measures))
    return Verdict(text, "suspect" if suspect else "unknown", None, name, gain, record, notes=notes)


def _around(gain: Gain | None, measures: Measures) -> list[str]:
    """Say why a speedup is larger than if the calls took no time."""
    io_s = measures.summary.wall_clock.io_s
    if gain is None or io_s is None or gain.high_s * measures.summary.duration_s <= io_s * gain.before_s:
        return []
    return [AROUND_CALLS]


def _if_it_did(best: Finding, fix: Sequence[str], measures: Measures) -> list[str]:
    """Say what costs most if training, or whatever needed the input, did wait, and what would help."""
    if best.gain is None or best.fix is None:
        return [f"One finding stands out: {best.title}."]
    return [f"If {_who(measures)} waits for its files, the cause is that {best.title}.", *fix]


def _who(measures: Measures) -> str:
    """Name what may wait: nothing says that a job without steps trains."""
    return "the job" if measures.windows is None else "training"


def _reads_itself(measures: Measures) -> str:
    return f"{measures.loop[:1].upper()}{measures.loop[1:]} reads its input itself; {_ran(measures)}."


def _cannot_tell(measures: Measures) -> str:
    ran = _ran(measures)
    if measures.imported:
        return f"The log does not say what the job waited for; {ran}."
    if measures.windows is None:
        why = measures.why_no_wait
        return (
            f"{why[:1].upper()}{why[1:]}, so this session does not tell whether the job waits for its "
            f"files; {ran}."
        )
    return f"This session does not tell whether training waits for input; {ran}."


def _ran(measures: Measures) -> str:
    """Say how long file calls were running."""
    data = measures.summary
    io_s = data.wall_clock.io_s
    if io_s is not None and not data.calls:
        return "no file call was recorded (if the job uses files, run `tfdarshan doctor`)"
    if io_s is not None:
        share = (percent if data.wall_clock.exact else percent_at_most)(io_s, data.duration_s)
        return f"file calls ran {share} of the time"
    # A log adds up the times of files and ranks.
    times = data.file_time
    whole_s = max(data.processes * data.duration_s, 1e-9)
    share = percent_at_most(min(times.read_s + times.write_s + times.meta_s, whole_s), whole_s)
    return f"its processes spent {share} of their time in file calls"


def _no_fix(measures: Measures) -> str:
    """Say why no finding explains the wait, by the parts of it that `step_split` gives, of step time."""
    model = measures.model
    if model.certain and 2 * model.handed_s > model.most_wait_s:
        return (
            f"Handing over batches that are ready takes {percent(model.handed_s, model.unit_s)} of step "
            "time: use fewer, larger batches."
        )
    waits = {part.name: part for part in step_split(measures) if part.name in WHAT_TO_DO}
    longest = max(waits.values(), key=lambda part: part.seconds)
    files = percent(waits["storage"].seconds, model.unit_s)
    if longest.name != "storage":
        share = percent_at_most if longest.open_s > 0 else percent
        most = share(longest.seconds, model.unit_s)
        what = longest.label.removeprefix("waiting for ").removesuffix(" at most")
        advice = "" if _to_see_faults(measures) else f" {WHAT_TO_DO[longest.name]}"
        return f"The wait for {what} takes {most} of step time, the wait for file calls {files}.{advice}"
    if measures.slow_share <= 1 - THRESHOLD["cached"]:
        reads, read_bytes = (
            float(one.sum()) / model.units for one in (measures.costs.reads, measures.costs.read_bytes)
        )
        return (
            f"File calls take {files} of step time, but the page cache served them: faster storage would not "
            f"help. A {model.unit} reads {human_bytes(read_bytes)} in {plural(round(reads), 'call')}: read "
            "fewer bytes, or make fewer, larger calls."
        )
    return f"The wait for file calls takes {files} of step time. {WHAT_TO_DO[longest.name]}"


def _to_see_faults(measures: Measures) -> str:
    """Say how page faults are recorded, if steps may wait for them most and nobody asked to; else ""."""
    unseen = unseen_faults(measures)
    longest = max(step_split(measures), key=lambda part: part.seconds * (part.name in WHAT_TO_DO))
    if unseen is None or measures.summary.mapped.asked or longest.name != "other_wait":
        return ""
    return f"record page faults on mapped files, too: `{unseen.record}`"


def _of_rank(measures: Measures) -> list[str]:
    """Say of which rank of a job the verdict is."""
    table = measures.ranks
    if table is None:
        return []
    waits = "waits longest for input" if table.leader.wait_s is not None else "is longest in file calls"
    return [f"The verdict is about rank {table.leading}, which {waits} of {len(table.ranks)} ranks."]


def _beside(measures: Measures) -> list[str]:
    """Say what other programs took of the processors, if that is worth a word."""
    said = others_sentence(measures.summary.others_share)
    return [said] if said else []
