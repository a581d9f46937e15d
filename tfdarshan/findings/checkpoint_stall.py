"""Training stands still while it saves a checkpoint."""

from __future__ import annotations

import numpy as np

from tfdarshan.checkpoint.interval_cost import costs_of_intervals, interval_sentence
from tfdarshan.findings.about import About
from tfdarshan.findings.checkpoint_saves import (
    CheckpointSaves,
    checkpoint_saves,
    kind_of_saves,
    stay_in_memory,
    uses_a_burst_buffer,
)
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.fix_choice import ModelledFix
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.words import Saves
from tfdarshan.replay.edits import Edit
from tfdarshan.replay.loop_edits import BackgroundSaves
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds, plural

NAME = "checkpoint_stall"
ABOUT = About(
    title="Training stands still for checkpoints",
    cause="The training loop writes a checkpoint itself, and no step runs until the checkpoint is "
    "written. A copy in memory or on a fast tier takes a fraction of that time, and a thread "
    "writes the copy to storage.",
    says="each checkpoint holds training up for 1.300 s",
    seen=("bursts of writes between steps", "the tab's Checkpoints and Timeline"),
    fixes={
        "TensorFlow": "`tfdarshan.checkpoint.BurstBuffer(checkpoint, fast_dir=FAST, slow_dir=SLOW)`",
        "PyTorch": "`saver.submit(torch.save, copy.deepcopy(model.state_dict()), path)`",
        "plain Python": "`ThreadPoolExecutor(1).submit(save, copy.deepcopy(state), path)`",
    },
    estimate="The replay has a copy of each checkpoint, and writes that go on beside the "
    "next steps. The range covers slow and fast memory, or fast tiers.",
    ignore="checkpoints are so rare that they hardly count",
    fix="saves in the background",
)
IN_MEMORY = (
    " The page cache takes the checkpoints, so nothing waits for the device; a burst buffer would wait."
)
BUFFERED_FIX = Fix("Save less often, or give the burst buffer, which is in use already, a faster fast tier.")
BESIDE_FIX = Fix("Save less often: training already goes on while checkpoints are written.")


def find(measures: Measures) -> Finding | Unknown | None:
    """Find bursts of writes that hold up steps."""
    if not measures.files.rows["bytes_written"].to_numpy().any():
        return None
    if measures.facts.writes.too_many:
        return Unknown(NAME, f"whether writes held up {measures.loop}: there are too many to tell")
    if not measures.kinds_known:
        return measures.untraced(NAME, f"whether writes held up {measures.loop}")
    saves, windows = checkpoint_saves(measures), measures.windows
    if saves is None:
        return None
    if windows is None and not (saves.held_s > 0 and saves.alike and measures.input_calls.calls):
        # Without steps nobody knows whether it is a checkpoint, and holds anything up.
        count = plural(len(saves.bursts), "burst")
        why = f"whether {count} of writes held anything up: {measures.why_no_wait}"
        return Unknown(NAME, why, measures.recorded.to_mark_steps)
    return _stall(measures, saves) if saves.held_s > 0 else None


def _stall(measures: Measures, saves: CheckpointSaves) -> Finding | None:
    fix, edits, reason = _fix(measures, saves)
    if fix is None and saves.held_s < THRESHOLD["note"] * measures.model.all_s:
        return None
    count, held_s = len(saves.bursts), saves.held_s
    return Finding(
        name=NAME,
        kind="problem" if edits else "note",
        title=_title(measures, saves),
        what=f"{_written(measures, saves)} took {human_seconds(held_s)}, during which "
        f"{measures.loop if measures.windows is None else 'steps'} stood still.{reason}",
        evidence=(
            Evidence("checkpoints" if measures.windows is not None else "bursts", f"{count:,}", count),
            Evidence("written", human_bytes(saves.moved_bytes), saves.moved_bytes),
            Evidence("held up", human_seconds(held_s), held_s),
            Evidence("writing", human_seconds(float(saves.bursts["write_ns"].sum()) / 1e9)),
            *_interval(measures, saves),
        ),
        files=(saves.longest,),
        fix=fix,
        edits=edits,
    )


def _fix(measures: Measures, saves: CheckpointSaves) -> tuple[Fix | None, tuple[Edit, ...], str]:
    """Return what to do, as edits as well, and why nothing can be done if so."""
    if uses_a_burst_buffer(measures):
        return BUFFERED_FIX, (), ""
    if stay_in_memory(measures, saves):
        return None, (), IN_MEMORY
    if saves.beside:
        return BESIDE_FIX, (), ""
    chosen = in_the_background(kind_of_saves(measures))
    return chosen.fix, chosen.edits, ""


def in_the_background(kind: Saves) -> ModelledFix:
    """Return the fix for checkpoints of a kind."""
    return ModelledFix(kind.fix, (BackgroundSaves(fast_tier=kind.fast_tier),))


def _title(measures: Measures, saves: CheckpointSaves) -> str:
    """Word what holds up what: without steps, saves that follow each other closely cannot be counted."""
    if measures.windows is None:
        return f"checkpoints hold {measures.loop} up for {human_seconds(saves.held_s)} in all"
    return f"each checkpoint holds training up for {human_seconds(saves.held_s / len(saves.bursts))}"


def _written(measures: Measures, saves: CheckpointSaves) -> str:
    if measures.windows is None:
        files = plural(int(saves.bursts["files"].sum()), "file")
        return f"{human_bytes(saves.moved_bytes)} in {files} named alike"
    count = len(saves.bursts)
    return f"{plural(count, 'checkpoint')} of {human_bytes(saves.moved_bytes / count)}"


def _interval(measures: Measures, saves: CheckpointSaves) -> list[Evidence]:
    """Say what saving as often, or less often, costs; nothing if steps or checkpoints are too few."""
    windows, bursts = measures.windows, saves.bursts
    if windows is None or len(bursts) < 2:
        return []
    at = np.searchsorted(windows.start_ns, bursts["start_ns"].to_numpy(np.int64), side="right")
    apart = np.diff(at)
    if not (apart > 0).any():
        return []
    first, last = windows.span_ns
    step_s = max((last - first) / 1e9 - saves.held_s, 0.0) / len(windows.start_ns)
    interval = round(float(np.median(apart[apart > 0])))
    costs = costs_of_intervals(interval, step_s=step_s, blocked_s=saves.held_s / len(bursts))
    return [Evidence("saving", interval_sentence(costs))]
