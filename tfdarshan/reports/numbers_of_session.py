"""A session's main numbers, written to whatever logs the numbers of a training run."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdarshan.errors import ConfigurationError

if TYPE_CHECKING:
    from tfdarshan.analysis.summary_data import SummaryData
    from tfdarshan.findings.verdict import Verdict

Write = Callable[[Any, Mapping[str, float], "int | None"], None]
PREFIX = "tfdarshan/"


def numbers_of(data: SummaryData, verdict: Verdict) -> dict[str, float]:
    """Return the main numbers by name, units in the names; what the session cannot tell is left out."""
    clock = data.wall_clock
    # Of a gain without support only the upper bound is known.
    gain = verdict.gain if verdict.gain is not None and verdict.gain.supported else None
    found = {
        "input_wait_share": verdict.wait_share,
        "expected_speedup": None if gain is None else gain.speedup,
        "duration_s": data.duration_s,
        "io_s": clock.io_s,
        "bytes_read": data.bytes_read,
        "bytes_written": data.bytes_written,
        "read_bytes_per_s": data.bytes_read / clock.read_s if clock.read_s else None,
        "files": data.files,
    }
    return {
        f"{PREFIX}{name}": float(value)
        for name, value in found.items()
        if value is not None and isfinite(value)
    }


def write_numbers(numbers: Mapping[str, float], logger: Any, step: int | None) -> None:
    """Write the numbers with the first documented method that the logger has.

    Raises:
        ConfigurationError: The logger has none of them, and cannot be called with numbers and a step.
    """
    for way in WAYS:
        if _takes(getattr(logger, way.method, None), *way.arguments, **{way.step: 0}):
            return way.write(logger, numbers, step)
    if not _takes(logger, numbers, step):
        raise ConfigurationError(
            f"log_to() cannot write to a {type(logger).__name__}: give a W&B run, the module mlflow, a "
            "SummaryWriter, or a function that takes a dict and a step."
        )
    logger(dict(numbers), step)
    return None


def _takes(method: Any, *arguments: Any, **named: Any) -> bool:
    """Return whether it can be called with these arguments."""
    try:
        inspect.signature(method).bind(*arguments, **named)
    except (TypeError, ValueError):
        return False
    return True


def _mlflow(logger: Any, numbers: Mapping[str, float], step: int | None) -> None:
    logger.log_metrics(dict(numbers), step=step)


def _torch(writer: Any, numbers: Mapping[str, float], step: int | None) -> None:
    for name, value in numbers.items():
        writer.add_scalar(name, value, global_step=step)


def _tensorflow(writer: Any, numbers: Mapping[str, float], step: int | None) -> None:
    """Write with tf.summary, which the writer's maker has imported. It writes nothing without a step."""
    scalar = sys.modules["tensorflow"].summary.scalar
    with writer.as_default(step=step or 0):
        for name, value in numbers.items():
            scalar(name, value)


def _wandb(run: Any, numbers: Mapping[str, float], step: int | None) -> None:
    run.log(dict(numbers), step=step)


class Way(NamedTuple):
    """A method that writes numbers: how it is recognized, by arguments that it takes, and called."""

    method: str
    arguments: tuple[Any, ...]
    step: str
    write: Write


# Sources: mlflow.log_metrics(metrics, step), also of Lightning's loggers; torch.utils.tensorboard's
# SummaryWriter.add_scalar(tag, scalar_value, global_step); tf.summary.SummaryWriter.as_default(step);
# wandb.Run.log(data, step).
WAYS = (
    Way("log_metrics", ({},), "step", _mlflow),
    Way("add_scalar", ("", 0.0), "global_step", _torch),
    Way("as_default", (), "step", _tensorflow),
    Way("log", ({},), "step", _wandb),
)
