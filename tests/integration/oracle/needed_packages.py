"""The packages that workloads need."""

from __future__ import annotations

NEEDS = {
    "tensorflow_io": ("tensorflow",),
    "keras_io": ("keras", "tensorflow"),
    "array_io": ("h5py", "PIL"),
}
