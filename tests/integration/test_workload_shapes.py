"""The shapes the papers report, medians of 5 runs. They are of times: run them on a machine that is quiet."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from tests import later_tensorflow as tf

pytest.importorskip("PIL")

from tfdarshan.errors import ConfigurationError
from tfdarshan.storage_model import HDD, LUSTRE, PAPER_MODELS
from tfdarshan.workloads.images import ImageFile
from tfdarshan.workloads.result import Arm, Result
from tfdarshan.workloads.runner import Plan, run_plan
from tfdarshan.workloads.throttled_device import check_possible

tf.needs("tensorflow")

RUNS = 5


def run(name: str, tier: str, folder: Path, backend: str = "emulation") -> Result:
    plan = Plan(names=(name,), tiers=(tier,), work_dir=folder, backend=backend, quick=True, repeats=RUNS)
    result = run_plan(plan, say=lambda line: None)[0]
    assert result.ok
    return result


def test_the_crossover_is_where_the_line_reaches_the_plateau() -> None:
    from tfdarshan.workloads import alexnet

    # GIVEN steps that last 0.1 s until computing takes longer, and then 1 % longer than computing
    arms = []
    for factor in alexnet.FACTORS:
        arm = Arm("", {"factor": factor, "compute_s": 0.1 * factor})
        arm.add(step_s=0.1 if factor < 1 else 0.101 * factor)
        arms.append(arm)
    # WHEN / THEN
    assert alexnet.crossover_s(arms) == pytest.approx(0.1 / 1.01)


def test_reading_a_batch_takes_as_long_of_fewer_files() -> None:
    from tfdarshan.workloads import alexnet

    # GIVEN files of one size, as with --files
    files = [ImageFile(Path(str(number)), 0, 12_000) for number in range(192)]
    # WHEN / THEN
    whole_s = alexnet.predicted_step_s("hdd", files, 4, 16)
    assert alexnet.predicted_step_s("hdd", files[:64], 4, 16) == pytest.approx(whole_s)
    assert alexnet.predicted_step_s("hdd", files[:4], 4, 16) == pytest.approx(whole_s / 4)


@pytest.mark.long
@pytest.mark.parametrize(("model", "low", "high"), [(HDD, 2.0, 2.6), (LUSTRE, 7.0, 8.5)])
def test_reading_scales_over_threads_as_in_the_paper(model, low: float, high: float, tmp_path: Path) -> None:
    result = run("microbench", model.name, tmp_path)
    assert low <= result.arm("read, 8 threads").median("speedup") <= high


@pytest.mark.long
def test_malware_on_a_disk_is_slower_with_sixteen_threads(tmp_path: Path) -> None:
    result = run("malware", "hdd", tmp_path)
    assert result.arm("1 threads").median("change") < 1


@pytest.mark.long
@pytest.mark.parametrize("tier", ["hdd", "lustre"])
def test_prefetch_hides_reading_up_to_the_crossover_and_not_beyond(tier: str, tmp_path: Path) -> None:
    from tfdarshan.workloads import alexnet

    result = run("alexnet", tier, tmp_path)
    arms = [result.arm(f"compute {factor:g} of reading") for factor in alexnet.FACTORS]
    predicted_s = arms[0].settings["predicted_s"]
    # THEN the crossover is where the model says, within 10 %
    assert alexnet.crossover_s(arms) == pytest.approx(predicted_s, rel=0.1)
    # AND beyond it the step is far longer than computing
    assert arms[0].median("step_s") > 2 * arms[0].settings["compute_s"]
    # AND below it steps are alike on every device, with every number of threads
    flat = [
        result.arm(f"flat: {model.name}, {threads} threads").median("step_s")
        for model in PAPER_MODELS
        for threads in alexnet.FLAT_THREADS
    ]
    assert max(flat) / min(flat) < 1.1


@pytest.mark.long
def test_stream_agrees_with_the_devices_own_counters(tmp_path: Path) -> None:
    try:
        check_possible()
    except ConfigurationError as error:
        pytest.skip(str(error))
    result = run("stream", "hdd", tmp_path, backend="device")
    for name in ("imagenet", "malware"):
        arm = result.arm(f"{name}, one session")
        assert abs(statistics.median(arm.values["error_percent"])) < 3
        assert abs(statistics.median(arm.values["error_without_percent"])) < 1
