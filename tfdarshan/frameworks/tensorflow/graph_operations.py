"""The operations of a tf.data stage's functions, and of the functions that they call, within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# What has more operations, or functions deeper within functions, is not looked through to its end.
MOST_OPERATIONS, GRAPH_DEPTH = 4_000, 8


@dataclass(frozen=True)
class GraphOperations:
    """Those of a stage.

    Attributes:
        found: TensorFlow's operations, and those of all functions that they call.
        captures: The tensors from outside that its functions take.
        complete: Whether that is all: no bound was met, and no function whose operations are not known.
    """

    found: tuple[Any, ...] = ()
    captures: tuple[Any, ...] = ()
    complete: bool = True


def operations_of(dataset: Any) -> GraphOperations:
    """Return the operations of the functions that a data set was made with: none if it has no function."""
    wrapped = [value for value in vars(dataset).values() if hasattr(value, "_function")]
    graphs = [getattr(one._function, "graph", None) for one in wrapped]
    walk = _Walk()
    found = tuple(operation for graph in graphs for operation in walk.through(graph, GRAPH_DEPTH))
    return GraphOperations(found, tuple(walk.captures), walk.complete)


class _Walk:
    """Goes through graphs, each once."""

    def __init__(self) -> None:
        self.captures: list[Any] = []
        self.complete = True
        self._left = MOST_OPERATIONS
        self._seen: set[int] = set()

    def through(self, graph: Any, depth: int) -> Iterator[Any]:
        if graph is None or depth == 0:
            self.complete = False
            return
        if id(graph) in self._seen:
            return
        self._seen.add(id(graph))
        operations = graph.get_operations()
        self.complete &= len(operations) <= self._left
        yield from operations[: self._left]
        self._left -= min(self._left, len(operations))
        self.captures += [outside for outside, _ in getattr(graph, "captures", ())]
        called = getattr(graph, "_functions", None)
        self.complete &= called is not None
        for function in (called or {}).values():
            yield from self.through(getattr(function, "graph", None), depth - 1)
