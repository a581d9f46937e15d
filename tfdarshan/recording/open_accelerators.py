"""Finds the accelerators that this process computes on, by its open device files; nothing is imported."""

from __future__ import annotations

import os
from contextlib import suppress

DESCRIPTORS = "/proc/self/fd"
# Device files that a process opens to compute: on NVIDIA, AMD and Intel, on TPU and Gaudi, on TPU by VFIO, on
# Trainium, on Ascend, and on GPUs of WSL. What only watches an NVIDIA GPU opens its other files.
# Source: the drivers' documentation; Documentation/accel and Documentation/gpu/drm-uapi.rst of Linux.
DEVICE_FILES = tuple(
    f"/dev/{name}"
    for name in ("nvidia-uvm", "kfd", "dri/renderD", "accel", "vfio/", "neuron", "davinci", "dxg")
)


def open_accelerators() -> list[str]:
    """Return the paths of these device files that are open, in order; none if nobody knows."""
    found: set[str] = set()
    with suppress(OSError):
        for number in os.listdir(DESCRIPTORS):  # noqa: PTH208
            with suppress(OSError):
                found.add(os.readlink(f"{DESCRIPTORS}/{number}"))  # noqa: PTH115
    return sorted(path for path in found if path.startswith(DEVICE_FILES))
