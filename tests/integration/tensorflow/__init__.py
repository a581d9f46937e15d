"""Jobs under TensorFlow and its profiler."""

from tests.later_tensorflow import needs

needs("tensorflow")
