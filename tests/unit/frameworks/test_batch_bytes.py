"""How many bytes a batch has, and would have with small types."""

from types import SimpleNamespace

import numpy as np
import pytest

from tfdarshan.frameworks.pytorch.batch_bytes import bytes_of


def tensor(count, itemsize, *, floats):
    """Return what PyTorch's tensors say of themselves."""
    dtype = SimpleNamespace(itemsize=itemsize, is_floating_point=floats)
    return SimpleNamespace(dtype=dtype, nbytes=count * itemsize)


@pytest.mark.parametrize(
    ("batch", "found"),
    [
        (np.zeros(100, np.float32), (400, 100)),
        (np.zeros(100, np.uint8), (100, 100)),
        ([tensor(100, 4, floats=True), tensor(8, 8, floats=False)], (464, 164)),
        ({"x": tensor(10, 8, floats=True), "more": ({"y": tensor(5, 2, floats=True)}, "name")}, (90, 15)),
        ("no tensor", (0, 0)),
        (None, (0, 0)),
    ],
)
def test_bytes_of_a_batch(batch, found):
    assert bytes_of(batch) == found


def test_a_batch_that_holds_itself_is_looked_at_for_a_while():
    # GIVEN
    batch: list[object] = [np.zeros(1, np.uint8)]
    batch.append(batch)

    # THEN
    assert bytes_of(batch)[0] > 0
