"""What is said of mapped files and page faults, where it is so and where it is not."""

from __future__ import annotations

import errno
import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from tests.unit.findings.made_up_jobs import BATCH, GENERATOR, PATHS
from tests.unit.findings.made_up_mapped import PATH, loop_faults, probe_of_share, unwatched_mapping
from tests.unit.findings.made_up_training import epochs_of_steps
from tests.unit.golden.golden_file import Golden
from tests.unit.sentences.counters_only import with_counters
from tests.unit.sentences.other_sessions import MIB, STEPS, mapped, mapped_from_memory
from tests.unit.sentences.rows import Row, contrasts
from tfdarshan.analysis.files.mapped_reads import mapped_reads
from tfdarshan.analysis.steps.mapped_waits import FileWaits
from tfdarshan.findings.mapped_fix_lines import read_single_pages
from tfdarshan.session import Session

IN_ORDER, IN_TURN = loop_faults(50, 20.0, 2.5, 8, jump=128 << 10), epochs_of_steps(50, 20.0, 19.9)
WINDOWS = probe_of_share(0.95, page_s=0.0024)
MEMORY = {"machine": {"cpus": 4, "memory_bytes": 1 << 32, "cpu_s": 0.1}}


def of(kind: str, **more):
    """Return what makes a job that maps a file of such a format."""
    return partial(mapped, formats={PATH: kind} if kind else {}, **more)


def jumping(page_s: float | None = None, **more):
    """Return what makes a job whose faults brought in 32 times what they touched, with a probe or without."""
    probes = [] if page_s is None else [probe_of_share(0.9, page_s=page_s)]
    return partial(mapped, bytes_in=200 << 17, probes=probes, **more)


FORMATS = (
    "arrow", "arrow_stream", "safetensors", "torch", "parquet", "lmdb", "npy", "gguf", "hdf5",
)  # fmt: skip


def fetched(folder: Path, *, bytes_in: int, watched: bool = True) -> Session:
    """Return a job for which the kernel fetched 400 MiB, of which so much came in for the mapped file."""
    kernel = {"rchar": 0, "read_bytes": 400 * MIB}
    session = mapped(
        folder, bytes_in=bytes_in, kernel=kernel, faults=loop_faults(50, 20.0, 0.01, 4, jump=MIB)
    )
    if not watched:
        (path,) = session.path.glob("*.meta.json")
        meta = json.loads(path.read_text()) | {"options": {}}
        del meta["mapping"]
        path.write_text(json.dumps(meta))
    return with_counters(session, PATH, POSIX_MMAPS=1)


def in_part(folder: Path, *, seen: int) -> Session:
    """Return page faults that were looked at half of the time: so many were seen, none kept."""
    block = {"sampled_ns": 2, "sampled_faults": seen, "faults_kept": 0}
    return mapped(folder, block=block, kept=False)


QUICK = mapped_from_memory
OF_LMDB = partial(QUICK, kind="lmdb")
REFUSED = {"watch": "no events", "error": errno.EACCES, "faults_kept": 0}
LEFT_OUT = {"faults_kept": 0, "faults_left_out": 200}
ROWS = {kind: Row(of(kind, bytes_in=200 << 17), of("", bytes_in=200 << 17)) for kind in FORMATS} | {
    "no format": Row(of("", bytes_in=200 << 17), of("npy", bytes_in=200 << 17)),
    "safetensors for PyTorch": Row(of("safetensors", meta={"versions": {"torch": "2"}}), of("safetensors")),
    "safetensors for TensorFlow": Row(
        of("safetensors", meta={"versions": {"tensorflow": "2"}}), of("safetensors")
    ),
    "an array that fits": Row(of("npy", size=1 << 28, meta=MEMORY), of("npy", size=1 << 32, meta=MEMORY)),
    "windows": Row(
        partial(mapped, faults=IN_ORDER, steps=IN_TURN, bytes_in=400 << 17, probes=[WINDOWS]), mapped
    ),
    "out of order": Row(jumping(0.0001), partial(mapped, bytes_in=-1)),
    "an array out of order": Row(jumping(0.0001, formats={PATH: "npy"}), jumping(0.0001)),
    "a database out of order": Row(jumping(0.0001, formats={PATH: "lmdb"}), jumping(0.0001)),
    "a part was seen": Row(partial(mapped, block={"sampled_ns": 2, "sampled_faults": 25}), mapped),
    "unwatched": Row(partial(unwatched_mapping, mapped_bytes=1 << 30, steps=STEPS), mapped),
    "refused": Row(partial(mapped, block=REFUSED, kept=False), mapped),
    "none seen": Row(partial(in_part, seen=0), partial(in_part, seen=50)),
    "a trace of none": Row(partial(mapped, block=LEFT_OUT, kept=False), mapped),
    "watched, and unseen": Row(partial(fetched, bytes_in=0), partial(fetched, bytes_in=400 * MIB)),
    "unwatched, and unseen": Row(partial(fetched, bytes_in=0, watched=False), partial(fetched, bytes_in=0)),
    "from memory": Row(QUICK, partial(QUICK, faults=loop_faults(50, 20.0, 2.5, 4, jump=1 << 20))),
    "a generator": Row(partial(OF_LMDB, stages=(GENERATOR, BATCH)), partial(OF_LMDB, stages=(PATHS, BATCH))),
}


def test_mapped_files_are_said_to_be_what_they_were(golden: Golden, folder: Path):
    # A fix that no session of these is told of.
    files = (cast(FileWaits, SimpleNamespace(format=kind)) for kind in ("npy", "lmdb", ""))
    pages = {f"single pages: {file.format}": read_single_pages(file).line for file in files}

    golden("mapped_files.txt", contrasts(ROWS, folder) | pages)


# What a watch of page faults missed, as it counts it itself.
WATCHES: dict[str, dict[str, Any]] = {
    "nothing missed": {},
    "not permitted": {"watch": "no events", "error": errno.EPERM},
    "no locked memory": {"watch": "no buffer"},
    "too many threads": {"watch": "too many threads"},
    "no thread": {"watch": "no thread"},
    "no descriptors": {"watch": "no descriptors"},
    "looks at threads": {"watch": "no events", "error": errno.EPERM, "looks": 12},
    "a sample": {"sampled_ns": 2, "sampled_faults": 25},
    "a full trace": {"faults_left_out": 30},
    "lost samples": {"samples_lost": 3},
    "lost addresses": {"mappings_lost": 1},
    "no room for mappings": {"mappings_left_out": 2},
    "an early end": {"settled": 0},
}


def test_notes_are_of_what_a_watch_missed(golden: Golden, tmp_path: Path):
    # GIVEN a session of each
    sessions = {name: mapped(tmp_path / name, block=block) for name, block in WATCHES.items()}

    # WHEN
    notes = {name: "\n".join(mapped_reads(session.processes).notes) for name, session in sessions.items()}

    # THEN
    golden("mapped_notes.txt", notes)
