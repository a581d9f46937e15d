"""Has a process recorded that was started while a session records: tfdarshan_join.pth imports it.

It runs in every program of this Python that finds TFDARSHAN_SESSION in its environment, before the program's
own code: it imports no module that is not there already, and whatever goes wrong, the program goes on.
"""

import _imp
import os
from _frozen_importlib import ModuleSpec


def join(spool_folder: str) -> None:
    """Loads the core that the session's owner runs, whose module `_joiner` joins the session."""
    core = os.path.realpath(f"{spool_folder}/core")
    _imp.exec_dynamic(_imp.create_dynamic(ModuleSpec("_joiner", None, origin=core)))


# Not contextlib, which would be one more module.
try:  # noqa: SIM105
    join(os.environ["TFDARSHAN_SESSION"])
except Exception:
    pass
