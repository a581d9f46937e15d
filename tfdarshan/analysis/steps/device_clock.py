"""Steps on the GPU's clock: the GPU still works on queued kernels while the loop waits for input."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array


def on_device_clock(
    start_ns: Array, end_ns: Array, wait_ns: Array, exposed_ns: Array
) -> tuple[Array, Array, Array]:
    """Return when steps begin and end on the GPU, and how long they wait there for input.

    A step begins on the GPU when its queue is empty, or with its batch if the queue is longer than the wait.
    Until then the GPU works for the step before.

    Args:
        start_ns: When steps begin on the CPU, ascending, with the wait for their batch.
        end_ns: When they end there.
        wait_ns: How long they wait there.
        exposed_ns: How long the GPU is idle at the end of the wait; -1 if unknown: such a step stays as it
            is.
    """
    wait_ns = np.minimum(wait_ns, end_ns - start_ns)
    exposed_wait_ns = np.where(exposed_ns >= 0, np.minimum(exposed_ns, wait_ns), wait_ns)
    begins_ns = start_ns + wait_ns - exposed_wait_ns
    ends_ns = end_ns.copy()
    follows = end_ns[:-1] == start_ns[1:]
    ends_ns[:-1][follows] = begins_ns[1:][follows]
    return begins_ns, ends_ns, exposed_wait_ns
