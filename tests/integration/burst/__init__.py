"""The burst buffer under TensorFlow's own checkpoints."""

from tests.later_tensorflow import needs

needs("tensorflow")
