"""The papers' workloads, on a few files: exact counts, what is skipped, what is said of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import later_tensorflow as tf
from tfdarshan.commands import main
from tfdarshan.errors import ConfigurationError

pytest.importorskip("PIL")

import numpy as np

from tfdarshan.workloads.images import MEDIAN_112K, write_images
from tfdarshan.workloads.malware_bytes import write_malware
from tfdarshan.workloads.result import Result
from tfdarshan.workloads.runner import Plan, run_plan

tf.needs("tensorflow")


@pytest.fixture
def tier(tmp_path: Path) -> Path:
    """A folder to run on."""
    folder = tmp_path / "tier"
    folder.mkdir()
    return folder


def run(name: str, tier: Path, **options: object) -> Result:
    """Run a workload once on a folder."""
    plan = Plan(
        names=(name,),
        tiers=(str(tier),),
        work_dir=tier.parent / "runs",
        quick=True,
        **options,
    )
    return run_plan(plan, say=lambda line: None)[0]


def checks_of(result: Result) -> dict[str, tuple[int, int]]:
    return {check.what.split(": ")[-1]: (check.expected, check.counted) for check in result.checks}


def test_small_images_are_an_open_two_reads_one_empty(tier: Path) -> None:
    # WHEN 40 images are read with 1, 2, 4 and 8 threads, with and without decoding
    result = run("microbench", tier, files=40)
    # THEN every arm counted 40 opens, 80 reads, 40 of them empty, and the files' bytes
    files = list(tier.rglob("*.jpg"))
    assert len(files) == 40
    total = sum(path.stat().st_size for path in files)
    assert checks_of(result) == {
        "opens": (40, 40),
        "reads": (80, 80),
        "zero-length reads": (40, 40),
        "bytes": (total, total),
    }
    # AND each arm is a session, and the result one JSON file
    assert [len(arm.sessions) for arm in result.arms] == [1] * 8
    path = next((tier.parent / "runs" / "results").glob("microbench-*.json"))
    assert json.loads(path.read_text())["workload"] == "microbench"


def test_a_count_that_is_wrong_is_found(tier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tfdarshan.workloads import microbench

    # GIVEN a pipeline that reads every file twice
    def read_twice(path, label):
        # TensorFlow merges two calls with one and the same argument.
        again = tf.io.read_file(tf.strings.join([path, ""]))
        return tf.strings.length(tf.strings.join([tf.io.read_file(path), again]))

    monkeypatch.setattr(microbench, "read_only", read_twice)
    # WHEN / THEN
    result = run("microbench", tier, files=8)
    assert not result.ok
    assert ("files read whole: reads", 16, 32) in [
        (check.what, check.expected, check.counted) for check in result.checks
    ]


def test_broken_images_are_read_skipped_and_counted(tier: Path) -> None:
    # GIVEN 20 images of which one is cut short and one is no image
    folder = tier / "tfdarshan-workload" / MEDIAN_112K.name
    files = write_images(folder, 20, image_set=MEDIAN_112K)
    real = tier / "real"
    for file in files:
        target = real / file.path.parent.name / file.path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.path.read_bytes())
    paths = sorted(real.rglob("*.jpg"))
    paths[3].write_bytes(paths[3].read_bytes()[:5000])
    paths[7].write_bytes(b"this is no image" * 100)
    # WHEN
    result = run("microbench", tier, data_dir=real)
    # THEN both are counted, once by their looks and once by the decoder, and the counts stay exact
    assert "2 of 20 files are no whole JPEG" in result.notes
    assert "2 files could not be decoded and were skipped" in result.notes
    assert result.arm("preprocess, 8 threads").values["skipped"] == [2.0]
    assert result.arm("read, 8 threads").values["skipped"] == [0.0]
    assert checks_of(result)["opens"] == (20, 20)
    assert result.ok


def test_malware_files_are_read_a_mebibyte_at_a_time(tier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tfdarshan.workloads import malware

    # GIVEN files of up to 3 MB
    monkeypatch.setattr(malware, "QUICK", malware.Scale(batch=4, steps=3))
    # WHEN 12 are trained on with 1 and with 16 threads
    result = run("malware", tier, size_scale=0.25)
    # THEN each made ceil(size / 1 MiB) + 1 reads
    sizes = [path.stat().st_size for path in tier.rglob("*.bytes")]
    reads = sum(-(-size // 2**20) + 1 for size in sizes)
    assert max(sizes) > 2**20
    assert checks_of(result)["reads"] == (reads, reads)
    assert checks_of(result)["zero-length reads"] == (12, 12)
    assert result.ok


def test_checkpoints_hold_the_bytes_that_fwrite_was_given(
    tier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tfdarshan.workloads import checkpoint

    small = checkpoint.Scale(batch=2, steps=4, every=2, side=64, width=0.05)
    monkeypatch.setattr(checkpoint, "QUICK", small)
    result = run("checkpoint", tier)
    assert result.ok
    assert [check.what for check in result.checks] == [
        "bytes written by fwrite: data files",
        "bytes written by fwrite: index files",
    ]
    assert all(check.expected > 1000 for check in result.checks)
    assert list((tier / "tfdarshan-workload").iterdir()) == []


def test_checkpoints_with_other_settings(tier: Path) -> None:
    # GIVEN a batch of more images than there are classes
    tiny = {"batch": "104", "steps": "2", "width": "0.01"}
    # WHEN it is saved at the last step, and THEN never
    assert run("checkpoint", tier, settings={**tiny, "every": "2"}).ok
    with pytest.raises(ConfigurationError, match="no checkpoint is due in 2 steps"):
        run("checkpoint", tier, settings={**tiny, "every": "3"})


def test_imagenet_and_the_mini_application_run(tier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tfdarshan.workloads import alexnet, imagenet

    tiny = imagenet.Scale(batch=4, steps=3, side=64, width=0.05, threads=(1, 4))
    monkeypatch.setattr(imagenet, "QUICK", tiny)
    result = run("imagenet", tier)
    assert result.ok
    assert checks_of(result)["reads"] == (24, 24)
    assert 0 < result.arm("1 threads").median("wait_percent") < 100
    small = alexnet.Scale(batch=4, steps=3, side=64, width=0.05, threads=(2,), sleep_batch=4, sleep_steps=3)
    monkeypatch.setattr(alexnet, "QUICK", small)
    result = run("alexnet", tier)
    assert [arm.name for arm in result.arms] == [
        "AlexNet, 2 threads, prefetch 0",
        "AlexNet, 2 threads, prefetch 1",
    ]


def test_stream_reads_everything_once(tier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tfdarshan.workloads import stream

    tiny = stream.Scale(image_batch=4, image_steps=6, malware_batch=2, malware_steps=6)
    monkeypatch.setattr(stream, "QUICK", tiny)
    result = run("stream", tier, size_scale=0.01)
    assert result.ok
    assert [check.what for check in result.checks if check.what.endswith(": opens")] == [
        "imagenet: opens",
        "malware: opens",
    ]
    assert result.arm("imagenet, restarted every 5 steps").values["sessions"] == [2.0]


def test_bytes_are_spread_over_the_seconds_of_their_calls() -> None:
    import pandas as pd

    from tfdarshan.workloads.stream import bytes_by_second

    class Session:
        """Three calls: 1 s, 2 s, and an empty one."""

        meta = ({"origin_realtime_ns": 1000},)
        events = pd.DataFrame(
            {
                "operation": ["read", "pread", "pread"],
                "start_ns": [0, 10**9, 0],
                "end_ns": [10**9, 3 * 10**9, 10**9],
                "length": [100, 600, 0],
            }
        )

    edges = [1000 + second * 10**9 for second in range(5)]
    assert bytes_by_second(Session(), edges).tolist() == [100, 300, 300, 0]


@pytest.mark.parametrize("newline", [b"\r\n", b"\n"])
def test_a_hex_dump_is_parsed_to_its_bytes(newline: bytes) -> None:
    from tfdarshan.workloads import tf_data

    # GIVEN a dump with an unknown byte and a last line cut short
    values = np.arange(48, dtype=np.uint8) * 5
    lines = [
        b"%08X " % (0x400000 + 16 * row) + b" ".join(b"%02X" % value for value in values[16 * row :][:16])
        for row in range(3)
    ]
    lines[1] = lines[1][:9] + b"??" + lines[1][11:]
    text = newline.join(lines) + newline + b"00400030 01 02"
    # WHEN / THEN the unknown one is 0, and the rest are the bytes
    values[16] = 0
    assert tf_data.parse_hex_dump(tf.constant(text)).numpy().tolist() == values.tolist()


def test_generated_dumps_are_parsed_whole(tmp_path: Path) -> None:
    from tfdarshan.workloads import tf_data

    file = write_malware(tmp_path, 1, size_scale=0.001)[0]
    expected = [int(word, 16) for line in file.path.read_text().split("\n") for word in line.split()[1:]]
    assert tf_data.parse_hex_dump(tf.io.read_file(str(file.path))).numpy().tolist() == expected


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("run", "nothing"), 2, "there is no workload 'nothing': there are stream, imagenet"),
        (("run", "microbench", "--tier", "floppy"), 2, "there is no tier 'floppy': give hdd, ssd"),
        (
            ("run", "microbench", "--tier", ".", "--data-dir", "nowhere"),
            2,
            "there is no data directory",
        ),
        (("run", "malware", "--tier", ".", "--data-dir", "."), 2, "trainLabels.csv is not there"),
        (("table",), 1, "there is no result in workload-runs"),
        (("run", "pai", "--work-dir", "/dev/null/x"), 1, "the work directory /dev/null/x was not made"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["workload", *arguments]) == code
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("tfdarshan: ")
    assert message in said


def test_results_are_listed_and_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["workload", "list", "--json"]) == 0
    names = [one["name"] for one in json.loads(capsys.readouterr().out)]
    assert names == [
        "stream", "imagenet", "malware", "microbench", "alexnet", "checkpoint", "torch_imagenet",
        "torch_checkpoint", "torch_uneven_batches", "torch_slow_samples", "pai", "lmdbio",
    ]  # fmt: skip
    assert main(["workload", "run", "pai", "--quick"]) == 0
    capsys.readouterr()
    assert main(["workload", "table"]) == 0
    table = capsys.readouterr().out
    for bound in ("21.0x", "1.235x", "2.33x"):
        assert [bound, bound, "exact"] in [line.split()[-3:] for line in table.splitlines()]
    assert main(["workload", "clean", "--all"]) == 0
    assert not (tmp_path / "workload-runs" / "results").exists()


def test_a_data_set_is_made_in_each_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for layout in ("files", "lmdb", "tfrecord"):
        code = main(
            [
                "workload",
                "data",
                "malware",
                "--files=5",
                "--size-scale=0.001",
                f"--format={layout}",
                f"--work-dir={tmp_path}",
                "--json",
            ]
        )
        made = json.loads(capsys.readouterr().out)
        assert (code, made["files"]) == (0, 5)
        assert Path(made["path"]).is_dir()
