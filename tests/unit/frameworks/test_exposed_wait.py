"""How much of a wait the GPU was idle: CUDA's events on a virtual clock, in ms."""

import gc
import os
import sys
import threading
import weakref

import pytest

from tfdarshan.frameworks.pytorch import exposed_wait
from tfdarshan.frameworks.pytorch.exposed_wait import ExposedWaits

MS = 1_000_000


class Gpu:
    """A device and the CPU's time: has nothing that synchronises, and fails where it would be initialised."""

    def __init__(self):
        self.now = self.free_at = 0
        self.initialized = self.broken = self.capturing = False
        self.device, self.events, self.asked = 0, 0, 0
        self.made: weakref.WeakSet = weakref.WeakSet()

    def launch(self, takes):
        self.free_at = max(self.now, self.free_at) + takes

    def is_initialized(self):
        return self.initialized

    def current_device(self):
        assert self.initialized
        return self.device

    def is_current_stream_capturing(self):
        assert self.initialized
        return self.capturing

    def Event(self, *, enable_timing):
        assert self.initialized
        assert enable_timing
        self.events += 1
        event = Event(self)
        self.made.add(event)
        return event


class Event:
    """Is passed when the GPU has done what was queued before."""

    def __init__(self, gpu):
        self._gpu, self._at = gpu, None
        self._device = gpu.device

    def record(self):
        assert not self._gpu.capturing
        assert self._gpu.device == self._device
        if self._gpu.broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        self._at = max(self._gpu.now, self._gpu.free_at)

    def query(self):
        self._gpu.asked += 1
        if self._gpu.broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        return self._gpu.now >= self._at

    def elapsed_time(self, later):
        assert self._gpu.now >= later._at
        return float(later._at - self._at)


@pytest.fixture
def gpu(monkeypatch):
    made = Gpu()
    made.initialized = True
    monkeypatch.setitem(sys.modules, "torch.cuda", made)
    return made


class Loop:
    """A training loop: `noted` is what was exposed of each wait, by when it began."""

    def __init__(self, gpu):
        self.gpu, self.noted = gpu, {}
        self.waits = ExposedWaits(self._note)

    def _note(self, begin_ns, exposed_ns):
        self.noted[begin_ns // MS] = exposed_ns / MS

    def step(self, *, wait, queue=0):
        """Wait for a batch, and return whether that is measured; then queue work for it."""
        begin, ending = self.gpu.now, self.waits.begin()
        self.gpu.now += wait
        if ending is not None:
            ending(begin * MS, self.gpu.now * MS)
        self.gpu.launch(queue)
        return ending is not None


@pytest.mark.parametrize(("queue", "exposed"), [(0, 30), (10, 20), (30, 0), (500, 0)])
def test_the_queue_hides_what_it_is_longer_than(gpu, queue, exposed):
    # GIVEN a queue on the GPU when the loop begins to wait for 30
    loop = Loop(gpu)
    gpu.launch(queue)

    # WHEN, and the GPU then goes on to its end
    loop.step(wait=30)
    gpu.now = 1000
    loop.waits.end()

    # THEN
    assert loop.noted == {0: exposed}


def test_a_loop_that_the_gpu_bounds_has_no_exposed_wait(gpu):
    # GIVEN
    loop = Loop(gpu)

    # WHEN steps wait for 10 and queue 25
    for _ in range(20):
        loop.step(wait=10, queue=25)
    gpu.now += 1000
    loop.waits.end()

    # THEN the first one alone waits on the GPU
    assert list(loop.noted.values()) == [10] + [0] * 19


def test_waits_whose_events_are_not_done_at_the_end_are_not_known(gpu):
    # GIVEN
    loop = Loop(gpu)
    loop.step(wait=5, queue=100)
    loop.step(wait=5)

    # WHEN
    loop.waits.end()

    # THEN
    assert loop.noted == {0: 5}
    assert not loop.step(wait=5)


def test_events_are_used_again(gpu):
    # GIVEN
    loop = Loop(gpu)

    # WHEN
    for _ in range(1000):
        loop.step(wait=5, queue=1)

    # THEN
    assert gpu.events == 2
    assert list(loop.noted.values()) == [5] + [4] * 998


def test_waits_are_not_measured_while_all_events_are_in_use(gpu, monkeypatch):
    # GIVEN room for two waits, and a queue longer than three of them
    monkeypatch.setattr(exposed_wait, "MOST_PAIRS", 2)
    loop = Loop(gpu)
    gpu.launch(100)

    # WHEN
    measured = [loop.step(wait=5) for _ in range(3)]
    gpu.now = 1000
    measured.append(loop.step(wait=5))

    # THEN
    assert measured == [True, True, False, True]
    assert (loop.noted, gpu.events) == ({0: 0, 5: 0}, 4)


def test_nothing_is_asked_of_cuda_until_the_job_initialises_it(gpu):
    # GIVEN
    gpu.initialized = False
    loop = Loop(gpu)

    # WHEN the job begins to use CUDA in the middle of the session
    before = loop.step(wait=5)
    gpu.initialized = True
    after = loop.step(wait=7)
    loop.waits.end()

    # THEN
    assert (before, after) == (False, True)
    assert loop.noted == {5: 7}


def test_a_job_without_pytorchs_cuda_measures_nothing(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch.cuda", raising=False)
    waits = ExposedWaits(pytest.fail)

    assert waits.begin() is None
    waits.end()


def test_a_forked_process_measures_nothing(gpu):
    # GIVEN a wait that is done
    loop = Loop(gpu)
    loop.step(wait=5)

    # WHEN
    child = os.fork()
    if child == 0:
        asked = loop.step(wait=5)
        loop.waits.end()
        os._exit(asked or gpu.asked or len(loop.noted))

    # THEN
    assert os.waitpid(child, 0)[1] == 0


def test_another_thread_measures_nothing(gpu):
    # GIVEN
    loop, measured = Loop(gpu), []

    # WHEN
    thread = threading.Thread(target=lambda: measured.append(loop.step(wait=5)))
    thread.start()
    thread.join()

    # THEN
    assert measured == [False]


def test_a_graph_that_is_captured_is_left_alone(gpu):
    # GIVEN
    loop = Loop(gpu)
    loop.step(wait=5)

    # WHEN
    gpu.capturing = True
    measured = loop.step(wait=5)
    loop.waits.end()

    # THEN
    assert (measured, gpu.asked) == (False, 0)


def test_a_wait_that_changes_the_device_is_not_measured_and_leaves_its_events(gpu, monkeypatch):
    # GIVEN room for one wait
    monkeypatch.setattr(exposed_wait, "MOST_PAIRS", 1)
    loop = Loop(gpu)

    # WHEN
    ending = loop.waits.begin()
    gpu.device = 1
    with pytest.raises(AssertionError):
        ending(0, 5 * MS)
    gpu.device = 0

    # THEN the next one has them
    assert loop.step(wait=7)
    loop.waits.end()
    assert (loop.noted, gpu.events) == ({0: 7}, 2)


def test_a_session_that_ends_lets_go_of_its_events(gpu):
    # GIVEN a wait that is done and one that is not
    loop = Loop(gpu)
    gpu.launch(7)
    loop.step(wait=5, queue=100)
    loop.step(wait=5)
    assert len(gpu.made) == 4

    # WHEN
    gc.disable()
    loop.waits.end()
    gc.enable()

    # THEN
    assert (loop.noted, len(gpu.made)) == ({0: 0}, 0)


def test_an_error_of_cuda_does_not_reach_what_ends_the_session(gpu):
    # GIVEN a wait that is not looked at yet
    loop = Loop(gpu)
    loop.step(wait=5)
    gpu.broken = True

    # WHEN
    loop.waits.end()

    # THEN
    assert loop.noted == {}


def test_each_device_has_events_of_its_own(gpu):
    # GIVEN
    loop = Loop(gpu)
    loop.step(wait=5)

    # WHEN
    gpu.device = 1
    loop.step(wait=6)
    loop.step(wait=7)
    loop.waits.end()

    # THEN
    assert loop.noted == {0: 5, 5: 6, 11: 7}


def test_an_error_of_cuda_is_left_to_the_job(gpu):
    # GIVEN
    loop = Loop(gpu)
    gpu.broken = True

    # WHEN / THEN
    assert not loop.step(wait=5)
    gpu.broken = False
    assert not loop.step(wait=5)
