"""A job that computes on batches, mapped or not, and what is found in its session."""

from __future__ import annotations

import time

import numpy as np

import tfdarshan
import tfdarshan.lmdb
from tests.integration.mapped.touched_files import must_be_seen
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.findings.diagnosis import diagnose

STEPS, COMPUTE_S, SLOW = 40, 0.004, {"read_s": 0.004, "concurrency": 64, "page_cache": 1}
# What runs of one job differ by.
NOISE = 1.15
ROWS, ROW_BYTES, BATCH = 1200, 16 << 10, 4


def mapped_job(logdir, batches, mapped=True, steps=STEPS):
    """Take a batch in each step, and compute; return the session, and the seconds of the steps."""
    with tfdarshan.profile(logdir, mapped=mapped) as session:
        batches = iter(batches)
        start_s = time.perf_counter()
        for _ in range(steps):
            with tfdarshan.step() as step:
                with step.input_wait():
                    next(batches)
                time.sleep(COMPUTE_S)
        took_s = time.perf_counter() - start_s
        del batches
    return session.session, took_s


def found_in(session):
    reads = summarize(session).mapped
    if reads.faults is None:
        must_be_seen(reads.notes)
    return {finding.name: finding for finding in diagnose(session).findings}


def is_kept(gain, before_s, after_s):
    low, high = gain.speedup_range
    assert low / NOISE <= before_s / after_s <= high * NOISE


def records(lmdb, folder):
    """Write a database; return its folder, and the keys."""
    keys = [b"%06d" % number for number in range(ROWS)]
    with lmdb.open(str(folder), map_size=1 << 28) as database, database.begin(write=True) as writing:
        for key in keys:
            writing.put(key, np.random.default_rng(int(key)).bytes(ROW_BYTES))
    return folder, keys
