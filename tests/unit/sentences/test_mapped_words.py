"""What is said of mapped files and page faults, where it is so and where it is not."""

from __future__ import annotations

import errno
import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.unit.findings.made_up_mapped import (
    PATH,
    loop_faults,
    probe_of_share,
    unwatched_mapping,
)
from tests.unit.findings.made_up_training import epochs_of_steps
from tests.unit.sentences.counters_only import with_counters
from tests.unit.sentences.other_sessions import MIB, STEPS, mapped
from tests.unit.sentences.raw_figures import Raw
from tests.unit.sentences.rows import Row, check_said, diagnosed
from tfdarshan.analysis.files.mapped_reads import mapped_reads
from tfdarshan.analysis.steps.mapped_waits import FileWaits
from tfdarshan.findings.mapped_cures import read_single_pages
from tfdarshan.session import Session
from tfdarshan.units import human_bytes, percent

IN_ORDER, IN_TURN = loop_faults(50, 20.0, 2.5, 8, jump=128 << 10), epochs_of_steps(50, 20.0, 19.9)
MEMORY = {"machine": {"cpus": 4, "memory_bytes": 1 << 32, "cpu_s": 0.1}}


def of(kind: str, **more):
    """Gives what makes a job that maps a file of such a format."""
    return partial(mapped, formats={PATH: kind} if kind else {}, **more)


def jumping(page_s: float | None = None, **more):
    """Gives what makes a job whose faults brought in 32 times what they touched, with a probe or without."""
    probes = [] if page_s is None else [probe_of_share(0.9, page_s=page_s)]
    return partial(mapped, bytes_in=200 << 17, probes=probes, **more)


CURES = {
    "arrow": ("Have 16 threads read record batches ahead, by calls.",
              "reader = pa.ipc.open_file(pa.memory_map(path))",
              "batches = pool.map(read, numbers)  # numbers: of the record batches, in the order wanted"),
    "arrow_stream": (
        ("Read by calls in place of page faults. A Hugging Face dataset: load it with keep_in_memory=True if "
        "it fits, or have the workers of a DataLoader read it."),
        "reader = pa.ipc.open_stream(pa.memory_map(path))", "reader = pa.ipc.open_stream(pa.OSFile(path))",
    ),
    "safetensors": ("Read the file whole, by calls, ahead of its use.",
                    'file = safetensors.safe_open(path, framework="np")',
                    "tensors = safetensors.numpy.load(pathlib.Path(path).read_bytes())"),
    "torch": ("Read the file whole, by calls.", "state = torch.load(path, mmap=True)",
              "state = torch.load(path, mmap=False)"),
    "parquet": ("Read by calls in place of page faults.", "table = pq.read_table(path, memory_map=True)",
                "table = pq.read_table(path, memory_map=False, pre_buffer=True)"),
    "lmdb": ("Read the database by merged reads, several at a time, in place of page faults.",
             "transaction.get(key)", f"dataset = tfdarshan.lmdb.dataset({PATH!r}, batch=batch_size"),
    "npy": ("Have 16 threads copy what the next steps need out of the mapping, ahead of them.",
            "batch = array[rows]", "batches = pool.map(lambda rows: np.array(array[rows]), order)"),
}  # fmt: skip
NAMES = {
    "arrow": "an Arrow file", "arrow_stream": "an Arrow file", "safetensors": "a safetensors file",
    "torch": "a PyTorch file", "parquet": "a Parquet file", "lmdb": "an LMDB database",
    "npy": "a NumPy array", "gguf": "a GGUF file", "hdf5": "an HDF5 file", "": "a mapped file",
}  # fmt: skip
PAGES = {
    "npy": "array._mmap.madvise(mmap.MADV_RANDOM)  # once, array being the np.memmap",
    "lmdb": "environment = lmdb.open(path, readonly=True, readahead=False)",
    "": "mapped.madvise(mmap.MADV_RANDOM)  # once, mapped being the mmap.mmap",
}


@pytest.fixture(scope="module")
def said_of(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Gives all that is said of a job that maps a file, by its format."""
    folder = tmp_path_factory.mktemp("formats")
    return {kind: diagnosed(of(kind, bytes_in=200 << 17)(folder / (kind or "none"))) for kind in NAMES}


@pytest.mark.parametrize("kind", NAMES)
def test_a_mapped_file_is_called_what_it_is(kind, said_of):
    others = [other for other in NAMES if NAMES[other] != NAMES[kind]]

    assert f"threads wait in page faults on {NAMES[kind]}" in said_of[kind]
    assert [other for other in others if NAMES[kind] in said_of[other]] == []


@pytest.mark.parametrize("kind", CURES)
def test_a_cure_of_page_faults_is_the_formats_own(kind, said_of):
    what, before, after = CURES[kind]
    lines = {other: set(text.splitlines()) for other, text in said_of.items()}

    assert what in lines[kind]
    assert before in lines[kind]
    assert after in said_of[kind]
    # What is to go and what is to come is of no other format; those without a line are told the array's.
    others = [other for other in CURES if other != kind]
    assert [other for other in others if before in lines[other] or after in said_of[other]] == []


@pytest.mark.parametrize("kind", PAGES)
def test_single_pages_are_asked_for_in_the_formats_words(kind):
    cure = read_single_pages(cast(FileWaits, SimpleNamespace(format=kind)))

    assert cure.line == PAGES[kind]


@pytest.mark.parametrize(
    ("library", "flavour", "short"), [("torch", "torch", "pt"), ("tensorflow", "tensorflow", "tf")]
)
def test_safetensors_are_read_into_the_jobs_own_arrays(library, flavour, short, tmp_path):
    meta = {"versions": {library: "2"}}
    said = diagnosed(of("safetensors", meta=meta)(tmp_path))

    assert f"tensors = safetensors.{flavour}.load(" in said
    assert f'safetensors.safe_open(path, framework="{short}")' in said


def fetched(folder: Path, *, bytes_in: int, watched: bool = True) -> Session:
    """Gives a job for which the kernel fetched 400 MiB, of which so much came in for the mapped file."""
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
    """Gives page faults that were looked at half of the time: so many were seen, none kept."""
    block = {"sampled_ns": 2, "sampled_faults": seen, "faults_kept": 0}
    return mapped(folder, block=block, kept=False)


def _faults(found: Raw) -> tuple[int, float]:
    faults = found.calls("fault")
    return len(faults), float(faults["seconds"].sum())


WORDS = {
    "an array that fits": Row(
        "Where most of the array is wanted: np.load(path) reads it whole, and it fits into memory.",
        of("npy", size=1 << 28, meta=MEMORY), lambda _: "NumPy array", of("npy", size=1 << 32, meta=MEMORY),
    ),
    "windows": Row(
        "madvise(MADV_WILLNEED) on what comes next, 128 KiB at a time.",
        partial(mapped, faults=IN_ORDER, steps=IN_TURN, bytes_in=400 << 17,
                probes=[probe_of_share(0.95, page_s=0.0024)]),
        lambda _: ["Have the kernel read 4 MB ahead on this mount, as root. Without root: ",
                   "  # for all readers of the mount"],
        mapped,
    ),
    "out of order": Row(
        "bytes touched, at most", jumping(0.0001),
        lambda found: [human_bytes(200 << 17), human_bytes(_faults(found)[0] * 4096), "faults out of order"],
        partial(mapped, bytes_in=-1),
    ),
    "a part was seen": Row(
        "of the page faults, seen", partial(mapped, block={"sampled_ns": 2, "sampled_faults": 25}),
        lambda found: [percent(25, 100), f"{4 * _faults(found)[0]} times a thread touched a page"], mapped,
    ),
    "unwatched": Row(
        "were mapped, and nobody watched", lambda folder: unwatched_mapping(folder, 1 << 30, STEPS),
        lambda _: f"what page faults on mapped files cost: {human_bytes(1 << 30)} were mapped", mapped,
    ),
    "refused": Row(
        "what page faults on mapped files cost: ",
        partial(mapped, block={"watch": "no events", "error": errno.EACCES, "faults_kept": 0}, kept=False),
        lambda _: "the kernel refused perf_event_open (EACCES: Permission denied)", mapped,
    ),
    "none seen": Row(
        "what page faults on mapped files cost: they were not seen", partial(in_part, seen=0),
        lambda _: "mapped_wait", partial(in_part, seen=50),
    ),
    "a trace of none": Row(
        "who waited in page faults on mapped files: there is no trace of them",
        partial(mapped, block={"faults_kept": 0, "faults_left_out": 200}, kept=False),
        lambda _: "record with trace=True", mapped,
    ),
    "watched, and unseen": Row(
        "Read with calls instead of mapping files, and record the processes that do the I/O.",
        partial(fetched, bytes_in=0),
        lambda _: f"{human_bytes(400 * MIB)} of them through mmap as far as can be told",
        partial(fetched, bytes_in=400 * MIB),
    ),
    "unwatched, and unseen": Row(
        "Watch mapped files, or read with calls instead, and record the processes that do the I/O.",
        partial(fetched, bytes_in=0, watched=False),
        lambda _: "with tfdarshan.profile(logdir, mapped=True):", partial(fetched, bytes_in=0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORDS)
def test_page_faults_are_said_to_be_what_they_were(name, tmp_path):
    check_said(WORDS[name], tmp_path)


REFUSED = {"watch": "no events", "error": errno.EPERM}
NOTES = {
    "page faults on mapped files were not seen: the kernel refused perf_event_open (EPERM: Operation not "
    "permitted); the time in calls leaves out what "
    "they waited for": REFUSED,
    "there was no locked memory for them": {"watch": "no buffer"},
    "the process had more threads than it may have descriptors": {"watch": "too many threads"},
    "no thread could be started to watch them": {"watch": "no thread"},
    "the kernel gave no table of descriptors to watch them from": {"watch": "no descriptors"},
    "their time is a lower bound from 12 looks at which threads were blocked in one": REFUSED | {"looks": 12},
    "of the page faults 25.0 % were seen, so that to see them costs about 1 % of the time; their number and "
    "time are estimates from that": {"sampled_ns": 2, "sampled_faults": 25},
    "30 page faults of 230 found no room in the trace, quick ones first; the totals have all of them":
        {"faults_left_out": 30},
    "the kernel had no room for 3 samples of page faults: two make a fault": {"samples_lost": 3},
    "page faults of 1 mapping are no file's: their addresses were not kept": {"mappings_lost": 1},
    "2 mappings of files that there was no room for are in no figure": {"mappings_left_out": 2},
    "1 process ended before the last look at mapped files: bytes that came in for these files are unknown, "
    "and page faults of the last moment are missing": {"settled": 0},
}  # fmt: skip


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Gives the notes on sessions whose watch went in such ways; "" is of one that missed nothing."""
    folder = tmp_path_factory.mktemp("notes")
    sessions = {
        said: mapped(folder / str(number), block=block)
        for number, (said, block) in enumerate({"": {}, **NOTES}.items())
    }
    return {said: "; ".join(mapped_reads(session.processes).notes) for said, session in sessions.items()}


@pytest.mark.parametrize("said", NOTES)
def test_a_note_is_of_what_a_watch_missed(said, notes):
    others = [other for other in notes if other != said]

    assert said in notes[said]
    assert [other for other in others if said in notes[other]] == []


def test_a_watch_that_missed_nothing_has_no_note(notes):
    assert notes[""] == ""
