"""Where an open leads to, and files that another host changes."""

from __future__ import annotations

import os
import subprocess


def opened(path, flags=os.O_RDONLY):
    """Return the path that opening `path` leads to."""
    handle = os.open(path, flags)
    try:
        return os.readlink(f"/proc/self/fd/{handle}")
    finally:
        os.close(handle)


def change_elsewhere(path, how):
    """Change a file as another host does: by a program that no session sees."""
    what = {
        "changed": f"printf more >> {path}",
        "deleted": f"rm {path}",
        "replaced": f"printf new > {path}.new && mv {path}.new {path}",
    }[how]
    subprocess.run(["/bin/sh", "-ec", what], check=True)
