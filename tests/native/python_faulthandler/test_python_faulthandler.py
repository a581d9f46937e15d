"""Signals whose handlers write, as faulthandler's and asyncio's wake-up descriptor do, at a high rate."""

from tests.native.python_script import counted, run_profiled

READS = 20_000

FAULTHANDLER = """
    import faulthandler, os, signal, sys, threading
    import tfdarshan

    data, log, reads = sys.argv[1], open(sys.argv[2], "wb"), int(sys.argv[3])
    faulthandler.register(signal.SIGUSR1, file=log, all_threads=False)
    done = threading.Event()

    def pester():
        while not done.is_set():
            os.kill(os.getpid(), signal.SIGUSR1)

    with tfdarshan.profile("logs"):
        thread = threading.Thread(target=pester)
        thread.start()
        handle = os.open(data, os.O_RDONLY)
        for _ in range(reads):
            os.pread(handle, 1, 0)
        os.close(handle)
        done.set()
        thread.join()
    faulthandler.unregister(signal.SIGUSR1)
    assert os.path.getsize(sys.argv[2]) > 0
"""

WAKEUP = """
    import os, signal, socket, sys
    import tfdarshan

    data, reads = sys.argv[1], int(sys.argv[2])
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGALRM, lambda number, frame: None)
    with tfdarshan.profile("logs"):
        signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
        handle = os.open(data, os.O_RDONLY)
        for _ in range(reads):
            os.pread(handle, 1, 0)
        os.close(handle)
        signal.setitimer(signal.ITIMER_REAL, 0)
    signal.set_wakeup_fd(-1)
    assert len(ours.recv(1 << 20)) > 0
"""


def test_faulthandler_register_neither_hangs_nor_costs_an_event(tmp_path):
    # GIVEN a traceback written by a signal handler, thousands of times
    data, log = tmp_path / "data", tmp_path / "log"
    data.write_bytes(b"x")

    # WHEN they come in while reads are recorded
    session = run_profiled(tmp_path, FAULTHANDLER, str(data), str(log), str(READS))

    # THEN the job ended, and all its reads are there
    assert counted(session, data, "POSIX_READS") == READS
    assert counted(session, data, "POSIX_OPENS") == 1
    assert 0 < counted(session, log, "POSIX_BYTES_WRITTEN") <= log.stat().st_size


def test_wakeup_descriptor_neither_hangs_nor_costs_an_event(tmp_path):
    # GIVEN a handler of Python's own that writes a byte to a socket
    data = tmp_path / "data"
    data.write_bytes(b"x")

    # WHEN
    session = run_profiled(tmp_path, WAKEUP, str(data), str(READS))

    # THEN
    assert counted(session, data, "POSIX_READS") == READS
