"""`make demo`'s program, on fewer files."""

from __future__ import annotations

import json
import shlex
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import later_tensorflow as tf
from tests.browser.server import started
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import open_session

REPOSITORY = Path(__file__).parents[2]
BETWEEN = "--- the second time ---"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_demo(run_python: Run) -> Run:
    """Run the demo with options."""
    return lambda *options: run_python("-m", "tfdarshan.workloads.demo", *options, PYTHONPATH=str(REPOSITORY))


def test_a_training_job_is_counted_exactly(run_python: Run, tmp_path: Path) -> None:
    tf.needs("tensorflow")
    pytest.importorskip("PIL")
    # WHEN 40 files are trained on for 3 epochs, twice, by a process that starts TensorFlow once
    options = ["--files", "40", "--epochs", "3", "--data-dir", "data", "--logdir", "logs"]
    both = f"main({options}) or print({BETWEEN!r}) or main({options})"
    run = run_python(
        "-c", f"from tfdarshan.workloads.demo import main; exit({both})", PYTHONPATH=str(REPOSITORY)
    )

    # THEN the counts are what the files say, and nothing but that is printed
    total_bytes = sum(path.stat().st_size for path in (tmp_path / "data").rglob("*.jpg"))
    line = f"40 files x 3 epochs = 120 opens, 240 reads, 120 zero-length, {3 * total_bytes:,} bytes"
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    first, second = run.stdout.split(BETWEEN)
    for printed in (first, second):
        assert f"\ncheck: exact: {line}\n" in printed
        assert "\nSession   " in printed
    assert len(list((tmp_path / "logs" / "plugins" / "tfdarshan").iterdir())) == 2

    # WHEN its last line is typed
    pytest.importorskip("tensorboard")
    with started(shlex.split(second.splitlines()[-1]), cwd=tmp_path) as address:
        with urllib.request.urlopen(f"{address}/data/plugin/tfdarshan/sessions") as answer:
            sessions = json.load(answer)["sessions"]

    # THEN the tab has both sessions
    assert [session["state"] for session in sessions] == ["complete", "complete"]


WITH_FILES = """\
import dataclasses, functools, sys
from tfdarshan.workloads import demo, images
of_size = dataclasses.replace(images.IMAGENET, median_bytes=int(sys.argv[1]))
demo.write_images = functools.partial(images.write_images, image_set=of_size)
sys.exit(demo.main(sys.argv[2:]))
"""


@pytest.mark.long
@pytest.mark.parametrize("times_longer", [0.25, 1, 4])
def test_the_demo_names_a_fix_of_decoding_whatever_that_takes(
    run_python: Run, tmp_path: Path, times_longer: float
) -> None:
    tf.needs("tensorflow")
    pytest.importorskip("PIL")
    # GIVEN files that take so many times as long to decode, as they have as many times the pixels
    size, files = int(88_000 * times_longer), 400 if times_longer < 1 else 200

    # WHEN
    options = ("--files", str(files), "--data-dir", "data", "--logdir", "logs")
    run = run_python("-c", WITH_FILES, str(size), *options, PYTHONPATH=str(REPOSITORY))
    assert run.returncode == 0, run.stdout + run.stderr

    # THEN the first fix keeps what was decoded, or decodes by more calls at a time
    (session,) = (tmp_path / "logs" / "plugins" / "tfdarshan").iterdir()
    found = diagnose(open_session(session))
    first = next(one for one in found.findings if one.name == found.verdict.finding)
    assert first.fix is not None
    assert ".cache()" in first.fix.line or "num_parallel_calls=" in first.fix.line
    assert first.fix.line in run.stdout.replace("  + ", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--files", "0"), "must be at least 1"),
        (("--epochs", "many"), "'many' is not a whole number"),
        (("--data-dir", "/dev/null/data"), "demo: /dev/null/data/seed-0"),
    ],
)
def test_options_that_cannot_be_used_are_one_sentence(
    run_demo: Run, options: tuple[str, str], message: str
) -> None:
    run = run_demo(*options)
    assert run.returncode != 0
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_the_demo_fails_when_the_session_is_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tf.needs("tensorflow")
    pytest.importorskip("PIL")
    from tfdarshan.workloads import demo

    # GIVEN a file that was read once more than the check is told
    def train_and_read_again(files, options):
        import tfdarshan

        with tfdarshan.profile(options.logdir) as session:
            for file in (*files, files[0]):
                with open(file.path, "rb", buffering=0) as stream:
                    stream.read(1 << 20)
                    stream.read(1 << 20)
        return session

    monkeypatch.setattr(demo, "_train", train_and_read_again)
    arguments = [
        "--files",
        "3",
        "--epochs",
        "1",
        "--data-dir",
        str(tmp_path / "d"),
        "--logdir",
        str(tmp_path / "l"),
    ]

    # WHEN / THEN
    assert demo.main(arguments) == 1
    output = capsys.readouterr().out
    assert "check: WRONG: 3 files x 1 epochs make 3 opens, 6 reads" in output
    assert "000000.jpg: 2 opens, 4 reads, 2 zero-length" in output
