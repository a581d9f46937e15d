"""Finds the processor time of tasks with which the network takes as long as the recorded run did.

Samples of the priors that cannot take as long, or whose batches wait at other times than recorded, count for
less. What no sample reproduces is said: no promise of such a model is firm.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.read_bursts import ReadBursts
from tfdarshan.replay.job_facts import JobFacts
from tfdarshan.replay.job_model import OPEN, READ, TINY_S, JobModel
from tfdarshan.replay.known_storage import with_known_storage
from tfdarshan.replay.prior_model import (
    all_processors,
    behind_share,
    prepares_batches,
    prior_model,
    works_behind,
)
from tfdarshan.replay.priors import SETTING, Drawn, draw
from tfdarshan.replay.simulate import SimulatedRun, lost_to_crowding, simulate
from tfdarshan.replay.thinned_facts import thinned


@dataclass(frozen=True)
class ModelledJob:
    """A job whose network was calibrated, or an edit of it.

    Attributes:
        facts: What its session says.
        drawn: Samples of what the session leaves open.
        model: The network.
        weight: How well each sample reproduces the recorded run, shape (samples,), 1 in all.
        step_error: By what share of the recorded run the network takes longer or less, shape (samples,).
        wait_error: By what share of it the network waits longer or less, likewise.
    """

    facts: JobFacts
    drawn: Drawn
    model: JobModel
    weight: Array
    step_error: Array
    wait_error: Array

    def but(self, **changes: Array | bool) -> ModelledJob:
        """Return the same job with other values of the network's attributes."""
        return dataclasses.replace(self, model=self.model.but(**changes))

    @cached_property
    def run(self) -> SimulatedRun:
        """The simulated run."""
        return simulate(self.model)

    @property
    def reproduces(self) -> bool:
        """Whether most of the weight is of samples that reproduce step times and waits that were recorded."""
        if self.facts.counted:
            return False
        off = np.maximum(np.abs(self.step_error), np.abs(self.wait_error))
        return float(self.weight[off <= SETTING["reproduces"]].sum()) >= 1 / 2


def calibrated(facts: JobFacts) -> ModelledJob:
    """Return the network of a job, calibrated.

    Args:
        facts: What its session says; of a long one a part of its batches is simulated.
    """
    facts = thinned(facts)
    drawn = with_known_storage(draw(int(SETTING["samples"])), facts)
    model = _with_processors(facts, drawn, _with_work(facts, drawn, prior_model(facts, drawn)))
    run, recorded_s = simulate(model), max(facts.batches.total_s, TINY_S)
    step_error = run.total_s / recorded_s - 1
    wait_error = (run.wait_s - facts.batches.weight @ facts.batches.wait_s) / recorded_s
    if not facts.batches.known:
        wait_error = np.zeros_like(step_error)
    weight = _weights(facts, run, np.abs(step_error) + _not_taken(facts, drawn, model) / recorded_s)
    model = _with_alone(facts, drawn, _with_rest(facts, model, run))
    return ModelledJob(facts, drawn, model, weight, step_error, wait_error)


def _with_alone(facts: JobFacts, drawn: Drawn, model: JobModel) -> JobModel:
    """Return the network that says how much longer its loop computes beside the input's work than alone."""
    if facts.processors.cpus is None or facts.processors.cpu_s is None:
        return model
    model = model.but(cpus=np.full(1, facts.processors.cpus), steps_compute=drawn["steps_compute"])
    computing_s = np.maximum(model.weight @ model.compute_s, TINY_S)
    lost_s, slower = lost_to_crowding(model, simulate(model))
    return model.but(alone=np.maximum(1 - lost_s / computing_s, 1 / slower))


def _with_rest(facts: JobFacts, model: JobModel, run: SimulatedRun) -> JobModel:
    """Return the network with what it does not explain: it waits so long, whatever is fixed."""
    batches = facts.batches
    waited_s = np.maximum(batches.wait_s, TINY_S)
    rest_s = np.maximum(batches.total_s - run.total_s, 0.0)
    return model.but(hand_s=model.hand_s + waited_s[:, None] * rest_s / float(batches.weight @ waited_s))


def _with_work(facts: JobFacts, drawn: Drawn, model: JobModel) -> JobModel:
    """Return the network with the processor time that makes it take as long as recorded.

    What takes longer even without any has quicker storage: neighbours were slower for a while, or calls that
    ran side by side less than was drawn. What takes less with all that readers can have done has slower one,
    until calls take as long as they did. What is left is work again.
    """
    if not model.tasks:
        return model
    goal_s, shape_s = facts.batches.total_s, _shape_of_work(facts)
    most = goal_s * float(model.readers.max()) / max(float(shape_s.sum()), TINY_S)

    def working(made: JobModel) -> Array:
        def with_work(scale: Array) -> JobModel:
            return split_work(facts, drawn, made, shape_s[:, None] * scale)

        bare_s = simulate(made).total_s
        return np.where(bare_s < goal_s, solved(with_work, goal_s, bare_s, most), 0.0)

    work = np.minimum(working(model), _most_work(facts, shape_s))
    # Without any work the network takes as long, as far as that is told: steps hold the pipeline back.
    hidden = goal_s - simulate(model).total_s < SETTING["reproduces"] * goal_s
    work = np.where(hidden, work * drawn["pipeline_pace"], work)
    work = np.maximum(work, _least_work(facts, drawn, model, shape_s))
    model = _with_computing(facts, drawn, model, shape_s[:, None] * work)
    stored = _with_storage(facts, split_work(facts, drawn, model, shape_s[:, None] * work), hidden)
    quick = ~hidden & (simulate(stored).total_s < (1 - SETTING["reproduces"] / 2) * goal_s)
    if not quick.any():
        return stored
    nothing = np.zeros_like(stored.work_s)
    again = working(stored.but(work_s=nothing, behind_s=nothing))
    # Readers that wait for a loop beside them do not work then.
    bound = _most_work if _computes_beside(facts) else _most_processor_time
    again = np.minimum(again, bound(facts, shape_s))
    work = np.where(quick, again, work)
    return split_work(facts, drawn, stored, shape_s[:, None] * work)


def _with_computing(facts: JobFacts, drawn: Drawn, model: JobModel, work_s: Array) -> JobModel:
    """Return the network whose loop computes, between bursts that no step marks, while no work goes on."""
    taken_s = np.maximum(facts.batches.compute_s[:, None] - model.compute_s, 0.0)
    rest_s = facts.batches.total_s - simulate(split_work(facts, drawn, model, work_s)).total_s
    part = np.clip(rest_s / np.maximum(facts.batches.weight @ taken_s, TINY_S), 0.0, 1.0)
    return model.but(compute_s=model.compute_s + taken_s * part)


def _with_processors(facts: JobFacts, drawn: Drawn, model: JobModel) -> JobModel:
    """Return the network with all processor time that its batches took: no fix makes the processors quicker.

    How much of the session's was theirs is open if the session is longer than they are: imports take some.

    Source: the bound by the busiest resource, Lazowska, Zahorjan, Graham and Sevcik, Quantitative System
    Performance, 1984, chapter 5.
    """
    machine, total_s = facts.processors, facts.batches.total_s
    if machine.cpu_s is None or machine.cpus is None:
        return model.but(loop_s=_loop_s(facts, drawn, np.zeros(1)))
    left, least_s = _least_processor_time(facts, drawn)
    most_s = np.minimum(machine.cpu_s, left * total_s)
    took_s = least_s + drawn["processor_place"] * (most_s - least_s)
    steps_s = drawn["steps_compute"] * (facts.batches.weight @ model.compute_s)
    on_tasks_s = model.but(processors=left).processor_s * left
    on_tasks_s = np.maximum(on_tasks_s, TINY_S)
    # The recorded run took no less than its work on all processors: tasks that overlap more had less of each.
    least = np.minimum(1.0, left * total_s / on_tasks_s)
    each = ((took_s - steps_s) / on_tasks_s).clip(least, left)
    other_s = np.maximum(took_s - each * on_tasks_s, 0.0)
    tasks, weight = facts.tasks, facts.batches.weight[facts.batch]
    # A read that memory serves waits for nothing: it is work.
    on_reads_s = np.minimum(other_s, float((weight * (tasks.call_s[READ] - tasks.stored_s)).sum()))
    return model.but(
        processors=left,
        processors_each=each,
        other_work_s=other_s - on_reads_s,
        read_work_s=on_reads_s / max(float((weight * tasks.calls[READ]).sum()), 1.0),
        loop_s=_loop_s(facts, drawn, other_s),
    )


def _loop_s(facts: JobFacts, drawn: Drawn, other_s: Array) -> Array:
    """Return what the loop takes outside of its stalls, hidden behind readers, shape (samples,) or (1,).

    It has worked what no reader had time for: more than a thread can do is the work of several, and how many
    of them ran at a time is not known. What it waited for an accelerator shows only where readers rest.
    """
    if not _computes_beside(facts):
        return np.zeros(1)
    batches, total_s = facts.batches, facts.batches.total_s
    stalled_s = float(batches.weight @ (batches.write_s + batches.stall_s))
    own_s = np.maximum(other_s - stalled_s, 0.0)
    worked_s = np.where(own_s > (1 + SETTING["reproduces"]) * total_s, 0.0, np.minimum(own_s, total_s))
    hidden = 0.0 if _reads_on_demand(facts) else drawn["hidden_steps"]
    return np.maximum(worked_s, hidden * (total_s - stalled_s))


def _reads_on_demand(facts: JobFacts) -> bool:
    """Return whether each burst of reads brings one batch: the loop computes in the pauses between them.

    Behind a burst of one task its reader may be at work on that.
    """
    tasks, count = facts.tasks, len(facts.batches.weight)
    if len(tasks) < 2 * count:
        return False
    brought = [
        np.bincount(facts.batch, part, count) for part in (tasks.calls[OPEN], tasks.calls[READ], tasks.size)
    ]
    return ReadBursts(np.arange(count), np.arange(count), np.array(brought)).one_at_a_time


def _computes_beside(facts: JobFacts) -> bool:
    """Return whether a loop of one thread, whose steps nothing marks, computes while others read."""
    pipeline = facts.pipeline
    return not (facts.batches.known or facts.counted or pipeline.framework or pipeline.loop_reads)


def _with_storage(facts: JobFacts, model: JobModel, hidden: Array) -> JobModel:
    """Return the network with storage as slow as the run was, but no slower than its calls; if steps wait."""
    goal_s, run = facts.batches.total_s, simulate(model)
    called_s = float(facts.batches.weight[facts.batch] @ facts.tasks.call_s.sum(0))
    off = np.abs(run.total_s - goal_s) > SETTING["reproduces"] / 2 * goal_s
    if not off.any():
        return model
    limited = np.broadcast_to(model.limit_s.sum(0) > 0, off.shape)

    def with_storage(scale: Array) -> JobModel:
        """What is slow is the rate limit, if there is one."""
        served = np.where(limited, 1.0, scale)
        parts = {name: getattr(model, name) * served for name in ("wait_s", "transfer_s", "seek_s")}
        return model.but(**parts, limit_s=model.limit_s * scale)

    slowest = np.maximum(called_s / np.maximum(run.called_s, TINY_S), 1.0)
    # What a limit takes of a call is not known before it is.
    slowest = np.where(limited, 1 + goal_s / max(called_s, TINY_S), slowest)
    slowest = np.where(hidden, 1.0, slowest)
    scale = solved(with_storage, goal_s, np.zeros_like(slowest), slowest)
    return with_storage(np.where(off, scale, 1.0))


def _most_work(facts: JobFacts, shape_s: Array) -> float:
    """Return the most work, in times of its shape, that goes with how soon readers began their next tasks.

    A reader that begins a task so soon has worked no longer on the one before: if it does the work itself.
    """
    most = _most_processor_time(facts, shape_s)
    if facts.pipeline.parallel_behind is not None or works_behind(facts):
        return most
    rest = (facts.tasks.work_s + facts.tasks.rest_s) / shape_s
    return min(most, float(np.quantile(rest, SETTING["quick"], method="lower")))


def _least_work(facts: JobFacts, drawn: Drawn, model: JobModel, shape_s: Array) -> Array | float:
    """Return the work, in times of its shape, that is the readers' because nobody else can have done it.

    That is the processor time of what the loop waited, less that of calls which memory serves. Operations
    may keep all processors busy, Python one.
    """
    machine, batches, tasks = facts.processors, facts.batches, facts.tasks
    if not batches.known or machine.cpu_s is None:
        return 0.0
    weight = batches.weight[facts.batch]
    # Before an epoch's first call readers start.
    starts_s = float(np.nan_to_num(facts.pipeline.late_s).sum())
    waited_s = max(float(batches.weight @ batches.wait_s) - starts_s, 0.0)
    calls, size = float(weight @ tasks.calls.sum(0)), float(weight @ tasks.size)
    in_calls_s = calls * drawn["fast_call_s"] + size / drawn["fast_bytes_per_s"]
    called_s = float(weight @ tasks.call_s.sum(0))
    in_calls_s = np.minimum(in_calls_s, called_s)
    left, least_s = _least_processor_time(facts, drawn)
    each = 1.0 if facts.pipeline.python else left
    worked_s = (least_s - left * (batches.total_s - waited_s) - in_calls_s) / each
    # Readers take turns, and do not work while they are in a call, nor while they compute.
    each_s = waited_s if facts.pipeline.loop_reads else batches.total_s
    behind_s = batches.total_s / model.behind_serial if works_behind(facts) else 0.0
    free_s = np.maximum(model.readers * each_s - called_s, 0.0) + behind_s
    most_s = np.minimum(waited_s / model.work_serial, free_s)
    return np.clip(worked_s, 0.0, most_s) / float(weight @ shape_s)


def _least_processor_time(facts: JobFacts, drawn: Drawn) -> tuple[Array, Array]:
    """Return the processors that are left to the job, and what its batches took of them at least.

    A session that is longer than its batches has imports, which may have taken all of these.
    """
    machine, total_s, left = facts.processors, facts.batches.total_s, all_processors(facts, drawn)
    outside_s = max(machine.span_s - total_s, 0.0)
    return left, np.clip((machine.cpu_s or 0.0) - left * outside_s, 0.0, left * total_s)


def _most_processor_time(facts: JobFacts, shape_s: Array) -> float:
    """Return the work, in times of its shape, that takes all processor time of the session.

    It takes no longer than the workers do, if that is known. A processor's time lasts as much longer as
    others leave less of all processors.
    """
    machine, weight = facts.processors, facts.batches.weight[facts.batch]
    most_s = _most_prepared_s(facts)
    if machine.cpu_s is not None and machine.cpus is not None:
        left = max(1 - (machine.others or 0.0) / machine.cpus, SETTING["reproduces"])
        most_s = min(most_s, machine.cpu_s / left)
    return most_s / float(weight @ shape_s)


def _most_prepared_s(facts: JobFacts) -> float:
    """Return how long workers that prepare whole batches do so outside of calls; infinite if unknown."""
    if facts.pipeline.prepared_s is None or not prepares_batches(facts):
        return np.inf
    weight = facts.batches.weight
    called_s = float(weight[facts.batch] @ facts.tasks.call_s.sum(0))
    return max(facts.pipeline.prepared_s * float(weight.sum()) - called_s, 0.0)


def solved(
    made: Callable[[Array], JobModel], goal_s: Array | float, least_s: Array, most: Array | float
) -> Array:
    """Return the scale with which each sample takes so long: the run is longer the larger it is.

    Args:
        made: Makes the network of a scale, shape (samples,).
        goal_s: How long it is to take.
        least_s: What it takes with scale 0.
        most: With this it takes longer, or never does.
    """
    low, high = np.zeros_like(least_s), np.zeros_like(least_s) + most
    for _ in range(int(SETTING["tries"])):
        middle = (low + high) / 2
        long = simulate(made(middle)).total_s > goal_s
        low, high = np.where(long, low, middle), np.where(long, middle, high)
    low_s, high_s = simulate(made(low)).total_s, simulate(made(high)).total_s
    place = np.clip((goal_s - low_s) / np.maximum(high_s - low_s, TINY_S), 0.0, 1.0)
    return low + place * (high - low)


def _shape_of_work(facts: JobFacts) -> Array:
    """Return processor times of tasks in the right proportion: half by their bytes, half each the same."""
    size = facts.tasks.size
    return 1.0 + size / max(float(size.mean()), 1.0)


def split_work(facts: JobFacts, drawn: Drawn, model: JobModel, work_s: Array) -> JobModel:
    """Return the network with such work on its tasks: by the readers, and by what is behind them.

    Args:
        facts: Of the job.
        drawn: Samples of the priors.
        model: The network.
        work_s: Processor time of each task, shape (tasks, samples or 1).
    """
    if not works_behind(facts):
        return model.but(work_s=work_s)
    behind = behind_share(facts, drawn)
    return model.but(work_s=work_s * (1 - behind), behind_s=work_s * behind)


def _not_taken(facts: JobFacts, drawn: Drawn, model: JobModel) -> Array:
    """Return what computing and the input's work take of processors beyond what the job took of them."""
    if facts.processors.cpu_s is None:
        return np.zeros(1)
    steps_s = drawn["steps_compute"] * (model.weight @ model.compute_s)
    on_tasks_s = model.weight[model.batch] @ (model.work_s + model.behind_s)
    return np.maximum(steps_s + on_tasks_s - facts.processors.cpu_s, 0.0)


def _weights(facts: JobFacts, run: SimulatedRun, off: Array) -> Array:
    """Return how well each sample's waits are those that were recorded, part by part, and its calls last."""
    called_s = float(facts.batches.weight[facts.batch] @ facts.tasks.call_s.sum(0))
    if called_s > 0:
        off = off + np.abs(run.called_s / called_s - 1)
    if facts.batches.known:
        count = len(facts.batches.wait_s)
        part = np.arange(count) * int(SETTING["parts"]) // count
        first = np.flatnonzero(np.diff(part, prepend=-1))
        weight = facts.batches.weight
        seen_s = np.add.reduceat(weight * facts.batches.wait_s, first)
        found_s = np.add.reduceat(weight[:, None] * run.batch_waits_s, first, axis=0)
        least_s = SETTING["reproduces"] * facts.batches.total_s
        off = off + np.abs(found_s - seen_s[:, None]).sum(0) / max(float(seen_s.sum()), least_s, TINY_S)
    found = np.exp(-(off - off.min()) / SETTING["misfit"])
    return found / found.sum()
