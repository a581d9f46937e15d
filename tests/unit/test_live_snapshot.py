"""A recording that cannot be copied while it goes on is said to be so."""

import errno
from types import SimpleNamespace

import pytest

from tfdarshan.errors import StorageError
from tfdarshan.native import _bridge


@pytest.mark.parametrize(("status", "copied"), [(0, True), (-errno.ESRCH, False)])
def test_a_spool_of_this_process_is_copied_and_another_is_not(monkeypatch, status, copied):
    copy = SimpleNamespace(lib=SimpleNamespace(tfd_session_copy=lambda _source, _target: status))
    monkeypatch.setattr(_bridge, "core", lambda: copy)

    assert _bridge.copy_own_spool(3, 4) is copied


def test_a_copy_that_has_no_room_is_an_error_in_a_sentence(monkeypatch):
    copy = SimpleNamespace(
        lib=SimpleNamespace(tfd_session_copy=lambda _source, _target: -errno.ENOSPC, tfd_last_error=None)
    )
    monkeypatch.setattr(_bridge, "core", lambda: copy)
    monkeypatch.setattr(_bridge, "last_error", lambda: "")

    with pytest.raises(StorageError, match="the recording cannot be read meanwhile: No space left on device"):
        _bridge.copy_own_spool(3, 4)
