"""Imports a module, records two sessions around known reads, and prints what they counted as JSON.

Run by an interpreter without any package of its own:
`python -I -S sessions_beside.py PACKAGES ROOT MODULE DATA LOGDIR`.
"""

import importlib
import json
import site
import sys

CHUNK = 65_536
COUNTERS = ("POSIX_OPENS", "POSIX_READS", "TFD_ZERO_READS", "POSIX_BYTES_READ")


def read(path):
    """Read a file through Python's own read(2)."""
    with open(path, "rb", buffering=0) as file:
        while file.read(CHUNK):
            pass


def counted(session, path):
    """Return the counters of a file, and what is still attached after the session."""
    from tfdarshan.native import _bridge

    files = session.files
    row = files[(files["path"] == path) & (files["module"] == "POSIX")]
    return {
        **{name: int(row[name].sum()) for name in COUNTERS},
        "active": _bridge.session_active(),
        "slots": _bridge.slots_holding_wrappers(),
    }


def main(packages, root, module, data, logdir):
    """Run it."""
    # Not PYTHONPATH: some packages need the .pth files that lie beside them.
    site.addsitedir(packages)
    sys.path.append(root)
    importlib.import_module(module)
    import tfdarshan

    results = []
    for number in range(2):
        with tfdarshan.profile(f"{logdir}/{number}") as session:
            read(data)
        results.append(counted(session, data))
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
