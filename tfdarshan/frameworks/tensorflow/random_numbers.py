"""Tells whether a stage of a tf.data pipeline draws random numbers, by the operations of its functions.

What draws none gives the same for the same element in each epoch, and may be kept: a `cache()` behind it
changes nothing that is trained with. Where operations do not tell, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tfdarshan.frameworks.tensorflow.graph_operations import GraphOperations, operations_of

# Operations that draw from a state: tf.random, tf.image.random_..., tf.random.Generator.
DRAWN = re.compile(
    r"Random|^Rng|^Stateful(Uniform|StandardNormal|TruncatedNormal)|Multinomial|TruncatedNormal|SampleDistorted"
)
# Those that draw what a seed says: that is the same each time only where the seed is a constant.
SEEDED = re.compile(r"^Stateless.*(Random|Normal|Multinomial|SampleDistorted|Shuffle)|^RandomIndexShuffle$")
SEEDS = ("seed", "key", "counter")
# Operations with a state that changes nothing of what an element becomes; of those that call a function the
# function's own operations count.
HARMLESS = frozenset(
    {
        "Assert", "Print", "PrintV2", "LookupTableFind", "LookupTableFindV2", "LookupTableSizeV2",
        "If", "While", "Case", "StatefulPartitionedCall", "RangeDataset", "TensorDataset",
        "TensorSliceDataset", "TFRecordDataset", "TFRecordDatasetV2", "TextLineDataset",
        "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "StatelessRandomGetAlg",
    }
)  # fmt: skip
PYTHON = "PyFunc"
# Data sets that draw themselves.
DRAWING = "RandomDataset"
# Larger constants are told apart by their shape alone, and larger tensors from outside by which they are.
MOST_ELEMENTS = 256
MOST_BRANCHES = 64


def draws_random_numbers(dataset: Any, taken: Any, operations: GraphOperations) -> bool | None:
    """Return whether a data set draws random numbers, by itself or in what it takes beside one input.

    Returns:
        None where its operations do not tell, or it has no function and takes no second input.
    """
    if type(dataset).__name__.strip("_").startswith(DRAWING):
        return True
    branches = [one for one in dataset._inputs() if one is not taken]
    told = [_beside(one) for one in branches]
    if operations.found or not operations.complete:
        told.append(_by_operations(operations))
    return _all_of(told) if told else None


def constants_of(operations: GraphOperations) -> int:
    """Return a number that differs where functions of the same text were made with other constants."""
    found = [(one.type, _value_of(one)) for one in operations.found]
    return hash((tuple(found), tuple(_outside(one) for one in operations.captures)))


def _beside(dataset: Any) -> bool | None:
    """Return whether any of a data set and what it takes draws."""
    told: list[bool | None] = []
    waiting = [dataset]
    while waiting:
        one = waiting.pop()
        told.append(_of_one(one))
        waiting += one._inputs()
        if len(told) == MOST_BRANCHES:
            return _all_of([*told, None])
    return _all_of(told)


def _of_one(dataset: Any) -> bool | None:
    if type(dataset).__name__.strip("_").startswith(DRAWING):
        return True
    operations = operations_of(dataset)
    return _by_operations(operations) if operations.found or not operations.complete else False


def _all_of(told: Iterable[bool | None]) -> bool | None:
    """Return True if any is, None if it may be, else False."""
    kinds = set(told)
    return True if True in kinds else None if None in kinds else False


def _by_operations(operations: GraphOperations) -> bool | None:
    told = {_draws(one) for one in operations.found}
    return _all_of(told | ({None} if not operations.complete else set()))


def _draws(operation: Any) -> bool | None:
    kind = operation.type
    if kind in HARMLESS or kind.startswith("Placeholder"):
        return False
    if SEEDED.search(kind):
        return not _same_seed(operation)
    definition = _definition(kind)
    if definition is None or PYTHON in kind:
        return None
    if not definition.is_stateful:
        return False
    return True if DRAWN.search(kind) and "Dataset" not in kind else None


def _definition(kind: str) -> Any:
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(kind)


def _same_seed(operation: Any) -> bool:
    """Return whether the seed of such an operation comes from constants alone."""
    definition = _definition(operation.type)
    inputs = list(operation.inputs)
    if definition is None or len(definition.input_arg) != len(inputs):
        return False
    named = zip(definition.input_arg, inputs, strict=True)
    waiting = [tensor.op for argument, tensor in named if argument.name.startswith(SEEDS)]
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one.name in seen:
            continue
        seen.add(one.name)
        definition = _definition(one.type)
        given = not one.inputs and one.type != "Const"
        if given or definition is None or (definition.is_stateful and one.type not in HARMLESS):
            return False
        waiting += [tensor.op for tensor in one.inputs]
    return True


def _value_of(operation: Any) -> bytes | str | None:
    if operation.type != "Const":
        return None
    shape = operation.outputs[0].shape
    count = shape.num_elements()
    if count is None or count > MOST_ELEMENTS:
        return str(shape)
    value: bytes = operation.get_attr("value").SerializeToString(deterministic=True)
    return value


def _outside(tensor: Any) -> bytes | int | str:
    """Return what tells a tensor from outside: its value where that is small, else the tensor itself."""
    dtype = str(getattr(tensor, "dtype", ""))
    count = getattr(getattr(tensor, "shape", None), "num_elements", lambda: None)()
    if "resource" in dtype or "variant" in dtype or not hasattr(tensor, "numpy"):
        return dtype
    if count is None or count > MOST_ELEMENTS:
        return id(tensor)
    value = tensor.numpy()
    return value.tobytes() if hasattr(value, "tobytes") and value.dtype != object else repr(value)
