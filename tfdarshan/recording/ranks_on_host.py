"""How many ranks of its job run on a process's host: they share what a recording may use there."""

from __future__ import annotations

import re
from collections.abc import Mapping

# torchrun; Open MPI; Hydra, which is MPICH's and Intel MPI's process manager. The innermost launcher first.
COUNTS = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
# Source: "OUTPUT ENVIRONMENT VARIABLES" of srun(1): such as "4(x2),3", by the node's number in the step.
SLURM_COUNTS = ("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE")
SLURM_COUNT = re.compile(r"(\d{1,6})(?:\(x(\d{1,6})\))?")


def ranks_on_host(environment: Mapping[str, str]) -> int | None:
    """Return the number, from 1 on; None where no launcher says."""
    for name in COUNTS:
        text = environment.get(name, "")
        if text.isascii() and text.isdigit() and int(text[:12]) > 0:
            return int(text[:12])
    for name in SLURM_COUNTS:
        found = _of_node(environment.get(name, ""), environment.get("SLURM_NODEID", ""))
        if found is not None:
            return found
    return None


def _of_node(counts: str, node: str) -> int | None:
    """Return the count of a node from what Slurm says of all."""
    if not node.isascii() or not node.isdigit():
        return None
    left = int(node[:12])
    for part in counts.split(","):
        match = SLURM_COUNT.fullmatch(part)
        if match is None:
            return None
        nodes = int(match[2] or 1)
        if left < nodes:
            return int(match[1]) or None
        left -= nodes
    return None
