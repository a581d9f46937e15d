"""The papers' workloads in PyTorch, on a few files: exact counts, and steps that are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfdarshan.errors import ConfigurationError
from tfdarshan.workloads import runner
from tfdarshan.workloads.result import Result

pytestmark = pytest.mark.torch


def run(name: str, tmp_path: Path, **options: object) -> Result:
    pytest.importorskip("torch")
    tier = tmp_path / "tier"
    tier.mkdir()
    plan = runner.Plan(
        names=(name,), tiers=(str(tier),), work_dir=tmp_path / "runs", quick=True, repeats=1, **options
    )
    return runner.run_plan(plan, say=lambda line: None)[0]


def checks_of(result: Result) -> dict[str, tuple[int, int]]:
    return {check.what: (check.expected, check.counted) for check in result.checks}


# Four workers wait for storage most of their time, on however few processors.
@pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker processes:UserWarning")
def test_each_image_is_opened_once_and_read_twice_by_workers_too(tmp_path):
    # WHEN 80 images are trained on without a worker and with four
    result = run("torch_imagenet", tmp_path, files=80)

    # THEN calls, bytes and steps are what the files and the loader say
    files = list((tmp_path / "tier").rglob("*.jpg"))
    assert len(files) == 80
    assert checks_of(result) == {
        "files read whole: opens": (80, 80),
        "files read whole: reads": (160, 160),
        "files read whole: zero-length reads": (80, 80),
        "files read whole: bytes": (size := sum(path.stat().st_size for path in files), size),
        "steps found": (3, 3),
    }
    assert [(arm.name, len(arm.sessions)) for arm in result.arms] == [("0 workers", 1), ("4 workers", 1)]
    assert result.ok


@pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker processes:UserWarning")
def test_a_real_image_above_a_mebibyte_is_read_at_once(tmp_path):
    # GIVEN a data set with an image of 2 MB
    from tfdarshan.workloads.images import IMAGENET, write_images

    files = write_images(tmp_path / "real", 4, image_set=IMAGENET)
    with files[2].path.open("ab") as image:
        image.write(bytes(2_000_000) + b"\xff\xd9")

    # WHEN
    result = run("torch_imagenet", tmp_path, data_dir=tmp_path / "real")

    # THEN
    assert checks_of(result)["files read whole: reads"] == (8, 8)
    assert result.ok


def test_an_image_that_cannot_be_decoded_is_left_out(tmp_path):
    # GIVEN files of which one is no image
    pytest.importorskip("torch")
    from tfdarshan.workloads.images import IMAGENET, write_images
    from tfdarshan.workloads.pytorch.torch_imagenet import Images, decoded

    files = write_images(tmp_path, 3, image_set=IMAGENET)
    files[1].path.write_bytes(b"this is no image" * 100)
    images = Images(files, 64)

    # WHEN
    batch, labels = decoded([images[number] for number in range(3)])

    # THEN
    assert batch.shape == (2, 3, 64, 64)
    assert 0 <= float(batch.min()) < float(batch.max()) <= 1
    assert labels.tolist() == [files[0].label, files[2].label]


def test_all_bytes_of_checkpoints_are_counted(tmp_path):
    # WHEN
    result = run("torch_checkpoint", tmp_path)

    # THEN
    ((written, counted),) = checks_of(result).values()
    assert written == counted > 5 * 3 * 4 * result.settings["parameters"]


def test_a_run_that_saves_nothing_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="no checkpoint is due in 25 steps"):
        run("torch_checkpoint", tmp_path, settings={"every": "26"})


def test_what_it_needs_is_said_with_what_brings_it(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"need torch: pip install 'tfdarshan\[workloads,torch\]'"):
        runner.run_plan(runner.Plan(names=("torch_checkpoint",), tiers=("ssd",), work_dir=tmp_path))
