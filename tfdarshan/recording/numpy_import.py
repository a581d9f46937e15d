"""Imports NumPy into a job that may start no more threads.

OpenBLAS, which NumPy brings, starts a thread for each processor as it is loaded. Where that fails, it sends
its own process SIGINT, as if somebody had pressed Ctrl-C.

Source: blas_thread_init() of OpenBLAS' driver/others/blas_server.c.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading

THREADS = "OPENBLAS_NUM_THREADS"
# As many threads as NumPy's wheels allow OpenBLAS.
MOST_THREADS = 64


def import_numpy() -> None:
    """Import NumPy; without threads of OpenBLAS if these cannot be started.

    Raises:
        ImportError: It cannot be imported.
    """
    if "numpy" in sys.modules or _can_start(min(len(os.sched_getaffinity(0)), MOST_THREADS) - 1):
        importlib.import_module("numpy")
        return
    before = os.environ.get(THREADS)
    os.environ[THREADS] = "1"
    try:
        importlib.import_module("numpy")
    finally:
        if before is None:
            del os.environ[THREADS]
        else:
            os.environ[THREADS] = before


def _can_start(count: int) -> bool:
    """Return whether this process may have so many threads more."""
    ends = threading.Event()
    threads = [threading.Thread(target=ends.wait, daemon=True) for _ in range(count)]
    started = 0
    try:
        for thread in threads:
            thread.start()
            started += 1
    except RuntimeError:
        return False
    finally:
        ends.set()
        for thread in threads[:started]:
            thread.join()
    return True
