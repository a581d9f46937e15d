"""Makes a thread give way to others, on the processor and at the disk."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from contextlib import suppress

# Source: ioprio_set(2) has no wrapper in the C library; asm/unistd.h of the two architectures.
IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
WHO_PROCESS = 1
IDLE = 3 << 13
LEAST = 19


def give_way() -> bool:
    """Give the calling thread the least priority; say whether the disk's scheduler was told, too."""
    thread = threading.get_native_id()
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, LEAST)
    number = IOPRIO_SET.get(platform.machine())
    if number is None:
        return False
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    return bool(syscall(number, WHO_PROCESS, thread, IDLE) == 0)
