"""The burst buffer under TensorFlow's own checkpoints."""

import pytest

pytest.importorskip("tensorflow")
