"""All that a session leaves open about its job, and all numbers that were chosen for the model: two tables.

No other file of replay/ has a chosen number; those that tell causes are in `tfdarshan/thresholds.py`.
Change these by development jobs only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.thresholds import JUDGED, Setting

Scale = Literal["even", "log", "chance"]
TRIALS = "trial runs of 35 development jobs"


@dataclass(frozen=True)
class Prior:
    """A quantity that a session does not show.

    Attributes:
        name: What it is called.
        unit: Its unit, "share" for 0 to 1.
        low: The least that it is.
        high: The most. Of a chance, both are how likely it is.
        meaning: What it is.
        source: Where the range comes from.
        scale: Any value of the range is as likely ("even"), or any ratio ("log"); "chance" is so or not.
        by_probe: Whether a probe of the storage tells it.
    """

    name: str
    unit: str
    low: float
    high: float
    meaning: str
    source: str
    scale: Scale = "even"
    by_probe: bool = False


def _chance(name: str, likely: float, meaning: str, source: str, *, by_probe: bool = False) -> Prior:
    return Prior(name, "chance", likely, likely, meaning, source, "chance", by_probe)


def _ratio(name: str, unit: str, low: float, high: float, meaning: str, source: str) -> Prior:
    return Prior(name, unit, low, high, meaning, source, "log")


PRIORS = (
    # Storage: what of a call is served one at a time. At 0 calls wait side by side, at 1 in turn.
    _chance("serial_local", 0.7, "whether a local disk serves calls one at a time", TRIALS, by_probe=True),
    _chance(
        "serial_network", 0.25, "whether network storage serves calls one at a time", TRIALS, by_probe=True
    ),
    Prior(
        "wait_serial_low",
        "share",
        0.0,
        0.12,
        "how much of the latency is serialized if calls run side by side",
        TRIALS,
    ),
    Prior(
        "wait_serial_high",
        "share",
        0.85,
        1.0,
        "how much of the latency is serialized if calls run one at a time",
        TRIALS,
    ),
    Prior("serial_place", "share", 0.0, 1.0, "how much of a call is serialized", "serialization.py"),
    _chance("pipe_shared", 0.8, "whether all readers share one bandwidth", TRIALS, by_probe=True),
    Prior(
        "transfer_serial_low",
        "share",
        0.0,
        0.25,
        "how much of a transfer is serialized if each reader has a bandwidth of its own",
        TRIALS,
    ),
    Prior(
        "transfer_serial_high",
        "share",
        0.85,
        1.0,
        "how much of a transfer is serialized if readers share one bandwidth",
        TRIALS,
    ),
    Prior(
        "bandwidth",
        "share",
        0.0,
        1.0,
        "the bandwidth of the storage",
        JUDGED,
        by_probe=True,
    ),
    _chance(
        "only_bytes",
        0.3,
        "whether quick reads wait for bandwidth or for latency",
        TRIALS,
        by_probe=True,
    ),
    _chance(
        "streams_bytes",
        0.8,
        "whether sequential reads of a local disk wait for bandwidth or for latency",
        JUDGED,
    ),
    Prior("wait_share_error", "share", -0.2, 0.2, "how much of a read's time is latency", TRIALS),
    _ratio("served_together", "calls", 16, 64, "how many calls the storage serves side by side", TRIALS),
    _chance("limited_local", 0.5, "whether a rate limit holds back calls on a local disk", TRIALS),
    _chance("limited_network", 0.3, "whether a rate limit holds back calls on network storage", TRIALS),
    _chance("limit_of_calls", 0.5, "whether a rate limit counts calls or bytes", JUDGED),
    _ratio("burst_s", "s", 0.02, 30.0, "how long a rate limit lets calls pass after a pause", TRIALS),
    _chance("arm", 0.5, "whether calls wait for a disk arm", JUDGED),
    _chance("reads_ahead", 0.8, "whether the kernel reads ahead of sequential reads", JUDGED),
    Prior("sequential_left", "share", 0.0, 0.5, "how much of a seek a sequential read takes", TRIALS),
    Prior(
        "elevator",
        "exponent",
        0.0,
        0.45,
        "how much shorter a disk arm moves if more calls wait",
        "storage_model.py",
    ),
    # Faster tiers and memory.
    _ratio("fast_call_s", "s", 5e-6, 100e-6, "the latency of the disk or memory that holds the copy", TRIALS),
    _ratio(
        "fast_bytes_per_s",
        "B/s",
        0.8e9,
        3e9,
        "the bandwidth of the disk or memory that holds the copy",
        TRIALS,
    ),
    _ratio(
        "kept_task_s", "s", 5e-6, 60e-6, "how long it takes to get a sample from a cache in memory", TRIALS
    ),
    _ratio(
        "snapshot_bytes_per_s", "B/s", 1e9, 4e9, "the bandwidth of copying a checkpoint in memory", TRIALS
    ),
    _ratio("burst_bytes_per_s", "B/s", 0.4e9, 1.5e9, "the bandwidth of saving to a fast tier", TRIALS),
    # Pipelines.
    Prior("autotuned_batches", "batches", 2, 8, "how many batches the framework keeps ready", TRIALS),
    Prior("autotuned_calls", "processors", 1.0, 2.0, "how many calls the framework runs at a time", TRIALS),
    _chance("prefetch_injected", 0.8, "whether the framework prefetches by itself", TRIALS),
    _chance("counted_ahead", 0.5, "whether calls known by counters alone ran while steps computed", JUDGED),
    Prior(
        "parsed_share", "share", 0.2, 0.9, "how much of the work comes after reading plain records", TRIALS
    ),
    Prior(
        "inflated_share",
        "share",
        0.0,
        0.5,
        "how much of the work comes after reading compressed records",
        TRIALS,
    ),
    # Processors.
    Prior("python_lock", "share", 0.1, 0.7, "how much of the decoding holds Python's lock (the GIL)", TRIALS),
    Prior(
        "operation_lock", "share", 0.0, 0.1, "how much of decoding outside of Python is serialized", TRIALS
    ),
    Prior("further_processor", "share", 0.6, 1.0, "how fast a second processor is beside the first", TRIALS),
    Prior("processor_place", "share", 0.0, 1.0, "how much processor time the steps took", JUDGED),
    Prior(
        "steps_compute", "share", 0.0, 1.0, "how much of a step's computing keeps a processor busy", JUDGED
    ),
    Prior("handover_s", "s", 5e-6, 50e-6, "how long it takes to get Python's lock back after a call", TRIALS),
    Prior("python_call_s", "s", 1e-6, 6e-6, "how long Python itself takes for a call", TRIALS),
    Prior("operation_faster", "times", 0.8, 1.6, "how much faster decoding is outside of Python", TRIALS),
    _ratio("sample_s", "s", 80e-6, 600e-6, "how long a generator takes for a sample", TRIALS),
    _ratio("inflate_s_per_byte", "s/B", 4e-9, 12e-9, "how long it takes to decompress a byte", TRIALS),
    Prior("inflated_times", "times", 1.6, 2.4, "how many bytes a compressed byte becomes", TRIALS),
    Prior(
        "pipeline_pace", "share", 0.0, 1.0, "how much of the input work gets done while steps compute", JUDGED
    ),
    Prior("worked_behind", "share", 0.0, 1.0, "how much of the decoding comes after a cache", JUDGED),
    Prior("touched_place", "share", 0.0, 1.0, "how many pages the job touched", "mapped_waits.py"),
    Prior("unmarked_work", "share", 0.0, 1.0, "how much of the time between reads is decoding", JUDGED),
    _ratio("member_s", "s", 20e-6, 60e-6, "how long Python itself takes for a member of a tar file", TRIALS),
    Prior(
        "hidden_steps",
        "share",
        0.0,
        1.0,
        "how long the training loop computes while other threads read",
        JUDGED,
    ),
    # Checkpoints that go from a fast tier to storage.
    Prior(
        "drained_times",
        "times",
        1.5,
        2.5,
        "how long a save takes to be copied and read back",
        TRIALS,
    ),
    _ratio("durable_times", "times", 1, 4, "how long a local disk takes for what memory took of it", TRIALS),
    # Worker processes.
    _ratio(
        "worker_start_s",
        "s",
        0.025,
        0.06,
        "processor time to start a process that reads, and to end it",
        TRIALS,
    ),
    _ratio(
        "handed_s",
        "s",
        2e-4,
        1.2e-3,
        "how long a batch takes from one process to another, on either side",
        TRIALS,
    ),
    _ratio("memory_call_s", "s", 4e-7, 2e-6, "how long a read takes that memory serves", TRIALS),
    _ratio(
        "handed_s_per_byte",
        "s/B",
        1.5e-10,
        8e-9,
        "how long each byte of a batch takes from one process to another, more than that",
        TRIALS,
    ),
)

SETTINGS = (
    Setting("samples", "jobs", 64, "samples of what is open", "a mean is off by an eighth of their spread"),
    Setting("quantile", "share", 0.05, "left out of a range on either side", "nine of ten promises hold"),
    Setting("runs_differ", "log", 0.03, "standard deviation of a run's time", "the laboratory's runs"),
    Setting(
        "fixes_differ",
        "share",
        0.4,
        "the same of what a fix gives, of the time that it saves",
        "nine of ten fixes of development jobs that gave 10 % or more",
    ),
    Setting("worker_batches", "batches", 2, "a worker process has ready", "PyTorch's documentation"),
    Setting("reproduces", "share", 0.03, "how far off the recorded run a model may be", "what is wanted"),
    Setting("misfit", "share", 0.15, "of the waits, the error that divides a weight by e", TRIALS),
    Setting("tries", "runs", 9, "halvings of a range in which a scale is sought", "to 0.2 % of the range"),
    Setting("points", "points", 11, "of the normal distribution that runs differ by", "as quantiles need"),
    Setting(
        "rests", "rests", 16, "that a server remembers for tasks that come late", "test_against_events.py"
    ),
    Setting("parts", "parts", 24, "parts of a run whose waits are compared", TRIALS),
    Setting("most_tasks", "tasks", 2400, "tasks that are simulated, of more a part", "10 ms a simulation"),
    Setting("spread", "turns", (5**0.5 - 1) / 2, "of counted files, from task to task", "the golden ratio"),
    Setting("fastest", "B/s", 2e9, "the most that storage gives a reader", JUDGED),
    Setting("slowest", "B/s", 10e6, "the least that a pipe of bytes alone gives", JUDGED),
    Setting("fewest", "reads", 16, "of a kind, that tell something", JUDGED),
    Setting("alike", "times", 1.5, "what a probe's reads take, and no limit held others back", JUDGED),
    Setting("few_files", "share", 0.98, "of tasks, those that no slow file of its own holds up", JUDGED),
    Setting("stretch", "batches", 8, "batches of such a part that follow each other", JUDGED),
    Setting("readers", "readers", 16, "what 'more readers' means", "what findings say to write"),
    Setting("fault", "B", 128 << 10, "what a page fault brings in", "Linux, read_ahead_kb"),
    Setting(
        "window", "B", 256 << 10, "what streams ask for at a time", "two of read_ahead_kb; TFRecordDataset"
    ),
    Setting(
        "request", "B", 1 << 20, "what a large read asks storage for at a time", "Linux, max_sectors_kb; NFS"
    ),
    Setting("loop_reads", "share", 0.8, "of the time in calls, the loop's own: it reads itself", TRIALS),
    Setting("early", "share", 0.01, "of a pass's tasks, those ahead of their epoch", JUDGED),
    Setting("quick", "share", 0.25, "of calls of a kind, those that nothing held back", JUDGED),
    Setting("no_step", "share", 0.05, "of a step's computing, what is no step: an epoch's end", JUDGED),
    Setting("beside", "share", 0.4, "of the time in calls beside computing: readers are ahead", TRIALS),
    Setting(
        "knee", "share", 0.05, "of all that copies save, what a knee of their curve is above its line", JUDGED
    ),
    Setting("shrinks", "reads", 16, "of a file that tell as much of its speed as all files do", JUDGED),
    Setting("nearly", "share", 0.9, "of what staging all gives, what some files give to be enough", JUDGED),
)

SETTING = {setting.name: setting.value for setting in SETTINGS}
Drawn = Mapping[str, Array]


def draw(samples: int, seed: int = 0) -> Drawn:
    """Return values of all priors: of each so many, in an order of its own, spread evenly over its range.

    Args:
        samples: How many.
        seed: What the orders come from.

    Returns:
        For each prior's name an array of shape (samples,), float64; of a chance, bool.
    """
    dice = np.random.default_rng(seed)
    places = [(dice.permutation(samples) + dice.random(samples)) / samples for _ in PRIORS]
    return {prior.name: _value(prior, place) for prior, place in zip(PRIORS, places, strict=True)}


def _value(prior: Prior, place: Array) -> Array:
    if prior.scale == "chance":
        found: Array = place < prior.low
    elif prior.scale == "log":
        found = prior.low * (prior.high / prior.low) ** place
    else:
        found = prior.low + (prior.high - prior.low) * place
    return found
