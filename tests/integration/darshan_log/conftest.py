"""Sessions whose exported logs the tests hand to PyDarshan."""

import os
import random
import threading

import numpy as np
import pytest

import tfdarshan
from tfdarshan.formats.export.darshan_log import export_darshan


def do_random_io(folder, seed, steps=120):
    """Make POSIX and STDIO calls of all kinds on a few files, chosen by the seed."""
    choice = random.Random(seed)
    paths = [folder / name for name in ("a", "b c", "d-ä", "e\tf")]
    for path in paths:
        path.write_bytes(bytes(choice.randrange(1, 300_000)))
    handles = [os.open(path, os.O_RDWR) for path in paths]
    for _ in range(steps):
        handle = choice.choice(handles)
        size, offset = choice.choice((0, 1, 512, 4_096, 70_000)), choice.randrange(400_000)
        call, *arguments = choice.choice(
            (
                (os.read, size),
                (os.pread, size, offset),
                (os.write, bytes(size)),
                (os.pwrite, bytes(size), offset),
                (os.writev, [bytes(size), bytes(3)]),
                (os.lseek, offset, os.SEEK_SET),
                (os.fsync,),
                (os.fstat,),
            )
        )
        call(handle, *arguments)
    with pytest.raises(OSError):
        os.pread(handles[0], 100, -1)
    for handle in handles:
        os.close(handle)
    np.arange(choice.randrange(10, 5_000)).tofile(folder / "array.bin")
    np.fromfile(folder / "array.bin")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A session of an owner with four threads, and two children."""
    folder = tmp_path_factory.mktemp("io")
    with tfdarshan.profile(tmp_path_factory.mktemp("logs"), spool_dir=folder) as profile:
        do_random_io(folder, 1)
        folders = [folder / str(number) for number in range(3)]
        for each in folders:
            each.mkdir()
        threads = [threading.Thread(target=do_random_io, args=(each, 2)) for each in folders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for seed in (3, 4):
            child = os.fork()
            if child == 0:
                do_random_io(folder, seed)
                os._exit(0)
            os.waitpid(child, 0)
    return tfdarshan.open_session(profile.path)


@pytest.fixture(scope="module")
def log(session, tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "job.darshan"
    export_darshan(session, path)
    return path


@pytest.fixture(scope="module")
def report(log):
    from tests.pydarshan import darshan

    return darshan.DarshanReport(str(log), read_all=True)
