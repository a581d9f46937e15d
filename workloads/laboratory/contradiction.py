"""Where findings, advice and what-if say of one session what cannot all be true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tfdarshan.analysis.step_model import NOISE
from tfdarshan.errors import ConfigurationError
from tfdarshan.findings import full_storage, page_cache, read_parallelism, too_many_threads
from tfdarshan.findings.diagnosis import Diagnosis, diagnosis_of
from tfdarshan.findings.finding import Finding, Gain
from tfdarshan.findings.finding import speedup as times_faster
from tfdarshan.findings.fits_in_memory import FROM_STORAGE
from tfdarshan.findings.fits_in_memory import NAME as FITS_IN_MEMORY
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.read_on_demand import bursts_s
from tfdarshan.findings.staging import LEAST_BYTES
from tfdarshan.findings.staging import NAME as STAGING
from tfdarshan.findings.verdict import Verdict
from tfdarshan.findings.whatif import StorageChange, what_if
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.staging.advice import decide_on
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.question import Question
from tfdarshan.staging.small_set import AS_SHORT

# Two figures for one thing may differ by so much: they are rounded when they are printed.
ROUNDING = 0.005
# A lower bound of at most this promises nothing, of more than that something.
NOTHING, SOMETHING = 1.01, 1.05
# A folder that no job reads.
ELSEWHERE = "/nowhere/fast"
# What gives less may go unnamed, and leaves a job healthy.
WORTH_A_WORD = 1.06
READERS = re.compile(r"Read with (\d+) calls? at a time")
Range = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What is said of one session. Ranges are times faster: lower bound, expected, upper bound.

    Attributes:
        findings: All that are shown, the most important first.
        verdict: What is said first.
        unit_s: A step, or the session.
        wait_s: What of it can be waited for at most.
        own_s: What of it the loop spends in calls of its own on input, for others' between steps, and in
            writes beside reads, at most; without steps in the bursts of such calls, what it does between
            them included.
        staged: What `advise` says of staging to the disk that findings assume, with room for all; None
            without files that could be staged.
        staged_what_if: What `whatif --fast` says of that disk; None where nothing was read.
        staged_bytes: What of it storage served.
        not_worth: Why `advise` says that staging is not worth it, "" if it is.
        threads: What `whatif --threads` says, by their number.
    """

    findings: tuple[Finding, ...]
    verdict: Verdict
    unit_s: float
    wait_s: float
    own_s: float
    staged: Range | None
    staged_what_if: Range | None
    staged_bytes: float
    not_worth: str
    threads: Mapping[int, Range]

    def named(self, name: str) -> Finding | None:
        """Gives a finding, None if it is not among them."""
        return next((finding for finding in self.findings if finding.name == name), None)

    def is_problem(self, name: str) -> bool:
        """Says whether something is called a problem."""
        finding = self.named(name)
        return finding is not None and finding.kind == "problem"

    def is_advised(self, name: str) -> bool:
        """Says whether something is called a problem, or the verdict on a slow job names its cure."""
        return self.is_problem(name) or (self.verdict.state == "slow" and self.verdict.finding == name)


Rule = Callable[[Answers], Iterator[str]]


def contradictions(session: SessionData) -> list[str]:
    """Asks every way there is, and gives what contradicts each other, a sentence each.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    return contradictions_in(asked(measure(session)))


def contradictions_in(answers: Answers) -> list[str]:
    """Gives those of answers that were given."""
    return [sentence for rule in RULES for sentence in rule(answers)]


def asked(measures: Measures, found: Diagnosis | None = None) -> Answers:
    """Asks findings, unless they are known, advice and what-if."""
    found = diagnosis_of(measures) if found is None else found
    question = Question(fast=ELSEWHERE, room_bytes=1 << 60, block_bytes=1)
    advice = decide_on(*measures.use_and_facts, question, LOCAL_SSD).advice
    staged, model = advice.chosen.expected, measures.model
    saved = (staged.low_s, staged.saved_s, staged.high_s)
    called_s = measures.input_calls.within_s + measures.use_and_facts[1].pauses_s
    counts = {1, *(_readers(finding) or 1 for finding in found.findings)}
    threads = {count: _what_if(measures, StorageChange(threads=count)) for count in sorted(counts)}
    return Answers(
        findings=found.findings,
        verdict=found.verdict,
        unit_s=model.unit_s,
        wait_s=model.most_wait_s,
        own_s=max(called_s, bursts_s(measures)) / model.units + model.shared_writes_s,
        staged=_range(staged.epoch_s, saved) if advice.files else None,
        staged_what_if=_what_if(measures, StorageChange(fast=LOCAL_SSD)),
        staged_bytes=float(measures.costs.slow_bytes.sum()),
        not_worth=advice.reasons[0].code if advice.reasons else "",
        threads={count: said for count, said in threads.items() if said is not None},
    )


def _what_if(measures: Measures, change: StorageChange) -> Range | None:
    try:
        gain = what_if(measures, change).gain
    except ConfigurationError:
        return None
    return _range(gain.before_s, (gain.low_s, gain.saved_s, gain.high_s))


def _range(before_s: float, saved_s: tuple[float, float, float]) -> Range:
    low, expected, high = (min(times_faster(before_s, saved), 1e6) for saved in saved_s)
    return low, expected, high


def range_of(gain: Gain) -> Range:
    """Gives how many times faster a gain makes the job."""
    return _range(gain.before_s, (gain.low_s, gain.saved_s, gain.high_s))


def _readers(finding: Finding) -> int | None:
    """Gives how many calls at a time a cure names."""
    said = READERS.search(finding.cure.what) if finding.cure is not None else None
    return int(said[1]) if said is not None else None


def by_hand(finding: Finding) -> bool:
    """Says whether staging has a copy that the program itself opens: `advise` leaves such files out."""
    return finding.cure is not None and "sqlite3" in finding.cure.line


def is_led(finding: Finding) -> bool:
    """Says whether staging has files that commands lead the program to."""
    return finding.cure is not None and "tfdarshan advise" in finding.cure.line


def words_of(said: Range) -> str:
    """Words a range."""
    low, expected, high = said
    return f"{expected:.2f}x ({low:.2f}x to {high:.2f}x)"


def inside(times: float, said: Range) -> bool:
    """Says whether a gain is inside of a range."""
    return said[0] * (1 - ROUNDING) <= times <= said[2] * (1 + ROUNDING)


def _staging_has_one_gain(answers: Answers) -> Iterator[str]:
    finding = answers.named(STAGING)
    said = {"advise": answers.staged, "whatif --fast": answers.staged_what_if}
    for name, theirs in said.items():
        if finding is None or finding.gain is None or (name == "advise" and by_hand(finding)):
            continue
        if theirs is None:
            yield f"staging is found, and {name} has no answer"
            continue
        ours = range_of(finding.gain)
        # A disk that nobody measured may promise nothing for certain.
        lower, higher = sorted((ours[0], theirs[0]))
        as_certain = not finding.gain.supported or lower > NOTHING or higher <= SOMETHING
        # All files may give a little more than the few that are staged.
        most, least = max(ours[2], AS_SHORT * ours[1]), theirs[0] / AS_SHORT
        if not (
            inside(ours[1], (least, theirs[1], theirs[2]))
            and inside(theirs[1], (ours[0], ours[1], most))
            and as_certain
        ):
            yield f"staging gives {words_of(ours)} by findings and {words_of(theirs)} by {name}"


def _threads_have_one_gain(answers: Answers) -> Iterator[str]:
    for name in (read_parallelism.NAME, too_many_threads.NAME):
        finding = answers.named(name)
        if finding is None or finding.gain is None:
            continue
        count = _readers(finding)
        if count is None:
            yield f"{name} names no number of readers"
        elif count in answers.threads:
            ours, theirs = range_of(finding.gain), answers.threads[count]
            overlap = ours[0] <= theirs[2] * (1 + ROUNDING) and theirs[0] <= ours[2] * (1 + ROUNDING)
            if not (overlap and inside(ours[1], theirs)):
                yield f"{name} gives {words_of(ours)}, and whatif --threads {count} {words_of(theirs)}"


def _more_and_fewer_readers(answers: Answers) -> Iterator[str]:
    if answers.named(too_many_threads.NAME) and answers.named(read_parallelism.NAME):
        yield "more and fewer readers are advised"


def _full_storage_gives_no_more(answers: Answers) -> Iterator[str]:
    if answers.named(full_storage.NAME) is None:
        return
    for name in (read_parallelism.NAME, too_many_threads.NAME):
        finding = answers.named(name)
        if finding is not None and finding.gain is not None and range_of(finding.gain)[0] > 1 + ROUNDING:
            promise = words_of(range_of(finding.gain))
            yield f"storage gives the same however many read, and {name} promises {promise}"


def _memory_is_not_storage(answers: Answers) -> Iterator[str]:
    if answers.named(page_cache.NAME) is None:
        return
    if answers.is_advised(STAGING):
        yield f"the page cache served the input, and {STAGING} is advised"
    # To keep what calls copy out of the page cache again and again is another thing.
    again = answers.named(FITS_IN_MEMORY)
    if again is not None and answers.is_advised(FITS_IN_MEMORY) and FROM_STORAGE in again.title:
        yield f"the page cache served the input, and {FITS_IN_MEMORY} says that storage did"


def _no_gain_beyond_what_is_lost(answers: Answers) -> Iterator[str]:
    for finding in answers.findings:
        # Of the loop's own calls a finding is charged what no other one claims.
        lost_s = answers.wait_s + max(finding.stall_s, answers.own_s) + NOISE * answers.unit_s
        if finding.gain is not None and finding.gain.saved_s > lost_s:
            yield f"{finding.name} gives more than the wait and what the loop stands still"


def _verdict_is_of_a_finding(answers: Answers) -> Iterator[str]:
    verdict = answers.verdict
    if not verdict.finding:
        if verdict.state == "healthy" and any(finding.kind == "problem" for finding in answers.findings):
            yield "the verdict says healthy, and there is a problem"
        return
    finding = answers.named(verdict.finding)
    if finding is None or (finding.gain is not None and finding.gain != verdict.gain):
        yield f"the verdict's {verdict.finding} is not among the findings with its gain"
    if verdict.state == "slow" and not answers.is_problem(verdict.cause):
        yield f"the verdict says that {verdict.cause or 'nothing'} costs most, and that is no problem"
    if verdict.cause != verdict.finding and (finding is None or finding.cure is None):
        yield f"the verdict names another cure than that of {verdict.cause}, and {verdict.finding} has none"


def _staging_is_worth_it(answers: Answers) -> Iterator[str]:
    finding = answers.named(STAGING)
    if finding is None or not answers.is_advised(STAGING) or not answers.not_worth or by_hand(finding):
        return
    # That the copy does not pay is no contradiction if the finding says so, too.
    if answers.not_worth != "copy" or "epoch" not in f"{finding.what} {finding.not_worth}":
        yield f"staging is advised, and advise says that it is not worth it ({answers.not_worth})"


def _what_is_staged_is_found(answers: Answers) -> Iterator[str]:
    much = answers.staged_bytes >= LEAST_BYTES and not answers.not_worth
    if much and answers.named(STAGING) is None and answers.staged and answers.staged[1] > WORTH_A_WORD:
        yield f"advise stages for {words_of(answers.staged)}, and findings do not name it"


def _a_healthy_job_gains_nothing(answers: Answers) -> Iterator[str]:
    much = answers.staged_bytes >= LEAST_BYTES
    said = {"advise": answers.staged if much else None} | {
        f"whatif --threads {count}": theirs for count, theirs in answers.threads.items()
    }
    for name, theirs in said.items():
        if answers.verdict.state == "healthy" and theirs is not None and theirs[1] > WORTH_A_WORD:
            yield f"the verdict says healthy, and {name} gives {words_of(theirs)}"


RULES: tuple[Rule, ...] = (
    _staging_has_one_gain,
    _threads_have_one_gain,
    _more_and_fewer_readers,
    _full_storage_gives_no_more,
    _memory_is_not_storage,
    _no_gain_beyond_what_is_lost,
    _verdict_is_of_a_finding,
    _staging_is_worth_it,
    _what_is_staged_is_found,
    _a_healthy_job_gains_nothing,
)
