"""The interpreters of this machine, by whether they are position-independent executables.

In one that is not, as Debian's own, a pointer to a libc function in any library's data holds the address of
the program's own PLT entry.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

FIXED, INDEPENDENT = "fixed-address", "position-independent"
KINDS = (FIXED, INDEPENDENT)
ET_EXEC = 2
ASK = "import json, sys; print(json.dumps([sys.executable, sys.version_info[:2]]))"


def kind(program: Path) -> str:
    """Return which of KINDS an ELF program is."""
    with program.open("rb") as file:
        header = file.read(18)
    return FIXED if int.from_bytes(header[16:18], "little") == ET_EXEC else INDEPENDENT


def interpreters() -> dict[str, Path]:
    """Return one interpreter of each kind that there is, of the version that runs this."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = getattr(sys, "_base_executable", sys.executable)
    candidates = (base, "/usr/bin/python3", f"/usr/bin/{version}", *map(shutil.which, (version, "python3")))
    found: dict[str, Path] = {}
    for candidate in filter(None, candidates):
        # Asked for itself: it may be a script that chooses one.
        asked = subprocess.run([candidate, "-I", "-S", "-c", ASK], capture_output=True, text=True)
        if asked.returncode == 0:
            executable, (major, minor) = json.loads(asked.stdout)
            if (major, minor) == sys.version_info[:2]:
                found.setdefault(kind(Path(executable)), Path(executable))
    return found
