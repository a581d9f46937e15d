"""A session's main numbers in other programs' logs: stand-ins with their documented signatures."""

import logging
import math
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.sentences.counters_only import with_counters
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.errors import ConfigurationError
from tfdarshan.reports.notebook import session_html
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.panel import Tiles
from tfdarshan.reports.views.view_source import Source

NAMES = {
    "tfdarshan/bytes_read",
    "tfdarshan/bytes_written",
    "tfdarshan/duration_s",
    "tfdarshan/expected_speedup",
    "tfdarshan/files",
    "tfdarshan/input_wait_share",
    "tfdarshan/io_s",
    "tfdarshan/read_bytes_per_s",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return sketched(tmp_path_factory.mktemp("log"), SKETCHES["many small files"])


class WandbRun:
    """Source: wandb.Run.log(data, step=None, commit=None)."""

    def __init__(self):
        self.logged = []

    def log(self, data, step=None, commit=None):
        self.logged.append((data, step))


class Mlflow:
    """Source: mlflow.log_metrics(metrics, step=None, synchronous=None, run_id=None, timestamp=None)."""

    def __init__(self):
        self.logged = []

    def log_metrics(self, metrics, step=None, synchronous=None, run_id=None, timestamp=None):
        self.logged.append((metrics, step))

    def log_metric(self, key, value, step=None):
        raise AssertionError("one request for each number")


class TorchWriter:
    """Source: torch.utils.tensorboard.SummaryWriter.add_scalar(tag, scalar_value, global_step, ...)."""

    def __init__(self):
        self.scalars = {}

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False):
        self.scalars[tag] = (scalar_value, global_step)


def test_the_numbers_are_the_sessions(session):
    # WHEN they are taken by a function
    taken = []
    numbers = session.log_to(lambda numbers, step: taken.append((numbers, step)), step=7)

    # THEN
    assert taken == [(numbers, 7)]
    assert set(numbers) == NAMES
    assert all(type(value) is float and math.isfinite(value) for value in numbers.values())
    verdict = session.verdict
    assert numbers["tfdarshan/input_wait_share"] == verdict.wait_share
    assert numbers["tfdarshan/expected_speedup"] == verdict.gain.speedup > 1
    files = session.files
    read = files["POSIX_BYTES_READ"].sum() + files["STDIO_BYTES_READ"].sum()
    assert numbers["tfdarshan/bytes_read"] == read > 0
    assert numbers["tfdarshan/files"] == summarize(session).files


def test_bytes_that_the_kernel_copied_count_everywhere(tmp_path):
    # GIVEN a session with copies in the kernel that no read or write was needed for
    before = sketched(tmp_path, SKETCHES["many small files"])
    files = before.files
    read = int(files["POSIX_BYTES_READ"].sum() + files["STDIO_BYTES_READ"].sum())
    counters = {"TFD_COPY_READS": 1, "TFD_COPY_READ_BYTES": 7 * 10**12, "TFD_COPY_WRITES": 1}
    session = with_counters(
        before, files["path"].iloc[0], "POSIX", TFD_COPY_WRITE_BYTES=5 * 10**12, **counters
    )

    # WHEN
    numbers = session.log_to(WandbRun())

    # THEN all ways to show it say so
    assert numbers["tfdarshan/bytes_read"] == read + 7 * 10**12
    assert numbers["tfdarshan/bytes_written"] == 5 * 10**12
    tiles = next(panel for panel in overview_view(Source(session)) if isinstance(panel, Tiles))
    shown = " ".join(str(tile.value.text) for tile in tiles.items)
    for text in (session.summary(), session_html(session), shown):
        assert "7.0 TB" in text
        assert "5.0 TB" in text


@pytest.mark.parametrize("step", [None, 0, 40])
def test_each_logger_gets_its_documented_call(session, step):
    run, mlflow, writer = WandbRun(), Mlflow(), TorchWriter()

    # WHEN
    numbers = [session.log_to(logger, step) for logger in (run, mlflow, writer)]

    # THEN
    assert run.logged == mlflow.logged == [(numbers[0], step)]
    assert writer.scalars == {name: (value, step) for name, value in numbers[0].items()}


def test_a_writer_of_tensorflow_is_the_default_while_scalars_are_written(session, monkeypatch):
    # GIVEN tf.summary, and the writer that it made
    inside, scalars = [], {}

    @contextmanager
    def as_default(step=None):
        inside.append(step)
        yield
        inside.pop()

    def scalar(name, data, step=None, description=None):
        scalars[name] = (data, inside[-1])

    tensorflow = SimpleNamespace(summary=SimpleNamespace(scalar=scalar))
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)

    # WHEN
    numbers = session.log_to(SimpleNamespace(as_default=as_default), 3)

    # THEN
    assert scalars == {name: (value, 3) for name, value in numbers.items()}


def test_a_session_without_steps_leaves_out_what_it_cannot_tell(tmp_path):
    session = sketched(tmp_path, SKETCHES["no steps"])

    numbers = session.log_to(WandbRun())

    assert "tfdarshan/input_wait_share" not in numbers
    assert "tfdarshan/duration_s" in numbers


@pytest.mark.parametrize(
    "logger", [None, "logs", math, logging.getLogger("x"), lambda: None], ids=lambda one: type(one).__name__
)
def test_anything_else_is_one_sentence(session, logger):
    with pytest.raises(
        ConfigurationError, match=r"^log_to\(\) cannot write to a \w+: give a W&B run, "
    ) as said:
        session.log_to(logger)

    assert str(said.value).count(". ") == 0
