"""AlexNet on ImageNet-like files, as tf-Darshan's case study (arXiv 2008.04395)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .alexnet_model import make_alexnet, warm_up
from .counted_calls import check_counts, counted_on, expected_of
from .experiment import Experiment
from .images import IMAGENET, ImageFile
from .result import EXACT, SCALE, SHAPE, Arm, Result
from .step_times import run_steps
from .tf_data import file_pipeline, image_loader


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How large it is."""

    batch: int
    steps: int
    side: int
    width: float
    threads: tuple[int, ...]


PUBLISHED = Scale(batch=256, steps=500, side=224, width=1.0, threads=(1, 28))
QUICK = Scale(batch=32, steps=12, side=64, width=0.125, threads=(1, 8))
PREFETCH = 10


def run(experiment: Experiment) -> Result:
    """Train with few and with many reading threads."""
    scale = experiment.scaled(quick=QUICK, published=PUBLISHED)
    result = experiment.new_result()
    files = experiment.images(IMAGENET, scale.batch * scale.steps, result)
    classes = 1 + max(file.label for file in files)
    model = make_alexnet(side=scale.side, classes=classes, width=scale.width, seed=experiment.seed)
    warm_up(model, min(scale.batch, len(files)))
    result.settings |= {**vars(scale), "prefetch": PREFETCH, "optimizer": "SGD, rate 0.01"}
    for repeat in range(experiment.repeats):
        for threads in scale.threads:
            arm = result.arm(f"{threads} threads")
            arm.settings["threads"] = threads
            _run_once(experiment, result, arm, files, model, scale)
        experiment.say(f"round {repeat + 1}/{experiment.repeats} done")
    _rows(result, scale, len(files))
    return result


def _run_once(
    experiment: Experiment, result: Result, arm: Arm, files: list[ImageFile], model: Any, scale: Scale
) -> None:
    dataset = file_pipeline(
        files,
        image_loader(scale.side, model.output_shape[-1]),
        threads=arm.settings["threads"],
        batch=min(scale.batch, len(files)),
        prefetch=PREFETCH,
        seed=experiment.seed,
        skip_errors=True,
    )
    with experiment.session(arm, files) as session:
        times = run_steps(dataset, lambda batch: model.train_on_batch(*batch))
    counted = counted_on(session.session, files)
    check_counts(result, "files read whole", expected_of(files), counted)
    arm.add(
        elapsed_s=times.total_s,
        wait_percent=100 * times.wait_share,
        mb_s=counted.bytes_read / 1e6 / times.total_s,
        opens=counted.opens,
        reads=counted.reads,
        zero_reads=counted.zero_reads,
    )


def _rows(result: Result, scale: Scale, count: int) -> None:
    few, many = (result.arm(f"{threads} threads") for threads in (scale.threads[0], scale.threads[-1]))
    few.values["gain"] = [
        after / before for before, after in zip(few.values["mb_s"], many.values["mb_s"], strict=True)
    ]
    result.row("files", "128,000", f"{count:,}", SCALE)
    result.row("opens per file", "1", f"{few.median('opens') / count:g}", EXACT)
    result.row("reads per file", "2", f"{few.median('reads') / count:g}", EXACT)
    result.row("zero-length reads per file", "1", f"{few.median('zero_reads') / count:g}", EXACT)
    result.row("input wait, 1 thread", "96 %", few.worded("wait_percent", "%", 1), SHAPE)
    result.row("bandwidth, 1 thread", "3 MB/s", few.worded("mb_s", "MB/s", 1), SCALE)
    result.row(
        f"bandwidth, {scale.threads[-1]} threads",
        "24 MB/s at 28 threads",
        many.worded("mb_s", "MB/s", 1),
        SCALE,
    )
    result.row(
        f"gain from 1 to {scale.threads[-1]} threads", "8x at 28 threads", few.worded("gain", "x"), SHAPE
    )
