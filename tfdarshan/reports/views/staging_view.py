"""What to copy to a faster tier, what goes where, and what it gives by the room there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.measured_session import MeasuredSession
from tfdarshan.errors import ConfigurationError
from tfdarshan.findings.copied_files import session_and_log
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.reports.figures.staging_figures import MARKER, capacity_figure, units_of
from tfdarshan.reports.text.advice_text import (
    added_by_rest,
    in_blocks,
    outside_steps,
    why_unsure,
)
from tfdarshan.reports.text.later_epochs_text import later_gain, pays, which_epoch
from tfdarshan.reports.views.panel import (
    Chart,
    Panel,
    Slider,
    SliderPoint,
    Text,
    Tile,
    Tiles,
    duration,
    number,
    size,
)
from tfdarshan.reports.views.staging_tables import (
    files_table,
    folders_table,
    left_out_table,
    rules_table,
    tiers_table,
)
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import Advice, Decision, decide_on
from tfdarshan.staging.assumed_tier import ASSUMED_TIERS, LOCAL, assumed_tier
from tfdarshan.staging.expectation import Expectation
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.plan_from_decision import common_folder
from tfdarshan.staging.question import Question
from tfdarshan.staging.run_facts import RunFacts, measured_runs, newest_job, put_together
from tfdarshan.staging.staged_command import StagedJob
from tfdarshan.units import human_bytes, human_faster, human_seconds, percent, plural

# Stands for the folder on the fast tier; no path of a session begins like this.
FAST = "FAST"
ALL_ROOM = 1 << 62
TIERS = {LOCAL: "a local SSD", **{name: words for name, (words, _) in ASSUMED_TIERS.items()}}


@dataclass(frozen=True)
class StagingQuery:
    """What is asked: an assumed fast tier, and the room there to fill; without it, what `advise` chooses."""

    tier: str = LOCAL
    room_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.tier not in TIERS:
            raise ConfigurationError(f"tier must be one of {', '.join(TIERS)}, not {self.tier!r}.")


def staging_view(source: Source, query: StagingQuery | None = None) -> list[Panel]:
    """Return its panels; where staging will not help, why."""
    query = query or StagingQuery()
    use, facts, job = staged_run(source)
    decision = _decide(source, use, facts, job, query)
    advice = decision.advice
    if not advice.files:
        return [_verdict(advice), *left_out_table(advice)]
    panels: list[Panel] = [_verdict(advice), Tiles(_tiles(advice))]
    if _room_decides(advice):
        panels.append(_curve(decision))
    if advice.helps:
        panels += [folders_table(source, decision), files_table(source, decision), rules_table(advice)]
    return [*panels, tiers_table(advice), *left_out_table(advice), _how(source, decision, query)]


def staged_run(
    source: Source, measured: MeasuredSession | None = None
) -> tuple[FileUse, RunFacts, ModelledJob]:
    """Return what staging goes by, kept with the source; a session that was measured is not measured again.

    Raises:
        SessionDataError: A table is damaged or missing.
    """

    def read() -> tuple[FileUse, RunFacts, ModelledJob]:
        asked = [source.session], [source.whole]
        runs = (measured,) if measured else measured_runs(*asked, tables=[source.named_files])
        return *put_together(runs), newest_job(runs)

    found: tuple[FileUse, RunFacts, ModelledJob] = source.cached("_staged_run", read)
    return found


def _decide(source: Source, use: FileUse, facts: RunFacts, job: ModelledJob, query: StagingQuery) -> Decision:
    """Decide for the room that was asked for, else for all files or the few that give nearly all."""
    tier = source.fast_tier or assumed_tier(query.tier, facts.readers)
    room, filled = (ALL_ROOM, False) if query.room_bytes is None else (query.room_bytes, True)
    return decide_on(use, facts, Question(fast=FAST, room_bytes=room, everything=filled), tier, job)


def _room_decides(advice: Advice) -> bool:
    """Return whether staging helps, or would with more room."""
    return bool(advice.curve) and all(reason.code == "capacity" for reason in advice.reasons)


def _verdict(advice: Advice) -> Text:
    if not advice.helps:
        because = "; ".join(reason.sentence for reason in advice.reasons)
        return Text([f"Staging will not help: {because}."], "Staging")
    chosen, expected = advice.chosen, advice.chosen.expected
    then = human_seconds(expected.epoch_s - expected.saved_s)
    what = f"{plural(chosen.files, 'file')} ({human_bytes(chosen.bytes)}{in_blocks(advice)})"
    takes = f"{then} instead of {human_seconds(expected.epoch_s)}"
    epoch, later = which_epoch(advice.later), later_gain(advice.later)
    between = f". {epoch[:1].upper()}{epoch[1:]}" if later else f": {epoch}"
    lines = [f"Copy {what} to the fast tier{between} then takes {takes}, {_gain(expected)}."]
    if outside := outside_steps(advice):
        lines.append(f"{outside}.")
    if later:
        lines.append(f"{later[:1].upper()}{later[1:]}.")
    if advice.rest is not None:
        lines.append(f"{added_by_rest(advice, advice.rest)}.")
    if not advice.wait_known:
        why = why_unsure(advice)
        lines.append(f"{why[:1].upper()}{why[1:]}.")
    return Text(lines, "Staging")


def _gain(expected: Expectation) -> str:
    return human_faster(expected.speedup, *expected.speedup_range)


def _tiles(advice: Advice) -> list[Tile]:
    chosen, expected, facts = advice.chosen, advice.chosen.expected, advice.facts
    tiles = [
        Tile("Can be staged", number(advice.files), human_bytes(advice.bytes)),
        Tile("Epoch as recorded", duration(expected.epoch_s), _epochs_note(advice)),
        Tile("Readers", number(round(facts.readers))),
    ]
    if not _room_decides(advice):
        return tiles
    won = pays(advice.copy, advice.later)
    return [
        Tile("Files to copy", number(chosen.files), f"{percent(chosen.files, advice.files)} of the files"),
        Tile("Bytes to copy", size(chosen.bytes), f"{percent(chosen.bytes, advice.bytes)} of the bytes"),
        Tile("Saved an epoch", duration(expected.saved_s), _gain(expected)),
        Tile("Copying takes", duration(advice.copy.seconds), won),
        *tiles,
    ]


def _epochs_note(advice: Advice) -> str:
    note = f"{advice.session_epochs:g} in the session"
    return note if advice.facts.steps_s is not None else f"{note}, start-up included"


def _curve(decision: Decision) -> Chart:
    advice = decision.advice
    expected = [decision.expected_at(point) for point in advice.curve]
    start = _nearest([point.room_bytes for point in advice.curve], advice.chosen.room_bytes)
    epoch = which_epoch(advice.later)
    points = [
        SliderPoint(
            point.room_bytes,
            point.bytes,
            e.saved_s,
            f"{human_bytes(point.bytes)} for {point.files:,} {units_of(advice)}: {epoch} takes "
            f"{human_seconds(e.epoch_s - e.saved_s)} instead of {human_seconds(e.epoch_s)}, {_gain(e)}",
        )
        for point, e in zip(advice.curve, expected, strict=True)
    ]
    note = "Shaded: the range. Diamonds: what the rules choose with the room that is shown below."
    if advice.knee is not None:
        note += f" Beyond the knee, {human_bytes(advice.knee.bytes)}, a byte saves less than on average."
    slider = Slider("Room on the fast tier", "capacity", points, start, MARKER)
    figure = capacity_figure(advice, expected, start)
    return Chart("capacity", "Bytes copied against time saved", figure, note, slider=slider)


def _nearest(sizes: Sequence[int], wanted: int) -> int:
    return int(np.argmin(np.abs(np.array(sizes, np.float64) - wanted)))


def _how(source: Source, decision: Decision, query: StagingQuery) -> Text:
    """Describe how to make this plan with a measured tier, and how to carry it out."""
    paths = decision.use.paths.take(pa.array(decision.candidates))
    redacted = source.redaction is not None
    session, log = session_and_log(source.whole, redacted=redacted)
    job = StagedJob(
        command=source.summary.command,
        session=session,
        log=log,
        root="DATA" if redacted else common_folder(paths),
        everything=decision.advice.rest is None,
        room_bytes=query.room_bytes,
        mirrored=decision.advice.mirrored,
    )
    measured = source.fast_tier is not None
    lines = [
        "The fast tier was measured."
        if measured
        else "The fast tier is assumed; advise measures the folder that copies are to go to.",
        "These commands write the plan with every file in it, copy them, and run the job with the copies:"
        if decision.advice.rest is None
        else "These commands write the plan with these files, copy them, and run the job with the copies:",
    ]
    return Text(lines, "How to do it", code=job.lines)
