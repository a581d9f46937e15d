"""A Keras job as somebody writes it who knows nothing of tfdarshan; every verb on it in every terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.later_tensorflow import needs
from tests.terminal import OLD_STYLE, in_terminal, rows_taken, sentences, too_wide
from tfdarshan.findings.diagnosis import Diagnosis, diagnose
from tfdarshan.reports.text.brief_text import SCREEN
from tfdarshan.session import open_session
from tfdarshan.terminal.paint import WIDTH

needs("tensorflow")
image_module = pytest.importorskip("PIL.Image")
pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

IMAGES_OF_EACH = 40
DIRECTORY_JOB = """
import tensorflow as tf

train = tf.keras.utils.image_dataset_from_directory("pets", image_size=(32, 32), batch_size=8)
model = tf.keras.Sequential([
    tf.keras.layers.Rescaling(1 / 255),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(2),
])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, epochs=2, verbose=2)
model.save("pets.keras")
"""
CALLBACK_JOB = """
import pathlib
import tensorflow as tf
import tfdarshan.keras

files = sorted(str(path) for path in pathlib.Path("pets").rglob("*.jpg"))

def load(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (32, 32)), 0

train = tf.data.Dataset.from_tensor_slices(files).shuffle(100).map(load).batch(8)
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, epochs=2, verbose=2, callbacks=[tfdarshan.keras.IOCallback("logs/callback")])
"""


@dataclass(frozen=True)
class Place:
    """Where a command's output goes: a pipe of no width, or a terminal of so many columns."""

    columns: int | None
    environment: dict[str, str]
    coloured: bool = False

    @property
    def width(self) -> int:
        return self.columns or WIDTH


PLACES = {
    "a pipe": Place(None, {}),
    "LC_ALL=C": Place(None, {"LC_ALL": "C", **OLD_STYLE}),
    "LC_ALL=C on a terminal": Place(80, {"LC_ALL": "C", **OLD_STYLE}, coloured=True),
    "50 columns": Place(50, {}, coloured=True),
    "200 columns": Place(200, {}, coloured=True),
    "NO_COLOR": Place(80, {"NO_COLOR": "1"}),
    "TERM=dumb": Place(80, {"TERM": "dumb"}),
}
VERBS = (
    "summary {run}", "summary {callback}", "summary -v {run}", "summary {run} {callback}", "list .",
    "findings {run}", "findings {callback}", "advise --logdir {run} --fast fast", "compare {callback} {run}",
    "report {run} -o report.html --force", "whatif {run}", "whatif {run} --threads 8", "files {run}",
    "doctor",
)  # fmt: skip
SUMMARIES = VERBS[:2]
# Commands of which some parts have colours.
PAINTED = ("summary {run}", "list .")


@dataclass(frozen=True)
class Job:
    """A folder in which the job ran both ways, and what its sessions say."""

    folder: Path
    sessions: dict[str, Path]
    diagnoses: dict[str, Diagnosis]

    def typed(self, words: str) -> list[str]:
        return [word.format(**self.sessions) for word in words.split()]

    @property
    def programs(self) -> set[str]:
        """Lines of fixes, which are whole whatever the width."""
        fixes = (finding.fix for one in self.diagnoses.values() for finding in one.findings)
        texts = (f"{fix.line}\n{fix.instead_of}" for fix in fixes if fix is not None)
        return {line.strip() for text in texts for line in text.splitlines()}


def write_images(folder: Path) -> None:
    for label in ("cats", "dogs"):
        (folder / label).mkdir(parents=True)
        for number in range(IMAGES_OF_EACH):
            image = image_module.effect_noise((48, 48), 20 + number).convert("RGB")
            image.save(folder / label / f"{number:03}.{'jpg' if number % 2 else 'png'}")


def run(folder: Path, words: list[str]) -> str:
    """Run what a user types, and return what stderr says."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder, env={**os.environ, "LC_ALL": "C", "TF_CPP_MIN_LOG_LEVEL": "3"}, capture_output=True,
        timeout=400, check=False,
    )  # fmt: skip
    said = done.stderr.decode("utf-8", "backslashreplace")
    assert done.returncode == 0, said
    assert not re.search("Traceback|UnicodeEncodeError|Exception ignored", said), said
    return said


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("somebody")
    write_images(folder / "pets")
    (folder / "fast").mkdir()
    (folder / "train.py").write_text(DIRECTORY_JOB)
    (folder / "train_callback.py").write_text(CALLBACK_JOB)
    # A disk whose every read waits for its head: the job waits for it however busy this machine is.
    words = ["-m", "tfdarshan", "run", "--logdir", "logs/run", "--as-if", "hdd", "--as-if-paths", "pets"]
    said = run(folder, [*words, "train.py"])
    run(folder, ["train_callback.py"])
    sessions = {name: open_session(folder / "logs" / name).path for name in ("run", "callback")}
    assert f"see it with: tfdarshan summary {sessions['run']}" in said
    diagnoses = {name: diagnose(open_session(path)) for name, path in sessions.items()}
    return Job(folder, sessions, diagnoses)


def test_both_ways_know_the_steps_and_the_one_that_waits_has_a_fix(job):
    assert len(open_session(job.sessions["run"]).steps) >= 2 * (2 * IMAGES_OF_EACH // 8 - 1)
    assert len(open_session(job.sessions["callback"]).steps) >= 2 * (IMAGES_OF_EACH // 8)
    assert job.diagnoses["run"].verdict.state == "slow"
    assert job.diagnoses["run"].named is not None
    assert job.diagnoses["callback"].verdict.state in ("slow", "healthy")


@pytest.mark.parametrize("typed", VERBS)
@pytest.mark.parametrize("name", PLACES)
def test_every_verb_is_right_everywhere(job, name, typed):
    # GIVEN
    place, words = PLACES[name], job.typed(typed)

    # WHEN
    shown = shown_at(place, words, job.folder)

    # THEN it works, and says nothing but what it was asked for
    assert shown.code == 0, shown.errors
    assert all(line.startswith("tfdarshan: ") for line in sentences(shown.errors))
    assert "Traceback" not in shown.text
    # ... nothing is wider than the terminal, colours are where they can be seen
    if place.columns is not None:
        assert too_wide(shown.text, place.width, job.programs) == []
    assert not shown.coloured or place.coloured
    assert shown.coloured or not place.coloured or typed not in PAINTED


@pytest.mark.parametrize("typed", SUMMARIES)
@pytest.mark.parametrize("name", PLACES)
def test_the_first_screen_has_the_verdict_and_the_fix(job, name, typed):
    # GIVEN
    place, diagnosis = PLACES[name], job.diagnoses["run" if typed == SUMMARIES[0] else "callback"]

    # WHEN
    lines = shown_at(place, job.typed(typed), job.folder).text.splitlines()

    # THEN
    seen: list[str] = []
    while lines and rows_taken([*seen, lines[0]], place.width) <= SCREEN:
        seen.append(lines.pop(0))
    assert " ".join(" ".join(seen).split()).startswith(diagnosis.verdict.sentence)
    if diagnosis.named is not None and diagnosis.named.fix is not None:
        said = {line.strip().removeprefix("+ ").removeprefix("- ") for line in seen}
        fix = diagnosis.named.fix
        assert {line.strip() for line in f"{fix.line}\n{fix.instead_of}".splitlines() if line} <= said


def shown_at(place: Place, words: list[str], folder: Path):
    """Run a verb there."""
    return in_terminal(words, place.columns, place.environment, cwd=folder)
