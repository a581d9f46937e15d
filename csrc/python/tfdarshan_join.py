"""Has a process recorded that a job starts: tfdarshan_join.pth imports it.

It runs in every program of this Python that finds TFDARSHAN_SESSION or TFDARSHAN_RENDEZVOUS in its
environment, before the program's own code: it imports no module that is not there already, and whatever goes
wrong, the program goes on.
"""

import _imp
import os
from _frozen_importlib import ModuleSpec


def core() -> str:
    """Gives the core that the recording process runs: of the session, else of the job, "process:core"."""
    spool_folder = os.environ.get("TFDARSHAN_SESSION")
    if spool_folder and os.access(f"{spool_folder}/core", os.F_OK):
        return os.path.realpath(f"{spool_folder}/core")
    return os.environ["TFDARSHAN_RENDEZVOUS"].partition(":")[2]


# Not contextlib, which would be one more module.
try:  # noqa: SIM105
    _imp.exec_dynamic(_imp.create_dynamic(ModuleSpec("_joiner", None, origin=core())))
except Exception:
    pass
