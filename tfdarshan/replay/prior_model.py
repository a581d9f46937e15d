"""Makes the network of a recorded job from its facts, for each sample of what these leave open.

What is missing then is the processor time of tasks, which calibration finds.
"""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.storage.serialization import call_times
from tfdarshan.replay.job_facts import JobFacts
from tfdarshan.replay.job_model import PROBE, READ, TINY_S, JobModel
from tfdarshan.replay.priors import SETTING, Drawn
from tfdarshan.replay.read_tasks import ReadTasks


def prior_model(facts: JobFacts, drawn: Drawn) -> JobModel:
    """Return the network.

    Args:
        facts: Of the job.
        drawn: Samples of the priors.
    """
    batches, tasks, pipeline = facts.batches, facts.tasks, facts.pipeline
    samples, count = len(drawn["bandwidth"]), len(facts.batch)
    limited, wait_serial, transfer_serial = _serial(facts, drawn)
    part = wait_share(facts, drawn)
    serial = part * wait_serial + (1 - part) * transfer_serial
    alone = _alone(facts, serial)
    call_s = tasks.call_s[:, :, None] * np.where(limited, alone * _unlimited_share(facts), alone)
    call_s = call_s * (1 + np.where(limited, 0.0, serial) * (_turns(tasks)[:, None] - 1))
    least = 1 / drawn["served_together"]
    wait_serial, transfer_serial = (
        np.clip(np.where(limited, 0.0, share), least, 1.0) for share in (wait_serial, transfer_serial)
    )
    shares = np.ones((len(call_s), 1, samples))
    shares[READ] = part
    wait_s, seek_s = _seeks(facts, drawn, call_s * shares, wait_serial)
    transfer_s = call_s[READ] * (1 - shares[READ])
    queued = facts.storage.writes_here * _queued_share(facts, transfer_s, wait_serial, transfer_serial)
    write_s = queued * batches.write_s[:, None]
    readers = np.full(samples, max(1, round(pipeline.readers)))
    nothing, interval_s = np.zeros((count, 1)), facts.storage.limit_s
    ahead = batches_ahead(facts, drawn)
    return JobModel(
        weight=batches.weight, epoch=batches.epoch, late_s=pipeline.late_s[:, None],
        compute_s=compute_s(facts, drawn), write_s=write_s,
        stall_s=(batches.write_s + batches.stall_s)[:, None] - write_s,
        beside_s=queued * batches.beside_s[:, None],
        batch=facts.batch, calls=tasks.calls, jumps=tasks.jumps,
        requests=np.where(limited, _counted(tasks)[:, None], tasks.requests[:, None]),
        wait_s=wait_s, transfer_s=transfer_s, seek_s=seek_s,
        limit_s=_limit_s(facts, drawn, limited) if limited.any() else nothing,
        work_s=nothing, behind_s=nothing, readers=readers,
        calls_ahead=_calls_ahead(facts, drawn, readers, ahead),
        batches_ahead=ahead, in_order=np.full(samples, int(pipeline.in_order)),
        burst_s=drawn["burst_s"] if interval_s is None else np.full(samples, interval_s),
        wait_serial=wait_serial, transfer_serial=transfer_serial,
        work_serial=work_serial(facts, drawn), behind_serial=behind_serial(facts, drawn),
        hand_s=np.full((len(batches.weight), 1), batches.hand_s), whole_batches=prepares_batches(facts),
    )  # fmt: skip


def compute_s(facts: JobFacts, drawn: Drawn) -> Array:
    """Return what the loop computes for each batch, shape (batches, samples).

    If counters alone tell of calls, these may have run beside. Between bursts that no step marks, what was
    read may have been worked on.
    """
    batches = facts.batches
    beside = batches.wait_s[:, None] * (_unseen_ahead(facts) & drawn["counted_ahead"])
    worked = 0.0 if batches.known or facts.counted else drawn["unmarked_work"]
    return batches.compute_s[:, None] * (1 - worked) + beside


def _queued_share(facts: JobFacts, transfer_s: Array, wait_serial: Array, transfer_serial: Array) -> Array:
    """Return what of writes on the input's storage holds reads up as transfers do, shape (batches, samples).

    Their bytes take as long as those of reads do. The rest of a write is served as the wait of a read is.
    """
    batches = facts.batches
    s_per_byte = transfer_s.sum(0) / max(float(facts.tasks.size.sum()), TINY_S)
    written_s = np.maximum(batches.write_s + batches.beside_s, TINY_S)
    moved = np.minimum((batches.write_bytes / written_s)[:, None] * s_per_byte, 1.0)
    return np.minimum(moved + (1 - moved) * wait_serial / transfer_serial, 1.0)


def _unseen_ahead(facts: JobFacts) -> bool:
    return facts.counted and not facts.batches.known


def _serial(facts: JobFacts, drawn: Drawn) -> tuple[Array, Array, Array]:
    """Return which samples have a rate limit, and the shares of waits and transfers served one at a time."""
    place = facts.storage.place
    if facts.storage.serial is not None:
        measured, low, high = facts.storage.serial
        # As likely on either side of what was measured, and evenly spread there.
        at = 2 * drawn["serial_place"] - 1
        share = np.where(at < 0, measured + at * (measured - low), measured + at * (high - measured))
        wait, transfer, alone = share, share, share > 1 / 2
    else:
        alone = drawn[f"serial_{place}"]
        wait = np.where(alone, drawn["wait_serial_high"], drawn["wait_serial_low"])
        shared = drawn["pipe_shared"]
        transfer = np.where(shared, drawn["transfer_serial_high"], drawn["transfer_serial_low"])
    limited = alone & drawn[f"limited_{place}"]
    if facts.storage.limit_s is not None or facts.storage.paced is not None:
        limited = np.full(len(wait), facts.storage.limit_s is not None or facts.storage.paced)
    return limited, wait, transfer


def wait_share(facts: JobFacts, drawn: Drawn) -> Array:
    """Return what of a read is no transfer: by the sizes of reads, if these tell, shape (samples,).

    Else it is what their bytes leave at some bandwidth, no lower than what a read had. Reads that are
    as quick as some bandwidth may wait for nothing but their bytes.
    """
    if facts.storage.wait_share is not None:
        return np.clip(facts.storage.wait_share + drawn["wait_share_error"], 0.0, 1.0)
    tasks, streams = facts.tasks, _streams(facts)
    # Storage served all of a stream's bytes: what was read ahead came with the reads that waited for it.
    size = tasks.size[_of_stored_epochs(tasks) if streams else tasks.stored_s > 0]
    had = float(size.sum()) * _depth(facts) / max(float(tasks.stored_s.sum()), TINY_S)
    found = 1 - (had / max(SETTING["fastest"], had)) ** drawn["bandwidth"]
    only_bytes = drawn["only_bytes"] | (drawn["streams_bytes"] & (streams and facts.storage.local))
    return np.where(only_bytes & (had > SETTING["slowest"]), 0.0, found)


def _streams(facts: JobFacts) -> bool:
    """Return whether most reads go on where the last one of their file ended."""
    return bool(2 * facts.tasks.jumps.sum() < facts.tasks.calls[READ].sum())


def _depth(facts: JobFacts) -> float:
    """Return how many calls ran at a time while any did."""
    depth_s = facts.storage.depth_s
    return max(float(depth_s @ np.arange(1, len(depth_s) + 1)) / max(float(depth_s.sum()), TINY_S), 1.0)


def _of_stored_epochs(tasks: ReadTasks) -> Array:
    """Return which tasks are of epochs that storage served, bool."""
    stored_s, called_s = (np.bincount(tasks.epoch, part) for part in (tasks.stored_s, tasks.call_s.sum(0)))
    return (2 * stored_s >= called_s)[tasks.epoch]


def _turns(tasks: ReadTasks) -> Array:
    """Return each task's share of what storage serves one call at a time, over its share of calls' time.

    A call takes long behind one that takes long: what it takes itself is what it ends later than that.
    """
    called_s = tasks.call_s.sum(0)
    even_s = called_s * (tasks.turn_s.sum() / max(float(called_s.sum()), TINY_S))
    return np.divide(tasks.turn_s, even_s, out=np.ones(len(tasks)), where=even_s > 0)


def _alone(facts: JobFacts, serial: Array) -> Array:
    """Return what a call takes with nothing beside it, as a share of what it took, shape (samples,).

    Calls that run at a time are served as many times as fast as each takes longer.

    Args:
        facts: Of the job.
        serial: The share of a call that storage serves one at a time.
    """
    depth_s = facts.storage.depth_s
    depth = np.arange(1, len(depth_s) + 1)
    run_s = float(depth_s @ depth)
    if not run_s:
        return np.ones(len(serial))
    return np.array([depth_s @ (depth / call_times(one, depth)) / run_s for one in serial.tolist()])


def _unlimited_share(facts: JobFacts) -> float:
    """Return what calls would take if no limit held any back, as a share of what they take alone.

    What they take longer beside others is the limit's; else no call was held back that is as quick as others.
    """
    if facts.storage.serial is not None:
        return 1 - facts.storage.serial[0]
    return float(facts.tasks.quick_s.sum() / max(facts.tasks.call_s.sum(), TINY_S))


def limit_of_calls(facts: JobFacts, drawn: Drawn) -> Array:
    """Return in which samples a limit counts calls, not bytes, bool of shape (samples,)."""
    told = facts.storage.limit_of_calls
    return drawn["limit_of_calls"] if told is None else np.full(len(drawn["limit_of_calls"]), told)


def _limit_s(facts: JobFacts, drawn: Drawn, limited: Array) -> Array:
    of_calls, tasks = limit_of_calls(facts, drawn), facts.tasks
    requests_s, bytes_s = (_limited_s(facts, used) for used in (_counted(tasks), tasks.size))
    return np.where(limited, np.where(of_calls, requests_s[:, None], bytes_s[:, None]), 0.0)


def _counted(tasks: ReadTasks) -> Array:
    """Return the requests that a limit counts: a read that it let through at once is as quick as memory."""
    return np.maximum(tasks.requests, tasks.places * _of_stored_epochs(tasks))


def _limited_s(facts: JobFacts, used: Array) -> Array:
    """Return what each task uses up of a limit that is the only thing that the job waits for.

    Of each epoch that storage served, its tasks have the time in which batches waited, by what they use.
    """
    tasks, batches = facts.tasks, facts.batches
    found, stored = np.zeros(len(facts.batch)), _of_stored_epochs(tasks)
    for number in np.unique(tasks.epoch).tolist():
        mine = (tasks.epoch == number) & stored
        steps = np.unique(facts.batch[mine])
        size = used[mine]
        found[mine] = size / max(float(size.sum()), TINY_S) * float(batches.recorded_s[steps].sum())
    return found


def moves_arm(drawn: Drawn, wait_serial: Array) -> Array:
    """Return in which samples waits are those for an arm, bool."""
    return drawn["arm"] & (wait_serial > 1 / 2)


def _seeks(facts: JobFacts, drawn: Drawn, wait_s: Array, wait_serial: Array) -> tuple[Array, Array]:
    """Return waits without what moving an arm takes, and that: of reads that begin elsewhere."""
    reads = facts.tasks.calls[READ] + facts.tasks.calls[PROBE]
    jumps = np.minimum(facts.tasks.jumps / np.maximum(reads, 1.0), 1.0)[:, None]
    moved = jumps * np.where(moves_arm(drawn, wait_serial), 1 - drawn["sequential_left"], 0.0)
    seek_s = wait_s[READ] * moved
    wait_s = wait_s.copy()
    wait_s[READ] -= seek_s
    return wait_s, seek_s


def runs_ahead(facts: JobFacts) -> bool:
    """Whether readers go on with the next batch's tasks before it is asked for."""
    pipeline = facts.pipeline
    beside = not pipeline.python or bool(pipeline.processes) or pipeline.declared_readers is not None
    return pipeline.framework and beside


def prepares_batches(facts: JobFacts) -> bool:
    """Return whether there are processes beside the loop, of which each prepares whole batches."""
    return facts.pipeline.whole_batches and bool(facts.pipeline.processes)


def _calls_ahead(facts: JobFacts, drawn: Drawn, readers: Array, batches_ahead: Array) -> Array:
    """Return how many tasks readers have begun that are part of no batch, int; 0: those of one batch.

    Threads of a program that go on with the next batch are ahead by whole batches.
    """
    if prepares_batches(facts):
        return readers
    if runs_ahead(facts):
        ahead = readers + decoded_behind(facts, drawn)
    elif facts.pipeline.framework or not facts.pipeline.goes_on:
        ahead = np.zeros_like(readers)
    else:
        ahead = np.ceil((1 + batches_ahead) * len(facts.batch) / len(facts.batches.weight)).astype(int)
    return np.where(readers > 1, ahead, 0)


def works_behind(facts: JobFacts) -> bool:
    """Return whether others than the readers work on records: one reader alone does so itself."""
    pipeline = facts.pipeline
    return pipeline.records and (pipeline.parallel_behind is not None or round(pipeline.readers) > 1)


def decoded_behind(facts: JobFacts, drawn: Drawn) -> Array:
    """Return how many tasks are worked on behind readers, which go on meanwhile, int of shape (samples,)."""
    return np.ceil(works_behind(facts) / behind_serial(facts, drawn)).astype(int)


def batches_ahead(facts: JobFacts, drawn: Drawn) -> Array:
    """Return how many batches are put together before the loop asks for them, int of shape (samples,).

    Calls that are made for an epoch's first batch, which fills a shuffle buffer, do not show it. If steps are
    short, calls that go on beside them may be of the batch that is waited for, unless readers begin no batch
    before it is asked for.
    """
    pipeline, tuned = facts.pipeline, np.round(drawn["autotuned_batches"]).astype(int)
    if prepares_batches(facts):
        return np.full(len(tuned), pipeline.prefetch or 0)
    if pipeline.prefetch:
        return tuned if pipeline.prefetch < 0 else np.full(len(tuned), pipeline.prefetch)
    if facts.batches.known and pipeline.shuffle_tasks >= 0:
        busiest = max(pipeline.beside, pipeline.overlap)
        if pipeline.loop_reads or busiest <= SETTING["beside"]:
            return np.zeros(len(tuned), int)
        if (pipeline.beside if runs_ahead(facts) else busiest) > SETTING["beside"]:
            return tuned
    injected = drawn["prefetch_injected"] & pipeline.framework
    if _unseen_ahead(facts):
        injected = injected | drawn["counted_ahead"]
    return np.where(injected, tuned, 0)


def processors(facts: JobFacts, drawn: Drawn, readers: Array | None = None) -> Array:
    """Return the processors left for preparing batches, beside other programs and the steps, at least one."""
    computing = facts.batches.weight @ compute_s(facts, drawn) / max(facts.batches.total_s, TINY_S)
    return np.maximum(1.0, all_processors(facts, drawn, readers) - drawn["steps_compute"] * computing)


def all_processors(facts: JobFacts, drawn: Drawn, readers: Array | None = None) -> Array:
    """Return the processors that other programs leave to the job, shape (samples,); infinite if unknown.

    Two that share a core, as those of a virtual machine may, are less than twice as fast as one. Threads that
    find none free take turns: the more the job has, the less others get.

    Args:
        facts: Of the job.
        drawn: Samples of the priors.
        readers: How many readers it has beside its loop; None: as many as it had.
    """
    machine = facts.processors
    if machine.cpus is None:
        return np.full(len(drawn["further_processor"]), np.inf)
    every, others = 1 + (machine.cpus - 1) * drawn["further_processor"], machine.others or 0.0
    threads = 1 + (facts.pipeline.readers if readers is None else readers)
    return np.maximum(1.0, np.maximum(every - others, every * threads / (threads + others)))


def shares_lock(facts: JobFacts) -> bool:
    """Return whether readers take turns at Python's lock."""
    return facts.pipeline.python and facts.pipeline.processes is None


def work_serial(facts: JobFacts, drawn: Drawn, readers: Array | None = None) -> Array:
    """Return the share of readers' processor time that is used one task at a time, shape (samples,)."""
    lock = drawn["python_lock" if shares_lock(facts) else "operation_lock"]
    return np.maximum(lock, 1 / processors(facts, drawn, readers))


def behind_share(facts: JobFacts, drawn: Drawn) -> Array:
    """Return the share of the work on records that is not their readers' own, shape (samples,)."""
    return drawn["inflated_share" if facts.pipeline.compressed else "parsed_share"]


def behind_serial(facts: JobFacts, drawn: Drawn) -> Array:
    """Return the same of what is behind them: all of it if one call at a time does that."""
    calls = facts.pipeline.parallel_behind
    if calls is None:
        return np.ones(len(drawn["operation_lock"]))
    left = processors(facts, drawn)
    return 1 / (left if calls < 0 else np.minimum(left, calls))
