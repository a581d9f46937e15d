"""Finds the tools to measure beside tfdarshan: DFTracer, Darshan, strace.

DFTracer runs from the environment whose Python DFTRACER_PYTHON names, which `make bench` makes. Darshan runs
where TFDARSHAN_DARSHAN_LIBRARY names a libdarshan.so that can do without MPI.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.perf.contender import HotLoop, Loop, Peer

PROOF = Loop("pread", "", 2000, 0)
PROBE = """
import importlib.metadata, pathlib, dftracer
print(importlib.metadata.version("dftracer"))
print(*pathlib.Path(dftracer.__file__).parent.rglob("libdftracer_preload.so"), sep="\\n")
"""


def find_peers(loops: HotLoop, folder: Path) -> tuple[list[Peer], list[str]]:
    """Return the tools that work here, and one sentence for each that does not."""
    peers: list[Peer] = []
    missing: list[str] = []
    finders: tuple[Callable[[HotLoop, Path], list[Peer]], ...] = (_darshan, _dftracer, _strace)
    for find in finders:
        try:
            peers += find(loops, folder)
        except (LookupError, OSError, subprocess.CalledProcessError) as error:
            missing.append(str(error).strip("'\""))
    return peers, missing


def _darshan(loops: HotLoop, folder: Path) -> list[Peer]:
    library = os.environ.get("TFDARSHAN_DARSHAN_LIBRARY")
    if not library:
        raise LookupError("Darshan is left out: TFDARSHAN_DARSHAN_LIBRARY names no libdarshan.so.")
    log = folder / "log.darshan"
    common = {"LD_PRELOAD": library, "DARSHAN_ENABLE_NONMPI": "1", "DARSHAN_LOGFILE": str(log)}
    name = f"Darshan {_darshan_version(Path(library))}".rstrip()
    peers = [
        Peer(name, loops, log, environment=common),
        Peer(f"{name} with DXT", loops, log, environment={**common, "DXT_ENABLE_IO_TRACE": "1"}),
    ]
    return [_proven(peer) for peer in peers]


def _darshan_version(library: Path) -> str:
    """Return the version its pkg-config file has, "" where there is none."""
    description = library.resolve().parent / "pkgconfig" / "darshan-runtime.pc"
    found = re.search(
        r"^Version:\s*(\S+)", description.read_text() if description.exists() else "", re.MULTILINE
    )
    return found[1] if found else ""


def _dftracer(loops: HotLoop, folder: Path) -> list[Peer]:
    python = os.environ.get("DFTRACER_PYTHON", "")
    if not Path(python).is_file():
        raise LookupError("DFTracer is left out: DFTRACER_PYTHON names no Python that has it.")
    probe = subprocess.run([python, "-c", PROBE], capture_output=True, text=True)
    version, *libraries = probe.stdout.split() or [""]
    if not libraries:
        raise LookupError(
            "DFTracer is left out: the environment of DFTRACER_PYTHON has no libdftracer_preload.so."
        )
    traces = folder / "dftracer"
    traces.mkdir()
    common = {
        "LD_PRELOAD": libraries[0],
        "DFTRACER_ENABLE": "1",
        "DFTRACER_INIT": "PRELOAD",
        "DFTRACER_LOG_FILE": str(traces / "trace"),
        "DFTRACER_DATA_DIR": "all",
    }
    # Only its metadata has the file, the offset and the length, which all the others record.
    detailed = {**common, "DFTRACER_INC_METADATA": "1"}
    peers = [
        Peer(f"DFTracer {version}", loops, traces, environment=common, share=0.5),
        Peer(f"DFTracer {version} with file, offset, length", loops, traces, environment=detailed, share=0.2),
    ]
    return [_proven(peer) for peer in peers]


def _strace(loops: HotLoop, folder: Path) -> list[Peer]:
    strace = shutil.which("strace")
    if not strace:
        raise LookupError("strace is left out: it is not installed.")
    log = folder / "strace.log"
    prefix = (strace, "-f", "-qq", "--trace=file,desc", f"--output={log}")
    return [_proven(Peer("strace", loops, log, prefix=prefix, share=0.02, blind=("fread",)))]


def _proven(peer: Peer) -> Peer:
    """Return the peer back if it writes something when it runs: a tool that does nothing costs nothing."""
    peer.recorded(PROOF, 1)
    if not any(path.stat().st_size for path in peer.written()):
        raise LookupError(f"{peer.name} is left out: a run of it wrote no trace.")
    return peer
