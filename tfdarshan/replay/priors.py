"""All that a session leaves open about its job, and all numbers that were chosen: two tables.

No other file of replay/ has a number that somebody chose. Change these by development jobs only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfdarshan.analysis.intervals import Array

Scale = Literal["even", "log", "chance"]
TRIALS = "trial runs of 35 development jobs"
JUDGED = "a judgement: no measurement yet"


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
    """

    name: str
    unit: str
    low: float
    high: float
    meaning: str
    source: str
    scale: Scale = "even"


@dataclass(frozen=True)
class Setting:
    """A number that was chosen.

    Attributes:
        name: What it is called.
        unit: Its unit.
        value: It.
        meaning: What it is.
        source: Where it comes from.
    """

    name: str
    unit: str
    value: float
    meaning: str
    source: str


def _chance(name: str, likely: float, meaning: str, source: str) -> Prior:
    return Prior(name, "chance", likely, likely, meaning, source, "chance")


def _ratio(name: str, unit: str, low: float, high: float, meaning: str, source: str) -> Prior:
    return Prior(name, unit, low, high, meaning, source, "log")


PRIORS = (
    # Storage: what of a call is served one at a time. At 0 calls wait side by side, at 1 in turn.
    _chance("serial_local", 0.7, "calls on a local disk wait for its one arm or quota", TRIALS),
    _chance("serial_network", 0.25, "calls on other storage wait one behind the other", TRIALS),
    Prior("wait_serial_low", "share", 0.0, 0.12, "of a wait, if calls wait side by side", TRIALS),
    Prior("wait_serial_high", "share", 0.85, 1.0, "of a wait, if they do not", TRIALS),
    Prior("serial_place", "share", 0.0, 1.0, "where a measured share lies in its range", "contention.py"),
    _chance("pipe_shared", 0.8, "all readers share one pipe for bytes", TRIALS),
    Prior("transfer_serial_low", "share", 0.0, 0.25, "of a transfer, if each reader has a pipe", TRIALS),
    Prior("transfer_serial_high", "share", 0.85, 1.0, "of a transfer, if readers share one", TRIALS),
    Prior(
        "bandwidth", "share", 0.0, 1.0, "from what a read had to the most, by ratio, if all are alike", JUDGED
    ),
    _chance("only_bytes", 0.3, "such reads wait for nothing but their bytes, if these are so quick", TRIALS),
    _chance("streams_bytes", 0.8, "nor do reads of a local disk that go on where the last one ended", JUDGED),
    Prior("wait_share_error", "share", -0.2, 0.2, "what a fit of it by sizes may be off by", TRIALS),
    _ratio("served_together", "calls", 16, 64, "calls that a server takes side by side", TRIALS),
    _chance("limited_local", 0.5, "a limit holds back calls that wait one at a time", TRIALS),
    _chance("limited_network", 0.3, "the same on other storage", TRIALS),
    _chance("limit_of_calls", 0.5, "a limit counts calls, not bytes", JUDGED),
    _ratio("burst_s", "s", 0.02, 30.0, "what a limit lends after a rest", TRIALS),
    _chance("arm", 0.5, "what waits one at a time waits for an arm", JUDGED),
    _chance("reads_ahead", 0.8, "the kernel reads ahead of calls that follow each other", JUDGED),
    Prior("sequential_left", "share", 0.0, 0.5, "of an arm's wait, what next bytes take", TRIALS),
    Prior(
        "elevator",
        "exponent",
        0.0,
        0.45,
        "of calls that wait, by which an arm moves less",
        "storage_model.py",
    ),
    # Faster tiers and memory.
    _ratio("fast_call_s", "s", 5e-6, 100e-6, "a call on a local NVMe disk or in memory", TRIALS),
    _ratio("fast_bytes_per_s", "B/s", 0.8e9, 3e9, "bytes from there", TRIALS),
    _ratio("kept_task_s", "s", 5e-6, 60e-6, "a sample taken out of a cache in memory", TRIALS),
    _ratio("snapshot_bytes_per_s", "B/s", 1e9, 4e9, "copying in memory what is saved", TRIALS),
    _ratio("burst_bytes_per_s", "B/s", 0.4e9, 1.5e9, "writing it to a fast tier first", TRIALS),
    # Pipelines.
    Prior("autotuned_batches", "batches", 2, 8, "batches that prefetch(AUTOTUNE) is ahead", TRIALS),
    Prior("autotuned_calls", "processors", 1.0, 2.0, "calls that AUTOTUNE makes, in processors", TRIALS),
    _chance("prefetch_injected", 0.8, "tf.data prefetches though nobody wrote so", TRIALS),
    _chance("counted_ahead", 0.5, "calls that counters alone tell of ran beside computing", JUDGED),
    Prior("parsed_share", "share", 0.2, 0.9, "of a record's work, what is behind its reader", TRIALS),
    Prior("inflated_share", "share", 0.0, 0.5, "the same of a compressed record", TRIALS),
    # Processors.
    Prior("python_lock", "share", 0.1, 0.7, "of decoding in Python, what holds its lock", TRIALS),
    Prior("operation_lock", "share", 0.0, 0.1, "of TensorFlow's operations, the serial part", TRIALS),
    Prior("steps_compute", "share", 0.0, 1.0, "of computing, what takes a processor", JUDGED),
    Prior("handover_s", "s", 5e-6, 50e-6, "getting Python's lock back after a call", TRIALS),
    Prior("python_call_s", "s", 1e-6, 6e-6, "Python's own time for a call", TRIALS),
    Prior("operation_faster", "times", 0.8, 1.6, "TensorFlow's decoding against Python's", TRIALS),
    _ratio("sample_s", "s", 80e-6, 600e-6, "from_generator's own time for a sample", TRIALS),
    _ratio("inflate_s_per_byte", "s/B", 4e-9, 12e-9, "unpacking a compressed byte", TRIALS),
    Prior("inflated_times", "times", 1.6, 2.4, "bytes out of a compressed byte", TRIALS),
    Prior("pipeline_pace", "share", 0.0, 1.0, "of the work that fits beside steps, what is done", JUDGED),
)

SETTINGS = (
    Setting("samples", "jobs", 64, "samples of what is open", "a mean is off by an eighth of their spread"),
    Setting("quantile", "share", 0.05, "left out of a range on either side", "nine of ten promises hold"),
    Setting("runs_differ", "log", 0.03, "standard deviation of a run's time", "the laboratory's runs"),
    Setting("fixes_differ", "share", 0.20, "the same of a fix's gain, of its logarithm", TRIALS),
    Setting("reproduces", "share", 0.03, "how far off the recorded run a model may be", "what is wanted"),
    Setting("misfit", "share", 0.15, "of the waits, the error that divides a weight by e", TRIALS),
    Setting("tries", "runs", 9, "halvings of a range in which a scale is sought", "to 0.2 % of the range"),
    Setting("points", "points", 11, "of the normal distribution that runs differ by", "as quantiles need"),
    Setting(
        "rests", "rests", 4, "that a server remembers for tasks that come late", "test_against_events.py"
    ),
    Setting("chain", "reads", 64, "of a chain of dependent reads, at most", JUDGED),
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
    Setting("saves", "B", 1 << 20, "a step that writes more saves a model", TRIALS),
    Setting(
        "window", "B", 256 << 10, "what streams ask for at a time", "two of read_ahead_kb; TFRecordDataset"
    ),
    Setting(
        "request", "B", 1 << 20, "what a large read asks storage for at a time", "Linux, max_sectors_kb; NFS"
    ),
    Setting("pause_only", "share", 0.9, "of a file's calls in pauses: a validation set's", "pause_calls.py"),
    Setting("loop_reads", "share", 0.8, "of the time in calls, the loop's own: it reads itself", TRIALS),
    Setting("early", "share", 0.01, "of a pass's tasks, those ahead of their epoch", JUDGED),
    Setting("quick", "share", 0.25, "of calls of a kind, those that nothing held back", JUDGED),
    Setting("no_step", "share", 0.05, "of a step's computing, what is no step: an epoch's end", JUDGED),
    Setting("burst_gap", "share", 0.5, "of the usual rest between reads, what ends a batch's", TRIALS),
    Setting("beside", "share", 0.4, "of the time in calls beside computing: readers are ahead", TRIALS),
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
