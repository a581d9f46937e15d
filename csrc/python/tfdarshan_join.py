"""Has a process recorded that was started while a session records: imported by tfdarshan_join.pth.

It runs in every program of this Python that finds TFDARSHAN_SESSION in its environment, before the program's own
code: it imports no module, and whatever goes wrong, the program goes on.
"""

import _imp
import os
from _frozen_importlib import ModuleSpec


def join(spool_folder):
    """Loads the core that the session's owner runs, whose module `_joiner` joins the session."""
    core = os.path.realpath(os.path.join(spool_folder, "core"))
    _imp.exec_dynamic(_imp.create_dynamic(ModuleSpec("_joiner", None, origin=core)))


try:
    join(os.environ["TFDARSHAN_SESSION"])
except Exception:
    pass
