"""Says which reads and writes of a process are missing, because they make no calls of the C library."""

from __future__ import annotations

from tfdarshan.native import _extension

READER = "use a reader that calls `pread()`"
# By its name in csrc/tfdarshan.h: what each is called, and what records the same reads and writes.
BYPASSES = {
    "TFD_BYPASS_IO_URING": ("io_uring", READER),
    "TFD_BYPASS_AIO": ("Linux AIO", READER),
    "TFD_BYPASS_CUFILE": ("cuFile", "set `force_compat_mode` to true in `cufile.json`"),
}


def bypass_sentences(bypasses: int) -> list[str]:
    """Return a sentence for each of these ways that a process had open.

    Args:
        bypasses: TFD_BYPASS values, added up.
    """
    lib = _extension.core().lib
    return [
        f"any file reads and writes through {name} are missing, because they make no libc calls: {fix}"
        for constant, (name, fix) in BYPASSES.items()
        if bypasses & int(getattr(lib, constant))
    ]
