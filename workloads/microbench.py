"""The micro-benchmark of arXiv 1810.03035: how reading JPEG files scales over threads."""

from __future__ import annotations

from .counted_calls import check_counts, counted_on, expected_of
from .experiment import Experiment
from .images import MEDIAN_112K, ImageFile
from .result import SHAPE, Arm, Result
from .step_times import run_steps
from .tf_data import file_pipeline, image_loader, read_only

PUBLISHED_FILES, QUICK_FILES = 16_384, 640
BATCH = 64
SIDE = 64
THREADS = (1, 2, 4, 8)
VARIANTS = ("read", "preprocess")
PAPER_SPEEDUPS = {"hdd": "2.3x", "lustre": "7.8x"}


def run(experiment: Experiment) -> Result:
    """Read all files with 1, 2, 4 and 8 threads, with and without decoding."""
    result = experiment.new_result()
    files = experiment.images(MEDIAN_112K, QUICK_FILES if experiment.quick else PUBLISHED_FILES, result)
    result.settings |= {"batch": BATCH, "side": SIDE, "prefetch": 0}
    for repeat in range(experiment.repeats):
        for variant in VARIANTS:
            for threads in THREADS:
                arm = result.arm(f"{variant}, {threads} threads")
                arm.settings |= {"variant": variant, "threads": threads}
                _run_once(experiment, result, arm, files)
        experiment.say(f"round {repeat + 1}/{experiment.repeats} done")
    _rows(result)
    return result


def _run_once(experiment: Experiment, result: Result, arm: Arm, files: list[ImageFile]) -> None:
    loads = arm.settings["variant"] == "read"
    classes = 1 + max(file.label for file in files)
    dataset = file_pipeline(
        files,
        read_only if loads else image_loader(SIDE, classes),
        threads=arm.settings["threads"],
        batch=BATCH,
        seed=experiment.seed,
        skip_errors=True,
    )
    seen = 0

    def count(batch: object) -> None:
        nonlocal seen
        seen += len(batch if loads else batch[0])  # type: ignore[arg-type,index]

    with experiment.session(arm, files) as session:
        elapsed_s = run_steps(dataset, count).total_s  # without making the pipeline
    check_counts(result, "files read whole", expected_of(files), counted_on(session.session, files))
    megabytes = sum(file.size_bytes for file in files) / 1e6
    arm.add(
        elapsed_s=elapsed_s, mb_s=megabytes / elapsed_s, files_s=seen / elapsed_s, skipped=len(files) - seen
    )


def _rows(result: Result) -> None:
    for variant in VARIANTS:
        arms = [result.arm(f"{variant}, {threads} threads") for threads in THREADS]
        # Runs of the same round are compared: they share whatever else the machine was doing.
        for arm in arms[1:]:
            arm.values["speedup"] = [
                one / many
                for one, many in zip(arms[0].values["elapsed_s"], arm.values["elapsed_s"], strict=True)
            ]
            paper = PAPER_SPEEDUPS.get(result.tier, "-") if arm.settings["threads"] == THREADS[-1] else "-"
            threads = arm.settings["threads"]
            result.row(
                f"{variant}: 1 to {threads} threads", paper, arm.worded("speedup", "x"), SHAPE, _note(variant)
            )
    skipped = max(result.arm(f"preprocess, {threads} threads").median("skipped") for threads in THREADS)
    if skipped:
        result.notes.append(f"{skipped:,.0f} files could not be decoded and were skipped")


def _note(variant: str) -> str:
    return "decoding needs the cores, of which the paper had more" if variant == "preprocess" else ""
