"""Jobs whose every number is known: files of given sizes, read so often, at a given time per pass."""

import dataclasses

import numpy as np
import pandas as pd
import pyarrow as pa

from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.storage.time_model import TimeModel
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.job_facts import BatchFacts, JobFacts, PipelineFacts, ProcessorFacts, StorageFacts
from tfdarshan.replay.job_model import CALLS, READ
from tfdarshan.replay.read_tasks import ReadTasks
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.run_facts import RunFacts

HDD = (8e-3, 1 / 163e6)
CACHED_S = 10e-6
FAST = TierProbe(TimeModel(20e-6, 1 / 2e9, 50, 1.0), 1e9, True, "assumed")


def file_use(size, opens, *, tier=HDD, storage_opens=None, noise=0.0, seed=0):
    """Return the use of files that `storage_opens` of their `opens` passes took from the tier."""
    size, opens = np.asarray(size, np.int64), np.asarray(opens, np.int32)
    served = opens if storage_opens is None else np.asarray(storage_opens, np.int32)
    scatter = np.exp(noise * np.random.default_rng(seed).standard_normal(len(size)))
    stored_s = served * (tier[0] + size * tier[1]) * scatter
    seconds = stored_s + (opens - served) * CACHED_S
    zeros = np.zeros(len(size), np.float32)
    return FileUse(
        paths=pa.chunked_array([pa.array([f"/data/{i:06}" for i in range(len(size))], pa.large_string())]),
        size_bytes=size,
        is_input=np.ones(len(size), bool),
        is_used=np.ones(len(size), bool),
        counted_bytes=opens * size,
        times_read=opens.astype(float),
        opens=opens,
        reads=2 * opens,
        bytes_read=opens * size,
        bytes_written=np.zeros(len(size), np.int64),
        moves=np.zeros(len(size), np.int32),
        read_s=seconds.astype(np.float32),
        meta_s=zeros,
        stat_s=zeros,
        storage_s=stored_s.astype(np.float32),
        storage_bytes=(served * size).astype(np.float32),
        in_memory=np.zeros(len(size), bool),
    )


def run_of(use, *, readers=4, other_s=0.0):
    """Return a run in which `readers` threads do nothing but read, and `other_s` seconds pass without I/O."""
    return RunFacts(float(use.read_s.sum()) / readers + other_s, float(readers), ("session",))


def malware_like(count, seed=0):
    """Return sizes of which the smallest two fifths hold about 8 % of the bytes, as in the paper."""
    return (1_000 * np.exp(1.1 * np.random.default_rng(seed).standard_normal(count)) * 400).astype(np.int64)


def job_of(use, *, readers=4, other_s=0.0):
    """Return the replay model of the run of `run_of`, all times `readers` times as long, by one reader.

    Each pass is a batch; passes that storage did not serve come last, from memory. If all files are read as
    often, that is in epochs.
    """
    rows, number = np.repeat(np.arange(len(use)), use.opens), _numbers(use.opens)
    order = np.lexsort((rows, number))
    rows, number = rows[order], number[order]
    alike, count = len(set(use.opens.tolist())) == 1, len(order)
    served = np.round(use.storage_bytes / np.maximum(use.size_bytes, 1))
    stored = number < served[rows]
    each_s = use.storage_s / np.maximum(served, 1)
    call_s = np.where(stored, each_s[rows], CACHED_S).astype(float)
    zeros, epoch = np.zeros(count), number if alike else np.zeros(count, int)

    def of_reads(values):
        return np.array([values if kind == READ else zeros for kind in range(len(CALLS))])

    tasks = ReadTasks(
        begin_s=np.cumsum(call_s) - call_s, epoch=epoch, file=rows, calls=of_reads(np.ones(count)),
        first_opens=zeros,
        call_s=of_reads(call_s), turn_s=call_s, quick_s=call_s, size=np.maximum(use.size_bytes[rows], 0.0),
        stored_s=call_s * stored, requests=stored.astype(float), jumps=np.ones(count),
        places=np.ones(count), asked_reads=np.ones(count), work_s=zeros, rest_s=zeros,
    )  # fmt: skip
    columns = {one.name: zeros for one in dataclasses.fields(BatchFacts) if one.type == "Array"}
    compute_s = np.full(count, readers * other_s / max(count, 1))
    columns |= {"weight": np.ones(count), "epoch": epoch, "wait_s": call_s, "compute_s": compute_s}
    paths = pd.Series(pd.arrays.ArrowExtensionArray(use.paths))
    return calibrated(JobFacts(
        batches=BatchFacts(**columns, known=True, hand_s=0.0), tasks=tasks, batch=np.arange(count),
        pipeline=PipelineFacts(
            readers=1.0, declared_readers=None, prefetch=None, shuffle_tasks=0, parallel_behind=None,
            framework=False, python=True, processes=None, records=False, compressed=False, loop_reads=True,
            beside=0.0, overlap=0.0, in_order=True, order_kept=True,
            late_s=np.zeros(int(epoch.max(initial=0)) + 1),
        ),
        storage=StorageFacts(
            local=False, depth_s=np.ones(1), serial=(0.0, 0.0, 0.0), limit_s=None, wait_share=0.5,
            files=len(use),
        ),
        processors=ProcessorFacts(cpus=None, others=None, cpu_s=None, span_s=0.0),
        files=FileTable(pd.DataFrame({"path": paths}), ()),
    ))  # fmt: skip


def _numbers(opens):
    """Return the number of each pass over its file, from 0."""
    return np.arange(opens.sum()) - np.repeat(np.cumsum(opens) - opens, opens)
