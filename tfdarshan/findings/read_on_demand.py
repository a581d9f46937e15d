"""Batches that are read only when the loop asks for them, of a job that marks no steps."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.in_order.read_bursts import ReadBursts, read_bursts
from tfdarshan.analysis.input_pipeline import calls_on
from tfdarshan.analysis.intervals import Array, covered
from tfdarshan.analysis.step_model import most_of_a_run_s, noise_s
from tfdarshan.findings.beside_compute import (
    HANDED_OVER_S,
    LIKELY,
    PROCESSORS_FREE,
    others_take_them,
    processors_free,
    storage_has_more,
    sure_from_ns,
)
from tfdarshan.findings.finding import Assumption, Evidence, Finding, Gain
from tfdarshan.findings.measures import SEVERAL, Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.pipeline_api import input_pipeline, read_ahead, reads_by_tf_data, reads_by_workers
from tfdarshan.findings.processor_waits import AS_SLOW, AS_SLOW_ALONE
from tfdarshan.findings.processors import BUSY_STEPS
from tfdarshan.findings.python_lock import lock_is_free
from tfdarshan.findings.unseen_faults import unseen_faults
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = "prefetch"
# A pause that is so many times as long as the usual one is none of a step.
MUCH_LONGER = 10.0


def read_on_demand(measures: Measures) -> Finding | None:
    """Finds it by the bursts in which input is read; None where they do not show it."""
    bursts = _bursts(measures)
    batch = None if bursts is None else bursts.batch
    if bursts is None or batch is None or not bursts.one_at_a_time:
        return None
    gain = _gain(measures, bursts)
    lasts_s, pause_s = float(np.median(bursts.lasts_s)), float(np.median(bursts.pauses_s))
    count, brings = len(bursts.start_ns), _amount(batch[0], batch[1])
    return Finding(
        name=NAME,
        kind="problem",
        title="each batch is read only when it is asked for",
        what=f"The input is read in {count:,} bursts of {brings}, {human_seconds(lasts_s)} each, and not in "
        f"the pauses of {human_seconds(pause_s)} between them. No burst brings more, as the first of a "
        "pipeline that fills a buffer does, so no batch is prepared ahead.",
        evidence=(
            Evidence("bursts of calls on input", f"{count:,}", float(count)),
            Evidence("a burst, median", human_seconds(lasts_s), lasts_s),
            Evidence("a pause, median", human_seconds(pause_s), pause_s),
        ),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=gain.saved_s,
        cure=read_ahead(measures),
        gain=gain,
        not_worth="where the processors are busy computing the steps themselves: then both share them",
    )


def bursts_s(measures: Measures) -> float:
    """Gives for how many seconds a loop without recorded steps reads in bursts: 0 if nothing shows it."""
    bursts = _bursts(measures) if measures.windows is None else None
    return 0.0 if bursts is None else float(bursts.lasts_s.sum())


def _bursts(measures: Measures) -> ReadBursts | None:
    """Gives the bursts in which Python code reads, if the session saw how it began; else None."""
    if not measures.kinds_known or not measures.writes_known or measures.trace_room.dropped_calls:
        return None
    # tf.data and workers say themselves whether they prepare ahead.
    if input_pipeline(measures) or reads_by_tf_data(measures) or reads_by_workers(measures):
        return None
    # Who records a part of a run may begin behind a full buffer; each epoch fills it again.
    whole = measures.recorded.started_by == "run" or measures.figures.rereads.passes >= SEVERAL
    if not whole or unseen_faults(measures) is not None:
        return None
    return measures.kept.get("bursts", lambda: _bursts_of(measures))


def _bursts_of(measures: Measures) -> ReadBursts | None:
    blocks = measures.session_calls.blocks()
    return read_bursts(calls_on(block, measures.is_input, measures.windows)[1] for block in blocks)


def _amount(name: str, count: int) -> str:
    return human_bytes(count) if name == "bytes" else f"{count:,} {name}"


def _gain(measures: Measures, bursts: ReadBursts) -> Gain:
    """Gives what is saved if each burst but the first is read in the pause before it.

    A batch is not ready with its last call: what processors do in a pause may belong to it as well as to a
    step. All of that is left out of what is certain; at most it takes as long as the burst, and the burst
    and it are hidden beside what is then left of the pause.
    """
    model = measures.model
    lasts_s, pauses_s = bursts.lasts_s[1:], bursts.pauses_s
    writes = covered(measures.writes.start_ns, measures.writes.end_ns)
    # What is written to storage is no rest of it.
    rests_s = pauses_s - writes.within(bursts.end_ns[:-1], bursts.start_ns[1:]) / 1e9
    busy = _busy_share(measures, pauses_s)
    sure = bursts.start_ns[1:] >= sure_from_ns(measures)
    more_s = np.minimum(lasts_s, np.minimum(busy * pauses_s, np.maximum(pauses_s - lasts_s, 0.0) / 2))
    hidden_s = (
        np.minimum(lasts_s, (1 - busy) * rests_s)[sure],
        np.minimum(lasts_s, rests_s),
        np.minimum(lasts_s + more_s, pauses_s),
    )
    low, if_so, high = (
        max(0.0, share * float(seconds.sum()) - handed_s * len(seconds))
        for share, seconds, handed_s in zip(LIKELY, hidden_s, HANDED_OVER_S, strict=True)
    )
    assumed = _assumed(measures, bursts, busy)
    taken = PROCESSORS_FREE if others_take_them(measures) else ""
    chance = 1.0 if all(entry.support or entry.claim == taken for entry in assumed) else UNSHOWN
    assumed += lock_is_free(measures)
    if measures.waits_for_processors:
        assumed.insert(0, AS_SLOW_ALONE)
        chance *= AS_SLOW
    low, high = min(low, chance * if_so), max(high, if_so)
    low = max(0.0, low - noise_s(model.unit_s, low))
    high = most_of_a_run_s(model.unit_s, high)
    return Gain(model.unit, model.unit_s, low, chance * if_so, high, tuple(assumed), if_so)


def _busy_share(measures: Measures, pauses_s: Array) -> float:
    """Gives how much of the pauses a thread can have worked for batches that were read: 1 if unknown.

    In one that is much longer, as before training, nothing may have worked, and all of it in the others.
    """
    usual_s = float(np.median(pauses_s))
    worked_s, paused_s = measures.machine.cpu_s, float(np.minimum(pauses_s, MUCH_LONGER * usual_s).sum())
    return 1.0 if worked_s is None or worked_s >= paused_s else worked_s / paused_s


def _assumed(measures: Measures, bursts: ReadBursts, busy: float) -> list[Assumption]:
    name, usual, most = bursts.batch or ("", 0, 0)
    ahead = f"none of {len(bursts.start_ns):,} bursts brings more than {_amount(name, most)}, the usual one "
    computes = f"processors are busy for at most {percent(busy, 1)} of them" if busy < BUSY_STEPS else ""
    pause_s = float(np.median(bursts.pauses_s))
    return [
        Assumption(
            "no batch is prepared ahead",
            f"{ahead}brings {_amount(name, usual)}",
            "a larger buffer changes nothing",
        ),
        Assumption("steps compute in the pauses", computes, "batches are decoded, or fetched, there"),
        *storage_has_more(measures, bursts.lasts_s, pause_s),
        *processors_free(measures),
    ]
