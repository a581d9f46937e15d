"""Work done in a forked child."""

from __future__ import annotations

import os


def in_child(work):
    """Run it in a forked child, which gives 0 if it returned, 1 if it raised."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
