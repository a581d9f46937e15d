"""The kinds of job that `job.py` runs: arguments of its DataLoader, and how its loop goes on."""

from typing import Any

FILES, FILE_BYTES, BATCH, EPOCHS = 48, 4096, 4, 2
KINDS: dict[str, dict[str, Any]] = {
    "no_workers": {},
    "workers": {"num_workers": 2},
    "persistent": {"num_workers": 2, "persistent_workers": True},
    "stateful": {"num_workers": 2, "persistent_workers": True, "stateful": True},
    "iterable": {"num_workers": 2, "iterable": True},
    "iterable_alone": {"iterable": True},
    "unordered": {"num_workers": 2, "in_order": False},
    "spawned": {"num_workers": 2, "multiprocessing_context": "spawn"},
    "forkserver": {"num_workers": 2, "multiprocessing_context": "forkserver", "persistent_workers": True},
    "accumulated": {"num_workers": 1, "accumulate": 3},
    "validated": {"num_workers": 1, "validate": True},
    "without_optimizer": {"num_workers": 1, "optimizer": False},
}
