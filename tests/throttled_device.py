"""Whether this machine lets tests throttle a device."""

from __future__ import annotations

import pytest

from tfdarshan.errors import ConfigurationError
from tfdarshan.workloads.throttled_device import check_possible


def possible() -> bool:
    """Return whether this machine lets this user make one."""
    try:
        check_possible()
    except ConfigurationError:
        return False
    return True


needs_device = pytest.mark.skipif(not possible(), reason="needs root, loop devices and cgroup v1's blkio")
