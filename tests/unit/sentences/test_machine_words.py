"""What is said of machines, storage models and workers: each where it is so, and where it is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tfdarshan.errors import SessionDataError, StorageError
from tfdarshan.native import _bridge, _extension, process_identity
from tfdarshan.native.spool_reader import PATHS_OF_NO_FILE
from tfdarshan.partials import dask_cluster
from tfdarshan.storage_model import BUCKET, HDD, LUSTRE, OPTANE, SSD, STORAGE_MODELS, StorageModel

NEEDS = "tfdarshan needs Linux with glibc on x86-64 or aarch64"

MUSL = ", and this Python runs on another C library (musl?): use a glibc-based Python or image."


@pytest.mark.parametrize(
    ("system", "machine", "library", "said"),
    [
        ("linux", "x86_64", "glibc 2.36", None),
        ("linux", "aarch64", "glibc 2.36", None),
        ("darwin", "arm64", "", f"{NEEDS}, and this is darwin: profile the job on such a machine."),
        ("linux", "riscv64", "glibc 2.36",
         f"{NEEDS}, and this machine is riscv64: profile the job on such a machine."),
        ("linux", "x86_64", "", f"{NEEDS}{MUSL}"),
    ],
)  # fmt: skip
def test_a_platform_that_does_not_do_is_named(system, machine, library, said):
    assert _extension.platform_problem(system, machine, library) == said


def ms(seconds: float) -> str:
    """Word a latency."""
    return f"{seconds * 1e3:g} ms"


def mb(model: StorageModel) -> str:
    """Word its bandwidth."""
    return f"{model.read_bandwidth / 1e6:,.0f} MB/s"


ABOUT = {
    "hdd": "one arm: seeks of 8 ms, shortened by n^-0.44 with n calls waiting; 163 MB/s",
    "ssd": "0.1 ms a read, 32 at a time; 280 MB/s",
    "optane": "10 us a read, 64 at a time; 1,603 MB/s",
    "lustre": "2 ms an open and 3 ms a read, 64 at a time; 1,968 MB/s",
    "bucket": "an object store mounted without a cache: 10 ms for every open, read (an empty one too), "
    "write, stat and sync, 64 at a time; 500 MB/s",
}


def test_a_storage_model_is_what_it_is_said_to_be():
    assert {model.name: model.about for model in STORAGE_MODELS} == ABOUT
    assert HDD.concurrency == 1
    assert HDD.about == (
        f"one arm: seeks of {ms(HDD.seek_s)}, shortened by n^-{HDD.seek_exponent} with n calls waiting; "
        f"{mb(HDD)}"
    )
    assert SSD.about == f"{ms(SSD.read_s)} a read, {SSD.concurrency} at a time; {mb(SSD)}"
    assert OPTANE.about == f"{OPTANE.read_s * 1e6:g} us a read, {OPTANE.concurrency} at a time; {mb(OPTANE)}"
    assert LUSTRE.about == (
        f"{ms(LUSTRE.open_s)} an open and {ms(LUSTRE.read_s)} a read, {LUSTRE.concurrency} at a time; "
        f"{mb(LUSTRE)}"
    )
    every = {getattr(BUCKET, f"{call}_s") for call in ("open", "read", "empty_read", "write", "stat", "sync")}
    assert len(every) == 1
    assert BUCKET.about == (
        f"an object store mounted without a cache: {ms(every.pop())} for every open, read (an empty one "
        f"too), write, stat and sync, {BUCKET.concurrency} at a time; {mb(BUCKET)}"
    )


def test_a_model_has_no_cost_that_it_does_not_name():
    costs = ("open_s", "read_s", "write_s", "empty_read_s", "stat_s", "sync_s", "seek_s")

    named = {model.name: {cost for cost in costs if getattr(model, cost)} for model in STORAGE_MODELS}

    assert named == {
        "hdd": {"seek_s"},
        "ssd": {"read_s", "write_s"},
        "optane": {"read_s", "write_s"},
        "lustre": {"open_s", "read_s", "write_s"},
        "bucket": set(costs) - {"seek_s"},
    }


@pytest.mark.parametrize(
    "what",
    [
        "recording did not start",
        "recording did not stop cleanly",
        "the storage cannot be emulated",
        "staged files cannot be used",
        "TensorFlow's profiler is not followed",
        "TensorFlow's sessions cannot be read",
    ],
)
@pytest.mark.parametrize("code", [0, -12])
def test_what_the_core_refuses_is_said_with_its_reason(what, code, monkeypatch):
    monkeypatch.setattr(_bridge, "last_error", lambda: "no memory")

    if not code:
        _bridge._check(code, what)
        return
    with pytest.raises(StorageError, match=f"^{what}: no memory"):
        _bridge._check(code, what)


@pytest.mark.parametrize(("why", "said"), [("", "no reason given"), ("its head is torn", "its head is torn")])
def test_a_spool_that_is_no_spool_says_why(why, said, tmp_path, monkeypatch):
    monkeypatch.setattr(_extension, "last_error", lambda: why)

    with pytest.raises(SessionDataError, match=f"cannot be read: {said}."):
        process_identity.process_identity(tmp_path / "none.spool")


def test_rows_that_are_no_file_are_called_what_they_are():
    assert PATHS_OF_NO_FILE == {0: "(no file)", 1: "(files beyond memory_cap_mb)"}


@pytest.mark.parametrize("slow", [0, 1, 3])
def test_workers_that_give_memory_back_are_counted(slow):
    thresholds = [dask_cluster.DASKS_TRIM] * slow + [str(dask_cluster.OUR_TRIM)] * (3 - slow)
    cluster = dask_cluster.DaskCluster.__new__(dask_cluster.DaskCluster)
    cluster._client = SimpleNamespace(run=lambda _: dict(enumerate(thresholds)))

    words = (
        f"{slow} of 3 workers give memory back at once, which doubles their processor time: start them with "
        f"MALLOC_TRIM_THRESHOLD_ and MALLOC_MMAP_THRESHOLD_ of {1 << 30} in their environment."
    )
    assert cast(Any, cluster).hint == (words if slow else "")
