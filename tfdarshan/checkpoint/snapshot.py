"""Holds a checkpoint's values at one moment, to be written while training changes them.

TensorFlow's own asynchronous checkpointing (`CheckpointOptions(enable_async=True)`) fails on Keras 3 models:
the second save makes variables inside a `tf.function` and raises ValueError. Here the graph of objects is
mirrored through the public `tf.train.TrackableView`, with a variable of its own for each of the
checkpoint's. Assigning one variable's value to another on the CPU shares the memory; TensorFlow copies it
when training next writes to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfdarshan.checkpoint.burst_errors import BurstBufferError

SAVE_COUNTER = "save_counter"
# What a class overrides that saves something of its own.
SAVING = ("_serialize_to_tensors", "_gather_saveables_for_checkpoint")
# What an optimizer has whose slots are no children of it: TensorFlow asks it for them when it saves.
SLOTS = "get_slot_names"


class CannotMirrorError(BurstBufferError):
    """A checkpoint holds something whose value cannot be held apart from it; it can be saved at once only."""


class Snapshot:
    """Mirrors a checkpoint; `take()` again and again gives its values at that moment.

    Args:
        checkpoint: A tf.train.Checkpoint.
    """

    def __init__(self, checkpoint: Any) -> None:
        self._checkpoint = checkpoint
        self._variables: dict[int, tuple[Any, Any]] = {}

    def take(self) -> Any:
        """Return a tf.train.Checkpoint with the present values, to be written before the next `take()`.

        Raises:
            CannotMirrorError: Something else than variables has a value, or TensorFlow is not eager.
        """
        import tensorflow as tf

        if not tf.executing_eagerly():
            raise CannotMirrorError("values cannot be held in graph mode.")
        view = tf.train.TrackableView(self._checkpoint)
        seen: dict[int, Any] = {}
        children = view.children(self._checkpoint)
        counter = children.pop(SAVE_COUNTER, None)
        mirror = tf.train.Checkpoint(
            **{name: self._mirror(tf, view, child, seen) for name, child in children.items()}
        )
        if counter is not None:
            mirror.save_counter.assign(counter)
        self._variables = {key: pair for key, pair in self._variables.items() if key in seen}
        return mirror

    def _mirror(self, tf: Any, view: Any, node: Any, seen: dict[int, Any]) -> Any:
        if id(node) in seen:
            return seen[id(node)]
        variable = _variable_of(tf, node)
        if variable is not None:
            seen[id(node)] = self._held(tf, node, variable)
            return seen[id(node)]
        if any(_saves_itself(tf, node)) or SLOTS in dir(node):
            raise CannotMirrorError(f"a {type(node).__name__} has a value that cannot be held.")
        mirror = seen[id(node)] = tf.__internal__.tracking.AutoTrackable()
        for name, child in view.children(node).items():
            setattr(mirror, name, self._mirror(tf, view, child, seen))
        return mirror

    def _held(self, tf: Any, node: Any, variable: Any) -> Any:
        """Return the variable that holds the value; it is kept with its node, whose id thus stays its own."""
        if id(node) not in self._variables:
            with tf.device("CPU:0"):
                held = tf.Variable(
                    variable.read_value(), trainable=False, name=variable.name.partition(":")[0]
                )
            self._variables[id(node)] = (node, held)
        else:
            _, held = self._variables[id(node)]
            held.assign(variable.read_value())
        return held


def _variable_of(tf: Any, node: Any) -> Any:
    """Return the tf.Variable of a node: itself, or what a Keras variable wraps; None for other nodes."""
    candidate = node if isinstance(node, tf.Variable) else None
    if candidate is None and hasattr(type(node), "value") and hasattr(type(node), "_copy_trackable_to_cpu"):
        value = node.value
        candidate = value if isinstance(value, tf.Variable) else None
    if candidate is None:
        return None
    if hasattr(candidate, "values") or not hasattr(candidate, "handle"):
        raise CannotMirrorError(f"a {type(candidate).__name__} is spread over devices.")
    return candidate


def _saves_itself(tf: Any, node: Any) -> Iterator[bool]:
    base = tf.__internal__.tracking.Trackable
    for kind in type(node).__mro__:
        if kind is not base and issubclass(kind, base):
            yield any(name in vars(kind) for name in SAVING)
