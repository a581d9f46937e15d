"""A job that knows nothing of burst buffers: saves with TensorFlow and Keras, then waits to be ended."""

import sys
import time
from pathlib import Path

import keras
import tensorflow as tf

folder, saves = Path(sys.argv[1]), int(sys.argv[2])
value = tf.Variable(tf.zeros([50_000]))
step = tf.Variable(0)
manager = tf.train.CheckpointManager(tf.train.Checkpoint(value=value, step=step), folder, max_to_keep=2)
model = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(10)])
for number in range(1, saves + 1):
    step.assign(number)
    value.assign(tf.fill([50_000], float(number)))
    manager.save()
    model.save(folder / "model.keras")
    model.save_weights(folder / f"{number}.weights.h5")
    time.sleep(0.3)
print("saved", flush=True)
sys.stdin.read()
