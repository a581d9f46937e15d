"""Both tiers with made-up files, and a slow one whose steps can fail."""

import errno
import os
from functools import partial

from tfdarshan.checkpoint.bundle import find_bundle
from tfdarshan.checkpoint.copying import Copier
from tfdarshan.checkpoint.fast_tier import FastTier
from tfdarshan.checkpoint.pairing import open_slow
from tfdarshan.checkpoint.retention import Retention
from tfdarshan.checkpoint.slow_tier import SlowTier
from tfdarshan.durable.file_operations import Storage

SIZES = {"data-00000-of-00002": 20_001, "data-00001-of-00002": 9_999, "index": 77}


class FailsOnce:
    """Lets step `step` fail on the slow tier, and counts the steps there."""

    def __init__(self, slow):
        self.slow, self.step, self.code, self.count = str(slow), 0, errno.ENOSPC, 0

    def arm(self, step, code):
        self.step, self.code, self.count = step, code, 0

    def __call__(self, operation, path):
        if str(path).startswith(self.slow):
            self.count += 1
            if self.count == self.step:
                raise OSError(self.code, os.strerror(self.code), str(path))


class Tiers:
    def __init__(self, root, max_to_keep=2, verify=True, fast="fast"):
        self.fault = FailsOnce(root / "slow")
        storage = Storage(self.fault)
        self.now = 100.0
        self.fast = FastTier(root / fast, storage=storage, clock=lambda: self.now)
        copier = Copier(storage, buffer_bytes=8192)
        keep = Retention(max_to_keep=max_to_keep)
        self.slow = SlowTier(root / "slow", storage=storage, copier=copier, retention=keep, verify=verify)
        self.waiting = self.fast.open()
        open_slow(self.slow, self.fast)

    def seal(self, number, saved_at=None, name="ckpt"):
        prefix = self.fast.folder / f"{name}-{number}"
        for suffix, size in SIZES.items():
            (prefix.parent / f"{prefix.name}.{suffix}").write_bytes(content(number, suffix, size))
        self.now += 1
        entry = self.fast.seal(find_bundle(prefix), saved_at=saved_at or self.now, era=self.fast.era)
        for suffix in SIZES:
            (prefix.parent / f"{prefix.name}.{suffix}").unlink()
        return entry

    def publish(self, entry):
        publication = self.slow.publish(entry, partial(self.fast.path, entry))
        self.fast.remove(entry)
        return publication

    def close(self):
        self.slow.close()
        self.fast.close()


def content(number, suffix, size):
    return (f"{number} {suffix} ".encode() * size)[:size]


def assert_whole(slow, target, number):
    for suffix, size in SIZES.items():
        assert (slow / f"{target}.{suffix}").read_bytes() == content(number, suffix, size)
