"""Trains and saves through a BurstBuffer until it is killed: after step n every value is n."""

import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf

from tfdarshan.checkpoint import BurstBuffer

folder = Path(sys.argv[1])
values = [tf.Variable(tf.zeros([40_000])) for _ in range(4)]
step = tf.Variable(0, dtype=tf.int64)
buffer = BurstBuffer(
    tf.train.Checkpoint(values=values, step=step),
    fast_dir=folder / "fast",
    slow_dir=folder / "slow",
    max_to_keep=2,
    step_counter=step,
)
buffer.restore_or_initialize()
print(int(step), flush=True)
while True:
    step.assign_add(1)
    for value in values:
        value.assign_add(tf.ones_like(value))
    buffer.save()
