"""The mini-application of arXiv 1810.03035: AlexNet on Caltech-101, without and with prefetch.

The paper finds the same run time for every device and thread count once there is a prefetch. That holds only
where reading a batch takes no longer than computing on one. So both sides are shown: computing is played by a
sleep of known length, as an accelerator would take it, from far shorter to longer than reading takes.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tfdarshan.storage_model import PAPER_MODELS, find_model

from .alexnet_model import make_alexnet, warm_up
from .experiment import Experiment
from .images import CALTECH101, ImageFile
from .place import EMULATION
from .result import ASSUMED, SHAPE, Arm, Result
from .step_times import run_steps
from .tf_data import file_pipeline, image_loader, read_only

PREFETCH = 1
CROSSOVER_THREADS = 4
FLAT_THREADS = (2, 4, 8)
# Compute time by the time the model says reading takes.
FACTORS = (0.25, 0.5, 1.5, 2.0)
SLOWEST_FACTOR = 1.4


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How large it is."""

    batch: int
    steps: int
    side: int
    width: float
    threads: tuple[int, ...]
    sleep_batch: int
    sleep_steps: int


PUBLISHED = Scale(
    batch=64, steps=140, side=224, width=1.0, threads=(1, 2, 4, 8), sleep_batch=64, sleep_steps=140
)
QUICK = Scale(batch=16, steps=10, side=64, width=0.25, threads=(1, 8), sleep_batch=16, sleep_steps=12)


def run(experiment: Experiment) -> Result:
    """Train AlexNet without and with prefetch, then look for the crossover."""
    scale = experiment.scaled(quick=QUICK, published=PUBLISHED)
    result = experiment.new_result()
    files = experiment.images(
        CALTECH101, max(scale.batch * scale.steps, scale.sleep_batch * scale.sleep_steps), result
    )
    classes = 1 + max(file.label for file in files)
    model = make_alexnet(
        side=scale.side, classes=classes, width=scale.width, optimizer="adam", seed=experiment.seed
    )
    warm_up(model, scale.batch)
    result.settings |= {**vars(scale), "prefetch": PREFETCH, "optimizer": "Adam"}
    emulated = experiment.place.backend == EMULATION and experiment.place.as_if is not None
    if not emulated:
        result.notes.append("the crossover is looked for on emulated tiers only: there the model is known")
    for repeat in range(experiment.repeats):
        _train(experiment, result, files, model, scale)
        if emulated:
            _cross(experiment, result, files, scale)
            _flatten(experiment, result, files, scale)
        experiment.say(f"round {repeat + 1}/{experiment.repeats} done")
    _rows(result, scale, emulated)
    return result


def _train(
    experiment: Experiment, result: Result, files: Sequence[ImageFile], model: Any, scale: Scale
) -> None:
    used = files[: scale.batch * scale.steps]
    for threads in scale.threads:
        for prefetch in (0, PREFETCH):
            arm = result.arm(f"AlexNet, {threads} threads, prefetch {prefetch}")
            arm.settings |= {"threads": threads, "prefetch": prefetch}
            load = image_loader(scale.side, model.output_shape[-1])
            dataset = file_pipeline(
                used, load, threads=threads, batch=scale.batch, prefetch=prefetch, skip_errors=True
            )
            with experiment.session(arm, used):
                times = run_steps(dataset, lambda batch: model.train_on_batch(*batch))
            arm.add(elapsed_s=times.total_s, wait_percent=100 * times.wait_share)


def _cross(experiment: Experiment, result: Result, files: Sequence[ImageFile], scale: Scale) -> None:
    assert experiment.place.as_if is not None
    used = files[: scale.sleep_batch * scale.sleep_steps]
    predicted_s = predicted_step_s(experiment.place.as_if, used, CROSSOVER_THREADS, scale.sleep_batch)
    for factor in FACTORS:
        arm = result.arm(f"compute {factor:g} of reading")
        arm.settings |= {"compute_s": factor * predicted_s, "predicted_s": predicted_s, "factor": factor}
        step_s = _sleeping_run(
            experiment, arm, used, scale, CROSSOVER_THREADS, factor * predicted_s, experiment.place.as_if
        )
        arm.add(step_s=step_s)


def _flatten(experiment: Experiment, result: Result, files: Sequence[ImageFile], scale: Scale) -> None:
    """Every device and thread count, with a compute time that no reading exceeds."""
    used = files[: scale.sleep_batch * scale.sleep_steps]
    slowest_s = max(
        predicted_step_s(model.name, used, threads, scale.sleep_batch)
        for model in PAPER_MODELS
        for threads in FLAT_THREADS
    )
    for model in PAPER_MODELS:
        for threads in FLAT_THREADS:
            arm = result.arm(f"flat: {model.name}, {threads} threads")
            arm.settings |= {"tier": model.name, "threads": threads, "compute_s": SLOWEST_FACTOR * slowest_s}
            step_s = _sleeping_run(
                experiment, arm, used, scale, threads, SLOWEST_FACTOR * slowest_s, model.name
            )
            arm.add(step_s=step_s)


def _sleeping_run(
    experiment: Experiment,
    arm: Arm,
    files: Sequence[ImageFile],
    scale: Scale,
    threads: int,
    compute_s: float,
    as_if: str,
) -> float:
    """Return the seconds of a step, the first two left out: there the prefetch is still empty."""
    dataset = file_pipeline(
        files, read_only, threads=threads, batch=scale.sleep_batch, prefetch=PREFETCH, skip_errors=True
    )
    compute: Callable[[Any], None] = partial(_sleep, compute_s)
    with experiment.session(arm, files, as_if=as_if):
        times = run_steps(dataset, compute)
    steps = [wait + work for wait, work in zip(times.wait_s, times.compute_s, strict=True)]
    return statistics.mean(steps[2:] or steps)


def predicted_step_s(tier: str, files: Sequence[ImageFile], threads: int, batch: int) -> float:
    """Return the time the storage model says that reading a batch takes, of whatever files there are."""
    whole_s = find_model(tier).files_time_s((file.size_bytes for file in files), threads)
    return whole_s / max(len(files) / batch, 1)


def _sleep(seconds: float, batch: Any) -> None:
    del batch
    time.sleep(seconds)


def crossover_s(arms: Sequence[Arm]) -> float:
    """Return the compute time at which a step begins to last as long as computing does.

    Where computing is short, a step lasts as long as reading: a plateau. Where it is long, as long as
    computing and a little more: a line. They meet where the line reaches the plateau.
    """
    plateau_s = statistics.mean(arm.median("step_s") for arm in arms if arm.settings["factor"] < 1)
    slope = statistics.mean(
        arm.median("step_s") / float(arm.settings["compute_s"]) for arm in arms if arm.settings["factor"] > 1
    )
    return plateau_s / slope


def _rows(result: Result, scale: Scale, emulated: bool) -> None:
    for threads in scale.threads:
        without, with_ = (
            result.arm(f"AlexNet, {threads} threads, prefetch {prefetch}") for prefetch in (0, PREFETCH)
        )
        here = f"{without.worded('elapsed_s', 's')}, with: {with_.worded('elapsed_s', 's')}"
        result.row(f"AlexNet, {threads} threads: run without prefetch", "slower without", here, SHAPE)
    if not emulated:
        return
    arms = [result.arm(f"compute {factor:g} of reading") for factor in FACTORS]
    predicted_s, found_s = arms[0].settings["predicted_s"], crossover_s(arms)
    result.row(
        "crossover: compute time that hides reading",
        f"model: {predicted_s * 1e3:.1f} ms",
        f"{found_s * 1e3:.1f} ms ({100 * (found_s / predicted_s - 1):+.1f} %)",
        SHAPE,
        "the paper's side is the storage model's figure",
    )
    flat = [arm for arm in result.arms if arm.name.startswith("flat: ")]
    steps_s = [arm.median("step_s") for arm in flat]
    result.row(
        "with prefetch, reading <= computing: step over 4 devices x 3 thread counts",
        "the same",
        f"{min(steps_s) * 1e3:.0f} to {max(steps_s) * 1e3:.0f} ms",
        SHAPE,
        f"computing is a sleep of {flat[0].settings['compute_s'] * 1e3:.0f} ms",
    )
    slow = arms[0]
    result.row(
        "with prefetch, reading 4x computing: step",
        "not shown",
        f"{slow.worded('step_s', 's', 3)} for {slow.settings['compute_s']:.3f} s of computing",
        ASSUMED,
    )
