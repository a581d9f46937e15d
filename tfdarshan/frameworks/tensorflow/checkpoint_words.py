"""How TensorFlow's checkpoints are saved in the background, as one types it."""

from __future__ import annotations

from tfdarshan.frameworks.words import Fix, Saves

BURST_BUFFER = Fix(
    "Save in the background: write to a fast tier, from which a thread copies to storage. Call close() at "
    "the end.",
    "manager = BurstBuffer(checkpoint, fast_dir=FAST, slow_dir=SLOW, max_to_keep=3)"
    "  # from tfdarshan.checkpoint",
    "manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=3)",
)
# Files of a checkpoint, also while they are written.
SAVES = Saves(
    r"\.(?:index|data-\d{5}-of-\d{5})(?:\.tempstate\d+)?$", BURST_BUFFER, "tensorflow", fast_tier=True
)
