"""tf-Darshan's STREAM (arXiv 2008.04395): reads files as fast as the pipeline goes, and computes nothing.

A continuous run is held against the block device's own counters, second by second; a second run restarts the
session every 5 steps, as the paper did to see bandwidth over time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.session import Session

from .cache_clearing import drop_from_cache
from .counted_calls import check_counts, counted_on, expected_of
from .device_counters import DeviceCounter, Sample, page_rounded
from .experiment import Experiment
from .images import IMAGENET
from .place import EMULATION
from .records import LabelledFile
from .result import SCALE, SHAPE, Arm, Result
from .step_times import run_steps
from .tf_data import file_pipeline, read_only

THREADS = 16
PREFETCH = 10
RESTART_STEPS = 5


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How large it is."""

    image_batch: int
    image_steps: int
    malware_batch: int
    malware_steps: int


PUBLISHED = Scale(image_batch=128, image_steps=100, malware_batch=128, malware_steps=50)
QUICK = Scale(image_batch=64, image_steps=20, malware_batch=8, malware_steps=10)


def run(experiment: Experiment) -> Result:
    """Stream both data sets; with `--data-dir`, the images found there."""
    scale = experiment.scaled(quick=QUICK, published=PUBLISHED)
    result = experiment.new_result()
    result.settings |= {**vars(scale), "threads": THREADS, "prefetch": PREFETCH}
    sets: dict[str, tuple[Sequence[LabelledFile], int]] = {
        "imagenet": (
            experiment.images(IMAGENET, scale.image_batch * scale.image_steps, result),
            scale.image_batch,
        )
    }
    if experiment.data_dir is None:
        malware = experiment.malware(scale.malware_batch * scale.malware_steps, result)
        sets["malware"] = (malware, scale.malware_batch)
    for repeat in range(experiment.repeats):
        for name, (files, batch) in sets.items():
            _run_whole(experiment, result, name, files, min(batch, len(files)))
            _run_restarted(experiment, result, name, files, min(batch, len(files)))
        experiment.say(f"round {repeat + 1}/{experiment.repeats} done")
    for name in sets:
        _rows(result, name)
    return result


def _run_whole(
    experiment: Experiment, result: Result, name: str, files: Sequence[LabelledFile], batch: int
) -> None:
    """One session over all steps, with the device's counters beside it."""
    arm = result.arm(f"{name}, one session")
    device = DeviceCounter(experiment.place.directory)
    checked = device.available and experiment.place.backend != EMULATION
    with experiment.session(arm, files) as session:
        device.start()
        start_s = time.perf_counter()
        run_steps(file_pipeline(files, read_only, threads=THREADS, batch=batch, prefetch=PREFETCH), _nothing)
        elapsed_s = time.perf_counter() - start_s
        samples = device.stop()
    used = files[: len(files) // batch * batch]
    counted = counted_on(session.session, files)
    if len(used) == len(files):
        check_counts(result, name, expected_of(files), counted)
    arm.add(elapsed_s=elapsed_s, mb_s=counted.bytes_read / 1e6 / elapsed_s)
    if checked:
        arm.settings["device"] = device.name
        _compare(arm, files, session.session, counted.bytes_read, samples)
    else:
        _note_once(result, f"{name}: no block device to compare with: {experiment.place.said}")


def _run_restarted(
    experiment: Experiment, result: Result, name: str, files: Sequence[LabelledFile], batch: int
) -> None:
    """A session for every 5 steps, over one iterator; the pipeline reads on in between, as in the paper."""
    arm = result.arm(f"{name}, restarted every {RESTART_STEPS} steps")
    drop_from_cache(file.path for file in files)
    batches = iter(file_pipeline(files, read_only, threads=THREADS, batch=batch, prefetch=PREFETCH))
    device = DeviceCounter(experiment.place.directory)
    counted_bytes, device_bytes, total_s, sessions = 0.0, 0, 0.0, 0
    for first in range(0, len(files) // batch, RESTART_STEPS):
        with experiment.session(arm, []) as session:
            before, start_s = device.sample(), time.perf_counter()
            for _ in range(min(RESTART_STEPS, len(files) // batch - first)):
                next(batches)
            total_s += time.perf_counter() - start_s
            after = device.sample()
        # The session begins and ends a little outside of the samples, and the pipeline does not wait.
        counted_bytes += float(bytes_by_second(session.session, (before.time_ns, after.time_ns))[0])
        device_bytes += after.bytes_read - before.bytes_read
        sessions += 1
    arm.add(sessions=sessions, mb_s=counted_bytes / 1e6 / total_s)
    if device.available and experiment.place.backend != EMULATION and device_bytes:
        arm.add(error_percent=100 * (counted_bytes - device_bytes) / device_bytes)


def _compare(
    arm: Arm, files: Sequence[LabelledFile], session: Session, counted_bytes: int, samples: list[Sample]
) -> None:
    """Hold the session's bytes against the device's: all of them, and second by second.

    The device is asked for whole pages; what it read beyond the files' pages is readahead and metadata.
    """
    device_bytes = samples[-1].bytes_read - samples[0].bytes_read
    pages = sum(page_rounded(file.size_bytes) for file in files)
    arm.add(
        device_mb=device_bytes / 1e6,
        error_percent=100 * (counted_bytes - device_bytes) / device_bytes if device_bytes else 100.0,
        readahead_mb=(device_bytes - pages) / 1e6,
        error_without_percent=100 * (pages - device_bytes) / device_bytes if device_bytes else 100.0,
    )
    ours = bytes_by_second(session, [sample.time_ns for sample in samples])
    theirs = np.diff([sample.bytes_read for sample in samples])
    whole = slice(0, -1) if len(theirs) > 1 else slice(0, 1)  # the last one is no whole second
    if theirs[whole].sum():
        errors = np.abs(ours[whole] - theirs[whole]) / theirs[whole].clip(1)
        arm.add(second_error_percent=100 * float(np.median(errors)))


def bytes_by_second(session: Session, edges_ns: Sequence[int]) -> np.ndarray:
    """Return the bytes read between neighbouring moments, each call's spread evenly over its duration."""
    events = session.events
    events = events[events["operation"].isin(["read", "pread"]) & (events["length"] > 0)]
    origin_ns = session.meta[0]["origin_realtime_ns"]
    start, end = events["start_ns"].to_numpy() + origin_ns, events["end_ns"].to_numpy() + origin_ns
    length = events["length"].to_numpy().astype(float)
    until = [(length * np.clip((edge - start) / np.maximum(end - start, 1), 0, 1)).sum() for edge in edges_ns]
    return np.diff(until)


def _rows(result: Result, name: str) -> None:
    whole = result.arm(f"{name}, one session")
    parts = result.arm(f"{name}, restarted every {RESTART_STEPS} steps")
    result.row(f"{name}: bandwidth", "-", whole.worded("mb_s", "MB/s", 1), SCALE)
    sessions = f"{parts.median('sessions'):.0f} sessions"
    if "error_percent" in parts.values:
        sessions += f"; against the device's counters {parts.worded('error_percent', '%', 1)}"
    result.row(f"{name}: restarted", "-", parts.worded("mb_s", "MB/s", 1), SCALE, sessions)
    if "error_percent" in whole.values:
        note = f"{whole.worded('readahead_mb', 'MB', 2)} readahead and metadata; files' pages without these: "
        note += whole.worded("error_without_percent", "%", 2)
        here = whole.worded("error_percent", "%", 2)
        result.row(f"{name}: bytes against the device's counters", "on dstat's line", here, SHAPE, note)
    if "second_error_percent" in whole.values:
        here = whole.worded("second_error_percent", "%", 1)
        result.row(f"{name}: the same by second, median", "on dstat's line", here, SHAPE)


def _note_once(result: Result, note: str) -> None:
    if note not in result.notes:
        result.notes.append(note)


def _nothing(batch: object) -> None:
    del batch
