"""Where `advise --check` says of a staged run what findings and the run itself do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tfdarshan.errors import ConfigurationError, TfdarshanError
from tfdarshan.findings.finding import speedup as times_faster
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.staging import NAME as STAGING
from tfdarshan.findings.straggler import NAME as STRAGGLER
from tfdarshan.session import open_session
from tfdarshan.staging.check import Check, check_plan
from tfdarshan.staging.plan import read_plan

from .contradiction import ROUNDING, Answers, Range, asked, by_hand, inside, is_led, range_of, words_of

# Parts of seconds add up to that share of their sum.
ADDED = 0.01

Rule = Callable[[Answers, Answers, Check], Iterator[str]]


def check_contradictions(plan: Path, before: Path, after: Path) -> list[str]:
    """Checks a staged run, and gives what contradicts it, a sentence each.

    Args:
        plan: That was applied; made from the session in `before`.
        before: Log directory of the job as it was.
        after: And of the job that reads the copies.
    """
    try:
        check = check_plan(read_plan(plan), [open_session(after)])
    except ConfigurationError:
        return []  # it says itself that there is nothing to check
    except TfdarshanError as error:
        return [f"the check fails: {error}"]
    was, now = (asked(measure(open_session(one))) for one in (before, after))
    return check_contradictions_in(was, now, check)


def check_contradictions_in(before: Answers, after: Answers, check: Check) -> list[str]:
    """Gives those of answers that were given."""
    return [sentence for rule in RULES for sentence in rule(before, after, check)]


def _promised(check: Check) -> Range:
    slowest, expected, quickest = (
        times_faster(check.before_s, check.before_s - epoch_s)
        for epoch_s in (check.high_s, check.promised_s, check.low_s)
    )
    return slowest, expected, quickest


def _planned(before: Answers) -> str:
    """Gives the finding whose cure the plan is: that of slow files copies these alone."""
    return STRAGGLER if before.verdict.finding == STRAGGLER else STAGING


def _the_plan_promises_what_findings_do(before: Answers, _after: Answers, check: Check) -> Iterator[str]:
    finding = before.named(_planned(before))
    if finding is None or finding.gain is None or not check.by_steps or check.first_promised:
        return
    ours, theirs = range_of(finding.gain), _promised(check)
    if by_hand(finding):
        # The plan is of the files that are not SQLite's alone.
        if theirs[1] > ours[2] * (1 + ROUNDING):
            yield f"a part of what findings copy for {words_of(ours)} is held against {words_of(theirs)}"
        return
    if not (inside(ours[1], theirs) or inside(theirs[1], ours)):
        said = f"{finding.name} gives {words_of(ours)} by findings"
        yield f"{said}, and --check holds it against {words_of(theirs)}"


def _what_is_staged_is_not_staged_again(before: Answers, after: Answers, check: Check) -> Iterator[str]:
    planned = _planned(before)
    finding = after.named(planned)
    copied_by_hand = finding is not None and by_hand(finding) and not is_led(finding)
    if check.kept and not check.originals_read and after.is_problem(planned) and not copied_by_hand:
        yield "--check says that the promise is kept, and findings stage what was staged"


def _parts_add_up(_before: Answers, _after: Answers, check: Check) -> Iterator[str]:
    apart_s = check.obtained_s - check.promised_s
    parts_s = sum(one.effect_s for one in check.assumptions)
    if abs(apart_s - parts_s) > ADDED * max(check.before_s, check.obtained_s):
        yield f"an epoch is {apart_s:.3f} s off its promise by --check, and its parts are {parts_s:.3f} s"


RULES: tuple[Rule, ...] = (
    _the_plan_promises_what_findings_do,
    _what_is_staged_is_not_staged_again,
    _parts_add_up,
)
