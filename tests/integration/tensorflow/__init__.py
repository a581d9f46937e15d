"""Jobs under TensorFlow and its profiler."""

import pytest

pytest.importorskip("tensorflow")
