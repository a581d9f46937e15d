"""The facts of a job of whose calls counters alone are known, such as a Darshan log's.

Its calls are made up. Of a long job some batches stand for all, as in `thinned_facts`.
"""

from __future__ import annotations

import math

import numpy as np

from tfdarshan.analysis.files.file_table import NO_FILE
from tfdarshan.analysis.measured_session import MeasuredSession
from tfdarshan.replay.counted_batches import counted_batches, counted_loop, with_output
from tfdarshan.replay.counted_tasks import counted_files, counted_tasks
from tfdarshan.replay.job_facts import JobFacts, StorageFacts, processor_facts
from tfdarshan.replay.job_model import READ, TINY_S
from tfdarshan.replay.known_storage import emulated_storage, known_wait_share
from tfdarshan.replay.pipeline_facts import noted_facts, noted_pipeline
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.storage_facts import is_local
from tfdarshan.replay.thinned_facts import kept_batches


def counted_facts(measured: MeasuredSession) -> JobFacts:
    """Return the facts of a session's job."""
    files, windows, meta = measured.files, measured.windows, measured.session.meta[0]
    is_input = measured.is_input.copy()
    is_input[NO_FILE] = False
    counted = counted_files(files, is_input)
    loop = counted_loop(windows, float(counted.calls[READ].sum()), float(meta["duration_ns"]) / 1e9)
    count, called_s = len(loop.ask_s), float(counted.call_s.sum())
    epoch = np.arange(count) * min(counted.epochs, count) // count
    every = math.ceil(counted.tasks(count).sum() / SETTING["most_tasks"])
    weight = kept_batches(epoch, int(SETTING["stretch"]), max(every, 1))
    readers = max(1, math.ceil(called_s / max(loop.total_s, TINY_S)))
    batches = counted_batches(
        loop, called_s / readers, weight, epoch, 0.0 if windows is None else windows.handed_s
    )
    tasks, batch = counted_tasks(counted, weight, loop.ask_s)
    device, reads = emulated_storage(meta), max(float(counted.calls[READ].sum()), 1.0)
    return JobFacts(
        batches=with_output(batches, files),
        tasks=tasks,
        batch=batch,
        pipeline=noted_facts(noted_pipeline(meta), readers, np.zeros(int(epoch.max(initial=0)) + 1)),
        storage=StorageFacts(
            local=is_local(meta, files, is_input),
            depth_s=np.append(np.zeros(readers - 1), called_s / readers),
            serial=None, limit_s=None, files=len(counted.row), device=device,
            wait_share=None if device is None else known_wait_share(device, counted.bytes.sum() / reads),
        ),
        processors=processor_facts(meta),
        files=files,
        counted=True,
    )  # fmt: skip
