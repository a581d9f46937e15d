import threading

import pytest

from tfdarshan.ahead import read_ahead
from tfdarshan.partials.beside import one_thread_beside


@pytest.fixture
def no_threads(monkeypatch):
    """A user who may start no thread."""

    def refuse(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def test_work_is_done_by_another_thread():
    with one_thread_beside() as begin:
        assert begin(threading.get_ident)() != threading.get_ident()


def test_work_is_done_at_once_without_threads(no_threads):
    # GIVEN
    done: list[int] = []

    # WHEN
    with one_thread_beside() as begin:
        waits = [begin(done.append, number) for number in range(3)]

        # THEN
        assert done == [0, 1, 2]
        assert [wait() for wait in waits] == [None] * 3
    assert done == [0, 1, 2]


def test_what_is_read_ahead_is_read_without_threads(no_threads):
    assert list(read_ahead(iter(range(5)))) == [0, 1, 2, 3, 4]
