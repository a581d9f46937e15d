"""Trains for some steps and saves in one of several ways; prints what that took as JSON.

The variables are AlexNet's with Adam's two moments, 704 MB. A step is Adam's real update of all of them, on
the CPU, after a pause that stands for the accelerator's part.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import tensorflow as tf

# Shapes of AlexNet's weights and biases with 102 classes, 58.7 million parameters.
ALEXNET = (
    ((11, 11, 3, 96), (96,)),
    ((5, 5, 96, 256), (256,)),
    ((3, 3, 256, 384), (384,)),
    ((3, 3, 384, 384), (384,)),
    ((3, 3, 384, 256), (256,)),
    ((9216, 4096), (4096,)),
    ((4096, 4096), (4096,)),
    ((4096, 102), (102,)),
)
TO_KEEP = 2


class Training:
    """Variables, and a step that changes all of them."""

    def __init__(self, scale: int, pause_s: float) -> None:
        shapes = [(max(1, shape[0] // scale), *shape[1:]) for layer in ALEXNET for shape in layer]
        self.groups = [
            [tf.Variable(tf.random.uniform(shape)) for _ in ("value", "m", "v")] for shape in shapes
        ]
        self.gradients = [tf.random.normal(shape) for shape in shapes]
        self.number = tf.Variable(0, dtype=tf.int64)
        self.checkpoint = tf.train.Checkpoint(number=self.number, variables=self.groups)
        self.bytes = sum(int(tf.size(variable)) * 4 for group in self.groups for variable in group)
        self._pause_s = pause_s

    def step(self) -> float:
        """Train; return the seconds it took."""
        began_s = time.monotonic()
        time.sleep(self._pause_s)
        self._update()
        return time.monotonic() - began_s

    @tf.function
    def _update(self) -> None:
        self.number.assign_add(1)
        for (value, m, v), gradient in zip(self.groups, self.gradients, strict=True):
            tf.raw_ops.ResourceApplyAdam(
                var=value.handle, m=m.handle, v=v.handle, beta1_power=0.9, beta2_power=0.999, lr=1e-3,
                beta1=0.9, beta2=0.999, epsilon=1e-7, grad=gradient,
            )  # fmt: skip

    def digest(self) -> str:
        """Return what tells these values from any others."""
        import xxhash

        digest = xxhash.xxh3_128()
        for group in self.groups:
            for variable in group:
                digest.update(memoryview(variable.numpy()).cast("B"))
        return digest.hexdigest()


@dataclass
class Saver:
    """A way of saving: what a save does, what makes the last one durable, and whether one is on its way."""

    save: Callable[[], object]
    finish: Callable[[], object] = lambda: None
    busy: Callable[[], bool] = lambda: False
    latest: Callable[[], str | None] = lambda: None
    lags_s: list[float] = field(default_factory=list)


def sync_file_system(folder: Path) -> None:
    """Make all that was written to a file system durable."""
    subprocess.run(["sync", "--file-system", os.fspath(folder)], check=True)


def none(_training: Training, _fast: Path, _slow: Path) -> Saver:
    """Save nothing."""
    return Saver(save=lambda: None)


def direct(training: Training, _fast: Path, slow: Path) -> Saver:
    """Save as TensorFlow does: nothing is synced until the end."""
    manager = tf.train.CheckpointManager(training.checkpoint, slow, max_to_keep=TO_KEEP)
    return Saver(manager.save, lambda: sync_file_system(slow), latest=lambda: manager.latest_checkpoint)


def direct_fsync(training: Training, _fast: Path, slow: Path) -> Saver:
    """Save as TensorFlow does, and sync each before training goes on."""
    manager = tf.train.CheckpointManager(training.checkpoint, slow, max_to_keep=TO_KEEP)

    def save() -> None:
        manager.save()
        for path in (*slow.iterdir(), slow):
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)

    return Saver(save, latest=lambda: manager.latest_checkpoint)


def tensorflow_async(training: Training, _fast: Path, slow: Path) -> Saver:
    """Save by TensorFlow's asynchronous checkpointing: nothing is synced until the end."""
    manager = tf.train.CheckpointManager(training.checkpoint, slow, max_to_keep=TO_KEEP)
    options = tf.train.CheckpointOptions(enable_async=True)

    def finish() -> None:
        manager.sync()
        sync_file_system(slow)

    return Saver(lambda: manager.save(options=options), finish, latest=lambda: manager.latest_checkpoint)


def orbax_async(training: Training, _fast: Path, slow: Path) -> Saver:
    """Save the values as a tree of arrays by Orbax, asynchronously; the end syncs."""
    import orbax.checkpoint as ocp

    manager = ocp.CheckpointManager(
        slow / "orbax",
        options=ocp.CheckpointManagerOptions(max_to_keep=TO_KEEP, enable_async_checkpointing=True),
    )

    def save() -> None:
        tree = {
            f"{layer}-{part}": variable.numpy()
            for layer, group in enumerate(training.groups)
            for part, variable in enumerate(group)
        }
        manager.save(int(training.number), args=ocp.args.StandardSave(tree))

    def finish() -> None:
        manager.wait_until_finished()
        sync_file_system(slow)

    return Saver(save, finish)


def burst_buffer(training: Training, fast: Path, slow: Path) -> Saver:
    """Save through the burst buffer: each is durable and verified when it says so."""
    from tfdarshan.checkpoint import BurstBuffer, read_ledger
    from tfdarshan.checkpoint.ledger import ledger_path

    buffer = BurstBuffer(training.checkpoint, fast_dir=fast, slow_dir=slow, max_to_keep=TO_KEEP)
    saver = Saver(buffer.save, busy=lambda: bool(buffer.status().pending))

    def finish() -> None:
        buffer.close()
        saver.lags_s += [row.slow_durable_at - row.saved_at for row in read_ledger(ledger_path(slow))]

    saver.finish, saver.latest = finish, lambda: buffer.durable_checkpoint
    return saver


WAYS = {
    "none": none,
    "direct": direct,
    "direct + fsync": direct_fsync,
    "TensorFlow async": tensorflow_async,
    "Orbax async": orbax_async,
    "burst buffer": burst_buffer,
}


def measure(training: Training, saver: Saver, *, steps: int, every: int) -> dict[str, object]:
    """Train and save; return seconds by what they were spent on."""
    training.step()
    stalls_s: list[float] = []
    quiet_s: list[float] = []
    draining_s: list[float] = []
    digest = ""
    began_s = time.monotonic()
    for number in range(1, steps + 1):
        busy = saver.busy()
        step_s = training.step()
        # The step after a save pays for its copy of the values. Beside the drain is a step if all of it is.
        if number % every != 1:
            (draining_s if busy and saver.busy() else quiet_s).append(step_s)
        if number % every == 0:
            if number == steps:
                digest_began_s = time.monotonic()
                digest = training.digest()
                began_s += time.monotonic() - digest_began_s
            save_began_s = time.monotonic()
            saver.save()
            stalls_s.append(time.monotonic() - save_began_s)
    run_s = time.monotonic() - began_s
    saver.finish()
    return {
        "stalls_s": stalls_s,
        "run_s": run_s,
        "durable_s": time.monotonic() - began_s,
        "lags_s": saver.lags_s,
        "quiet_step_s": statistics.median(quiet_s) if quiet_s else None,
        "draining_step_s": statistics.median(draining_s) if draining_s else None,
        "draining_steps": len(draining_s),
        "bytes": training.bytes,
        "identical": is_identical(training, saver.latest(), digest),
    }


def is_identical(training: Training, latest: str | None, digest: str) -> bool | None:
    """Return whether what is restored is what was saved; None without a checkpoint of TensorFlow."""
    if latest is None:
        return None
    training.step()
    training.checkpoint.restore(latest)
    return training.digest() == digest


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("fast", type=Path)
    parser.add_argument("slow", type=Path)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--pause-s", type=float, default=1.0)
    parser.add_argument("--scale", type=int, default=1, help="divide the variables' size by this")
    options = parser.parse_args()
    training = Training(options.scale, options.pause_s)
    saver = WAYS[options.way](training, options.fast, options.slow)
    print(json.dumps(measure(training, saver, steps=options.steps, every=options.every)))


if __name__ == "__main__":
    main()
