"""The tf.data pipelines that a job iterated, as they were noted: what they do, and how one types them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

AUTOTUNE = -1
# What a stage without a function of its own begins with.
SOURCES = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "from_generator")
FILES = {
    "TFRecordDataset": "shards",
    "TextLineDataset": "paths",
    "FixedLengthRecordDataset": "paths, record_bytes",
}
PARALLEL_ARGUMENT = dict.fromkeys(FILES, "num_parallel_reads")
SIZE_ARGUMENT = {**dict.fromkeys(FILES, "buffer_size"), "interleave": "cycle_length"}
PLAIN_SIZE = ("batch", "padded_batch", "shuffle", "prefetch", "take", "skip", "repeat")
UNNAMED = "<lambda>"
# Folders into which Python and Debian install packages.
PACKAGES = ("site-packages", "dist-packages")
# Of Keras, which hands batches of a PyDataset to a generator.
PY_DATASET = "/py_dataset_adapter.py"


@dataclass(frozen=True)
class Stage:
    """One.

    Attributes:
        name: The method of tf.data.Dataset, or the source.
        calls: `num_parallel_calls` or `num_parallel_reads`: AUTOTUNE is -1, None is one after another.
        size: Of a batch, buffer or cycle; -1 is AUTOTUNE or all.
        deterministic: As given; None where it is not.
        does: What its function does: "reads", "decodes", "python".
        compression: Of the records that it reads; "" for none.
        function: Its function's name, or the text of a lambda; "" if it has none.
        file: Where that is; "" if unknown.
        line: Its line, from 1; 0 if unknown.
        random: Whether it draws random numbers, so that each epoch is given others; None if unknown.
        element_bytes: What one of its elements takes; None where that is unknown, or not the same for all.
        drop_remainder: Whether a last batch that is smaller is left out.
    """

    name: str
    calls: int | None = None
    size: int | None = None
    deterministic: bool | None = None
    does: tuple[str, ...] = ()
    compression: str = ""
    function: str = ""
    file: str = ""
    line: int = 0
    random: bool | None = None
    element_bytes: int | None = None
    drop_remainder: bool = False

    @property
    def reads(self) -> bool:
        """Whether it reads files, by TensorFlow's operations or in Python."""
        return self.name in SOURCES or "reads" in self.does or "python" in self.does

    @property
    def typed(self) -> str:
        """It, as a program has it: `map(load, num_parallel_calls=4)`."""
        arguments = []
        if self.name in FILES:
            arguments.append(FILES[self.name])
        if self.function:
            arguments.append("function" if self.function == UNNAMED else self.function)
        if self.compression and self.name in FILES:
            arguments.append(f'compression_type="{self.compression}"')
        if (
            self.size is not None
            and self.name in PLAIN_SIZE
            and not (self.name == "repeat" and self.size < 0)
        ):
            arguments.append(_number(self.size))
        if self.drop_remainder:
            arguments.append("drop_remainder=True")
        if self.size not in (None, AUTOTUNE) and self.name in SIZE_ARGUMENT:
            arguments.append(f"{SIZE_ARGUMENT[self.name]}={self.size}")
        if self.calls is not None:
            argument = PARALLEL_ARGUMENT.get(self.name, "num_parallel_calls")
            arguments.append(f"{argument}={_number(self.calls)}")
        if self.deterministic is not None:
            arguments.append(f"deterministic={self.deterministic}")
        return f"{self.name}({', '.join(arguments)})"

    @property
    def statement(self) -> str:
        """It as a statement of its own."""
        start = "tf.data." if self.is_source else "dataset."
        return f"dataset = {start}{self.typed}"

    @property
    def place(self) -> str:
        """Its function with file and line, "" if that is not known: `load (train.py:31)`."""
        if not self.file or self.file.startswith("<") or self.function in ("", UNNAMED):
            return ""
        return f"{self.function} ({self.file.rsplit('/', 1)[-1]}:{self.line})"

    @property
    def is_py_dataset(self) -> bool:
        """Whether Keras makes it of a PyDataset of the program's."""
        return self.name == "from_generator" and self.file.endswith(PY_DATASET)

    @property
    def library(self) -> str:
        """The package that makes it of a function of its own; "" if the program does.

        TensorFlow makes no data sets; its functions are given to map().
        """
        folders = PurePosixPath(self.file).parts
        after = [place + 1 for place, name in enumerate(folders[:-1]) if name in PACKAGES]
        name = folders[after[-1]] if after else ""
        return "" if name == "tensorflow" else name

    @property
    def is_source(self) -> bool:
        """Whether it is made by a call of its own, and not by a method of what is before it."""
        return self.name in FILES

    @property
    def keeps_order(self) -> bool:
        """Whether elements come in order, whichever call ends first."""
        return self.deterministic is not False

    def with_calls(self, calls: int) -> Stage:
        """Return it with so many calls at a time, in the order in which they end."""
        cycle = max(self.size or 0, calls) if self.name == "interleave" and calls > 0 else self.size
        ordered = self.deterministic if self.is_source else False
        return dataclasses.replace(self, calls=calls, size=cycle, deterministic=ordered)

    def with_size(self, size: int) -> Stage:
        """Return it with such a buffer."""
        return dataclasses.replace(self, size=size)


@dataclass(frozen=True)
class Pipeline:
    """One, or several that look alike.

    Attributes:
        stages: The source first.
        pool_threads: Threads of a pool of its own; None where it is TensorFlow's.
        datasets: How many data sets were made that look like it.
        iterators: How many passes were begun.
        batch_bytes: What its iterators' first batches took, mean; None if unknown.
        tuned: Whether TensorFlow may run calls of a map in parallel that the program has run one by one.
        begun_ns: When the first passes were begun, ascending, in ns since the session's start; empty if that
            is not known, as of passes that are older than the session.
    """

    stages: tuple[Stage, ...]
    pool_threads: int | None
    datasets: int
    iterators: int
    batch_bytes: int | None = None
    tuned: bool = True
    begun_ns: tuple[int, ...] = ()

    @property
    def reader(self) -> Stage | None:
        """The stage that reads the files; None where none is known to."""
        return next((stage for stage in self.stages if stage.reads), None)

    @property
    def reader_name(self) -> str:
        """That stage's name, "" where there is none."""
        return self.reader.name if self.reader is not None else ""

    @property
    def last(self) -> Stage:
        """The last stage that does work, or hands it on: not options."""
        shown = [stage for stage in self.stages if stage.name != "with_options"]
        return shown[-1] if shown else self.stages[-1]

    @property
    def prefetches(self) -> bool:
        """Whether what the last stage that works makes is put into a buffer, ahead of the steps."""
        for stage in reversed(self.stages):
            if stage.name == "prefetch":
                return True
            if stage.name not in ("with_options", "take", "repeat"):
                return False
        return False

    def has(self, name: str) -> Stage | None:
        """Return the first stage of a name."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def before(self, stage: Stage) -> tuple[Stage, ...]:
        """Return the stages in front of one."""
        return self.stages[: self.stages.index(stage)]

    def after(self, stage: Stage) -> tuple[Stage, ...]:
        """Return the stages that follow one."""
        return self.stages[self.stages.index(stage) + 1 :]

    def run_calls(self, stage: Stage) -> int | None:
        """Return the calls of a stage that run at a time, as `Stage.calls` says those it is declared with.

        TensorFlow itself runs a map in parallel whose function has no state, such as random numbers.

        Source: tf.data.experimental.OptimizationOptions.map_parallelization.
        """
        stateless = stage.name == "map" and stage.random is False
        return AUTOTUNE if stage.calls is None and stateless and self.tuned else stage.calls

    @property
    def made_anew(self) -> bool:
        """Whether each pass has a data set of its own, made for it."""
        return self.datasets > 1 and self.datasets >= self.iterators


def pipelines_of(meta: dict[str, Any]) -> tuple[Pipeline, ...] | None:
    """Return those of a process, the first that was iterated first; None where nobody looked for any."""
    block = meta.get("pipelines")
    if block is None:
        return None
    return tuple(
        Pipeline(
            tuple(_stage(stage) for stage in one["stages"]),
            one.get("pool_threads"),
            one.get("datasets", 0),
            one.get("iterators", 0),
            one.get("batch_bytes"),
            one.get("tuned", True),
            _begun_ns(one, meta.get("origin_realtime_ns")),
        )
        for one in block.get("found", [])
        if one["stages"]
    )


def training_pipeline(pipelines: Sequence[Pipeline], asked: Sequence[tuple[int, float]]) -> Pipeline | None:
    """Return the pipeline that steps take their batches from; None if none is known to read files.

    A job may iterate others before, as to adapt a layer or to evaluate a model that is not trained yet. If
    nothing tells, it is the one that was iterated first.

    Args:
        pipelines: Those that the job iterated, in the order of their first passes.
        asked: As `StepWindows.asked`.
    """
    found = _iterated(pipelines, asked)
    took_s: dict[int, float] = {}
    for place, _, seconds in found:
        took_s[place] = took_s.get(place, 0.0) + seconds
    if took_s:
        return pipelines[max(took_s, key=lambda place: took_s[place])]
    return next((one for one in pipelines if one.reader is not None), None)


def validation_pipeline(pipelines: Sequence[Pipeline], asked: Sequence[tuple[int, float]]) -> Pipeline | None:
    """Return the pipeline that is iterated between steps; None if none is known.

    Args:
        pipelines: As `training_pipeline` takes them.
        asked: As `training_pipeline` takes it.
    """
    training = training_pipeline(pipelines, asked)
    trains = [each for each in _iterated(pipelines, asked) if pipelines[each[0]] is training]
    since_ns = max(trains, key=lambda each: each[2], default=(0, 0, 0.0))[1]
    others = (one for one in pipelines if one.reader is not None and one is not training)
    return next((one for one in others if not one.begun_ns or one.begun_ns[-1] > since_ns), None)


def _iterated(
    pipelines: Sequence[Pipeline], asked: Sequence[tuple[int, float]]
) -> list[tuple[int, int, float]]:
    """Return which pipeline was begun last before each moment: its place, the moment, and its seconds.

    Nothing is told behind a pass that was not noted, and of a moment before all passes.
    """
    noted = [(place, one) for place, one in enumerate(pipelines) if one.reader is not None]
    cut_ns = [one.begun_ns[-1] for _, one in noted if 0 < len(one.begun_ns) < one.iterators]
    found = []
    for at_ns, seconds in asked:
        begun = [(_last_begun_ns(one, at_ns), -place) for place, one in noted]
        last_ns, place = max(((ns, place) for ns, place in begun if ns is not None), default=(None, 0))
        if last_ns is not None and at_ns <= min(cut_ns, default=at_ns):
            found.append((-place, at_ns, seconds))
    return found


def _last_begun_ns(pipeline: Pipeline, until_ns: int) -> int | None:
    """Return when the last pass was begun up to a moment; 0 if all are older than the session."""
    if not pipeline.begun_ns:
        return 0
    return max((at_ns for at_ns in pipeline.begun_ns if at_ns <= until_ns), default=None)


def _begun_ns(block: dict[str, Any], origin_ns: int | None) -> tuple[int, ...]:
    """Return `Pipeline.begun_ns`."""
    passes_ns = block.get("passes_realtime_ns", ())
    return () if origin_ns is None else tuple(at_ns - origin_ns for at_ns in passes_ns)


def _stage(block: dict[str, Any]) -> Stage:
    known = {field.name for field in dataclasses.fields(Stage)}
    told = {key: value for key, value in block.items() if key in known and value is not None}
    return Stage(**{**told, "does": tuple(told.get("does", ()))})


def _number(value: int) -> str:
    return "tf.data.AUTOTUNE" if value == AUTOTUNE else str(value)
