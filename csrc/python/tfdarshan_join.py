"""Has a process recorded that a job starts while it records: tfdarshan_join.pth imports it.

It runs in every program of this Python that finds TFDARSHAN_SESSION in its environment, before the program's
own code: it imports no module that is not there already, and whatever goes wrong, the program goes on.

A program that finds TFDARSHAN_RENDEZVOUS alone has a small library loaded by the .pth file itself, in less
time than an import takes: that waits for a session.
"""

import _imp
import os
import sys
from _frozen_importlib import ModuleSpec


def core() -> str:
    """Gives the core that the recording process runs: the session's, else that of "job:core:library"."""
    spool_folder = os.environ["TFDARSHAN_SESSION"]
    if os.access(f"{spool_folder}/core", os.F_OK):
        return os.path.realpath(f"{spool_folder}/core")
    return os.environ["TFDARSHAN_RENDEZVOUS"].split(":")[1]


def leave() -> bool:
    """Has no module stay behind."""
    sys.modules.pop(__name__, None)
    return True


# Not contextlib, which would be one more module.
try:  # noqa: SIM105
    _imp.exec_dynamic(_imp.create_dynamic(ModuleSpec("_joiner", None, origin=core())))
except Exception:
    pass
