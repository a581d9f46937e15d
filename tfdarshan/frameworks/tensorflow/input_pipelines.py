"""Notes which tf.data pipelines a job iterates while a session records: what a fix would have to change.

A pipeline is noted when an iterator over it is made, once for all that look alike, and held by nothing of
ours. Where every iterator is older than the session they are looked for among the living at its end.
"""

from __future__ import annotations

import ast
import functools
import gc
import inspect
import linecache
import re
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import CodeType
from typing import Any

from tfdarshan.frameworks import batch_log
from tfdarshan.frameworks.late_import import when_imported
from tfdarshan.frameworks.tensorflow.batch_sizes import BatchSizes
from tfdarshan.frameworks.tensorflow.graph_operations import operations_of
from tfdarshan.frameworks.tensorflow.random_numbers import constants_of, draws_random_numbers

ITERATORS = "tensorflow.python.data.ops.iterator_ops"
MOST_PIPELINES, MOST_STAGES = 64, 64
# Of each pipeline: which pass was begun last before the first step tells what trains.
MOST_PASSES = 64
LONGEST_TEXT = 200
# What a stage's function does that matters to a fix, by the operations of its graph.
READS = frozenset(
    {"ReadFile", "TFRecordDataset", "TFRecordDatasetV2", "TextLineDataset", "FixedLengthRecordDatasetV2"}
)
DECODES = re.compile(r"Decode|Parse|Resize")
PYTHON = frozenset({"PyFunc", "EagerPyFunc", "PyFuncStateless"})
# Methods of tf.data.Dataset, or sources, by the classes that implement them where the names differ.
NAMES = {
    "TensorSlice": "from_tensor_slices",
    "Tensor": "from_tensors",
    "Options": "with_options",
    "TFRecord": "TFRecordDataset",
    "TextLine": "TextLineDataset",
    "FixedLengthRecord": "FixedLengthRecordDataset",
}
SIZES = ("_batch_size", "_buffer_size", "_cycle_length", "_count")
COMPRESSIONS = ("GZIP", "ZLIB")
GENERATOR_DEPTH = 4

_log: PipelineLog | None = None
_asked = False


class PipelineLog:
    """The pipelines of one session, within MOST_PIPELINES."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self.left_out = 0
        self.before_first: Callable[[], None] | None = None
        self._known: dict[int, tuple[weakref.ref[Any], dict[str, Any]]] = {}
        # By the stage's id in `found`: where its function's text is.
        self._code: dict[int, CodeType] = {}
        # By the pipeline's id in `found`: its functions' constants, and where another one's were others.
        self._constants: dict[int, int] = {}
        self._differs: set[int] = set()
        self._batches: BatchSizes | None = None

    def note(self, dataset: Any, iterator: Any = None) -> None:
        """Note that the job begins to iterate a data set, by an iterator if that is new."""
        noted = self._noted(dataset)
        if noted is not None and iterator is not None:
            if len(noted["passes_realtime_ns"]) < MOST_PASSES:
                noted["passes_realtime_ns"].append(batch_log.native().now())
            self._batches = self._batches or BatchSizes(type(iterator))
            self._batches.watch(iterator, noted)

    def _noted(self, dataset: Any) -> dict[str, Any] | None:
        """Return what is noted of a data set's like; None where that is left out."""
        known = self._known.get(id(dataset))
        if known is not None and known[0]() is dataset:
            known[1]["iterators"] += 1
            return known[1]
        stages = _stages(dataset)
        described = {
            "stages": [one.stage for one in stages],
            "pool_threads": _pool_threads(dataset),
            "tuned": _tuned(dataset),
        }
        alike = next((one for one in self.found if _looks_like(one, described)), None)
        if alike is None:
            if len(self.found) >= MOST_PIPELINES:
                self.left_out += 1
                return None
            alike = {**described, "datasets": 0, "iterators": 0, "passes_realtime_ns": []}
            self.found.append(alike)
            self._code.update({id(one.stage): one.code for one in stages if one.code is not None})
        constants = hash(tuple(one.constants for one in stages))
        if self._constants.setdefault(id(alike), constants) != constants:
            self._differs.add(id(alike))
        alike["datasets"] += 1
        alike["iterators"] += 1
        if len(self._known) >= MOST_PIPELINES:
            self._known.clear()
        self._known[id(dataset)] = (weakref.ref(dataset), alike)
        return alike

    def block(self) -> dict[str, Any]:
        """Return what the metadata says of them."""
        if self._batches is not None:
            self._batches.end()
        for one in self.found:
            sizes = one.pop("batches_bytes", [])
            if sizes and None not in sizes:
                one["batch_bytes"] = round(sum(sizes) / len(sizes))
            for stage in one["stages"]:
                if id(one) in self._differs and stage.get("random") is False:
                    # Whoever makes a data set for each epoch may make each of other numbers.
                    del stage["random"]
                code = self._code.get(id(stage))
                if code is not None:
                    stage["function"] = _text_of(code) or stage["function"]
        return {"found": self.found, "left_out": self.left_out}


def begin_log() -> None:
    """Begin to note pipelines; those of a TensorFlow that is imported later, too."""
    global _log, _asked
    _log = PipelineLog()
    if ITERATORS in sys.modules:
        _watch()
    elif not _asked:
        _asked = True
        when_imported("tensorflow", _watch)


def end_log() -> dict[str, Any]:
    """End it; return the metadata's block of pipelines."""
    global _log
    log, _log = _log, None
    _unwatch()
    if log is None:
        return {}
    if not log.found:
        for dataset in _living_datasets():
            _note(log, dataset)
    return {"pipelines": log.block()}


def before_first_iterator(action: Callable[[], None]) -> bool:
    """Have `action` called once, right before the job makes its first iterator.

    Returns:
        Whether it will be: False where TensorFlow's iterators are not as we know them.
    """
    _watch()
    iterator = getattr(sys.modules.get(ITERATORS), "OwnedIterator", None)
    create = getattr(iterator, "_create_iterator", None)
    if _log is None or not hasattr(create, "_tfdarshan_original"):
        return False
    _log.before_first = action
    return True


def _watch() -> None:
    """Have TensorFlow's iterators noted; where they are not as we know them nothing is."""
    iterator = getattr(sys.modules.get(ITERATORS), "OwnedIterator", None)
    create = getattr(iterator, "_create_iterator", None)
    if _log is None or create is None or hasattr(create, "_tfdarshan_original"):
        return

    @functools.wraps(create)
    def noted(self: Any, dataset: Any) -> Any:
        if _log is not None:
            batch_log.note_start()
            _act_before_first(_log)
            _note(_log, dataset, self)
        return create(self, dataset)

    noted._tfdarshan_original = create  # type: ignore[attr-defined]
    iterator._create_iterator = noted  # type: ignore[union-attr]


def _unwatch() -> None:
    iterator = getattr(sys.modules.get(ITERATORS), "OwnedIterator", None)
    original = getattr(getattr(iterator, "_create_iterator", None), "_tfdarshan_original", None)
    if original is not None:
        iterator._create_iterator = original  # type: ignore[union-attr]


def _act_before_first(log: PipelineLog) -> None:
    action, log.before_first = log.before_first, None
    if action is not None:
        with suppress(Exception):
            action()


def _note(log: PipelineLog, dataset: Any, iterator: Any = None) -> None:
    """Note it: whatever goes wrong, the job has its iterator."""
    with suppress(Exception):
        log.note(dataset, iterator)


def _living_datasets() -> list[Any]:
    iterator = getattr(sys.modules.get(ITERATORS), "OwnedIterator", None)
    if iterator is None:
        return []
    living = [one for one in gc.get_objects() if type(one) is iterator]
    return [one._dataset for one in living if getattr(one, "_dataset", None) is not None]


@dataclass(frozen=True)
class _Described:
    """A stage, the code of its function, and what tells its function's constants from others."""

    stage: dict[str, Any]
    code: CodeType | None
    constants: int


def _stages(dataset: Any) -> list[_Described]:
    """Describe the stages of a data set, the source first."""
    described = _chain(dataset, iter(range(MOST_STAGES)))
    # What TensorFlow makes a generator's data set of is none of the job's.
    first = next((n for n, one in enumerate(described) if one.stage["name"] == "from_generator"), 0)
    return described[first:]


def _chain(dataset: Any, left: Iterator[int]) -> list[_Described]:
    """Describe a data set behind its first input that reads files, or behind its first if none does.

    Data sets that are put together, as by `zip()` and `sample_from_datasets()`, have several inputs.
    """
    if next(left, None) is None:
        return []
    inputs = list(dataset._inputs())
    taken, before = (inputs or [None])[0], list[_Described]()
    for one in [] if hasattr(dataset, "_filenames") else inputs:
        chain = _chain(one, left)
        is_reading = any(map(_reads, chain))
        if is_reading or one is taken:
            taken, before = one, chain
        if is_reading:
            break
    return [*before, _described(dataset, taken)]


def _reads(described: _Described) -> bool:
    from tfdarshan.frameworks.tensorflow.tf_data_pipeline import SOURCES

    stage = described.stage
    return stage["name"] in SOURCES or not {"reads", "python"}.isdisjoint(stage.get("does", ()))


def _described(dataset: Any, taken: Any) -> _Described:
    """Describe a data set; `taken` is the input whose stages are those before it."""
    kind = re.sub(r"^_|(V\d+|Adapter)$", "", type(dataset).__name__)
    kind = re.sub(r"Dataset(V\d+)?$", "", kind)
    name = NAMES.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.removeprefix("Parallel")).lower()
    function = getattr(getattr(dataset, "_map_func", None), "_func", None)
    generator = _generator_of(function)
    if generator is not None:
        name, function = "from_generator", generator
    stage: dict[str, Any] = {"name": name}
    calls = _number(getattr(dataset, "_num_parallel_calls", getattr(dataset, "_num_parallel_reads", None)))
    size = next(
        (getattr(dataset, field) for field in SIZES if getattr(dataset, field, None) is not None), None
    )
    if name == "from_tensor_slices":
        size = next((tensor.shape[0] for tensor in dataset._tensors if len(tensor.shape)), None)
    ordered = {"true": True, "false": False}.get(str(getattr(dataset, "_deterministic", "")).lower())
    whole = bool(_number(getattr(dataset, "_drop_remainder", None))) or None
    told = {"calls": calls, "size": _number(size), "drop_remainder": whole, "deterministic": ordered}
    operations = operations_of(dataset)
    told |= {
        "random": draws_random_numbers(dataset, taken, operations),
        "element_bytes": _element_bytes(dataset),
    }
    done = _of_graph(operations.found) if hasattr(dataset, "_map_func") else {}
    for part in (told, _of_records(dataset), done):
        stage |= {key: value for key, value in part.items() if value not in (None, [], "")}
    code = _code_of(function)
    if code is not None:
        stage |= {"function": _name_of(function), "file": code.co_filename, "line": code.co_firstlineno}
    return _Described(stage, code, constants_of(operations))


def _element_bytes(dataset: Any) -> int | None:
    """Return what one element of a data set takes; None where its shape or its type does not say."""
    from tensorflow import nest

    taken = 0
    for part in nest.flatten(dataset.element_spec):
        count = getattr(getattr(part, "shape", None), "num_elements", lambda: None)()
        size = getattr(getattr(part, "dtype", None), "size", 0)
        if count is None or not size:
            return None
        taken += int(count * size)
    return taken


def _of_records(dataset: Any) -> dict[str, Any]:
    if not hasattr(dataset, "_compression_type"):
        return {}
    packed = dataset._compression_type
    packed = packed if isinstance(packed, str) else _constant(packed)
    buffer = dataset._buffer_size if hasattr(dataset, "_buffer_size") else None
    return {"compression": packed, "size": _number(buffer)}


def _of_graph(operations: tuple[Any, ...]) -> dict[str, Any]:
    """Tell what a stage's function does, by the operations that TensorFlow has made of it."""
    kinds = {operation.type for operation in operations}
    done = (
        ("reads", kinds & READS),
        ("decodes", any(map(DECODES.search, kinds))),
        ("python", kinds & PYTHON),
    )
    packed = [
        constant
        for operation in operations
        if operation.type.startswith("TFRecordDataset")
        for constant in map(_constant, list(operation.inputs)[1:2])
        if constant
    ]
    return {"does": [word for word, found in done if found], "compression": packed[0] if packed else None}


def _constant(tensor: Any) -> str | None:
    """Return a constant compression's name."""
    from tensorflow.python.framework import tensor_util

    value = tensor_util.constant_value(tensor)
    text = value.item() if hasattr(value, "item") else value
    text = text.decode("ascii", "replace") if isinstance(text, bytes) else text
    return text if text in COMPRESSIONS else None


def _number(value: Any) -> int | None:
    if value is None or isinstance(value, int):
        return value
    from tensorflow.python.framework import tensor_util

    constant = tensor_util.constant_value(value)
    return None if constant is None else int(constant)


def _pool_threads(dataset: Any) -> int | None:
    """Return the threads of a pipeline's own pool; None where it is TensorFlow's."""
    threads = dataset.options().threading.private_threadpool_size
    return int(threads) if threads else None


def _tuned(dataset: Any) -> bool:
    """Return whether TensorFlow may run a pipeline's maps in parallel by itself, by its options."""
    options = dataset.options()
    optimization = options.experimental_optimization
    chosen = (optimization.map_parallelization, optimization.apply_default_optimizations)
    wanted = next((one for one in chosen if one is not None), True)
    return options.autotune.enabled is not False and wanted


def _generator_of(function: Any, depth: int = GENERATOR_DEPTH) -> Any:
    """Return the generator that `from_generator` was called with, if a function is one that it made."""
    if depth == 0 or "from_generator" not in str(getattr(function, "__module__", "")):
        return None
    for cell in getattr(function, "__closure__", None) or ():
        held = cell.cell_contents
        found = getattr(held, "_generator", None) or _generator_of(held, depth - 1)
        if found is not None:
            return found
    return None


def _code_of(function: Any) -> CodeType | None:
    while isinstance(function, functools.partial):
        function = function.func
    plain = inspect.unwrap(function) if function is not None else None
    code = getattr(plain, "__code__", None)
    if code is None and callable(plain):
        code = getattr(type(plain).__call__, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _name_of(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _looks_like(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(one[key] == value for key, value in other.items())


def _text_of(code: CodeType) -> str:
    """Return the text of a lambda; "" where it cannot be told, or is none."""
    if code.co_name != "<lambda>":
        return ""
    with suppress(Exception):
        program = ast.parse("".join(linecache.getlines(code.co_filename)))
        taken = code.co_varnames[: code.co_argcount]
        found = [
            ast.unparse(node)
            for node in ast.walk(program)
            if isinstance(node, ast.Lambda)
            and node.lineno == code.co_firstlineno
            and tuple(argument.arg for argument in node.args.args) == taken
        ]
        if len(found) == 1 and len(found[0]) <= LONGEST_TEXT:
            return found[0]
    return ""
