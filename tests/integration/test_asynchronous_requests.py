"""How long a request of POSIX asynchronous I/O lasts, and what becomes of those that fail."""

import ctypes
import os
import subprocess

import pytest

import tfdarshan

SOURCE = """
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <sched.h>
#include <unistd.h>

static char data[1000];
static struct aiocb request;

static void hand_in(int fd)
{
    request = (struct aiocb){.aio_fildes = fd, .aio_buf = data, .aio_nbytes = 1000};
    request.aio_sigevent.sigev_notify = SIGEV_NONE;
    aio_read(&request);
}

static void look_away(void)
{
    while (*(volatile int *)&request.__error_code == EINPROGRESS)
        sched_yield();
}

/* Asks for the outcome only after another call. */
int ask_late(int fd, int other)
{
    hand_in(fd);
    look_away();
    pread(other, data, 77, 0);
    return (int)aio_return(&request);
}

/* The number is another file's when the outcome is asked for. */
int use_number_again(int fd, int other)
{
    hand_in(fd);
    look_away();
    dup2(other, fd);
    return (int)aio_return(&request);
}

int fail(int fd)
{
    hand_in(fd);
    look_away();
    return aio_error(&request);
}
"""


@pytest.fixture(scope="module")
def requests(tmp_path_factory):
    folder = tmp_path_factory.mktemp("requests")
    (folder / "requests.c").write_text(SOURCE)
    library = folder / "librequests.so"
    subprocess.run(
        ["gcc", "-O2", "-shared", "-fPIC", "-o", library, folder / "requests.c", "-lrt"], check=True
    )
    return ctypes.CDLL(str(library))


@pytest.fixture
def files(tmp_path):
    """Two files of 1,000 bytes and their descriptors."""
    made = []
    for name in ("first", "second"):
        (tmp_path / name).write_bytes(b"x" * 1000)
        made.append((str(tmp_path / name), os.open(tmp_path / name, os.O_RDONLY)))
    yield made
    for _, descriptor in made:
        os.close(descriptor)


def reads_of(session, path):
    return session.events[(session.events["path"] == path) & (session.events["operation"] == "pread")]


def test_who_asks_late_makes_a_request_no_longer(requests, files, tmp_path):
    (path, descriptor), (other_path, other) = files
    with tfdarshan.profile(tmp_path / "logs") as session:
        assert requests.ask_late(descriptor, other) == 1000
    request, other_read = reads_of(session, path).iloc[0], reads_of(session, other_path).iloc[0]
    assert (request["length"], request["offset"], other_read["length"]) == (1000, 0, 77)
    assert request["start_ns"] < request["end_ns"] <= other_read["start_ns"]


def test_request_belongs_to_the_file_it_was_made_of(requests, files, tmp_path):
    (path, descriptor), (other_path, other) = files
    with tfdarshan.profile(tmp_path / "logs") as session:
        assert requests.use_number_again(descriptor, other) == 1000
    assert reads_of(session, path)["length"].tolist() == [1000]
    assert reads_of(session, other_path)["length"].tolist() == []


def test_failed_request(requests, files, tmp_path):
    path = files[0][0]
    descriptor = os.open(path, os.O_WRONLY)
    with tfdarshan.profile(tmp_path / "logs") as session:
        error = requests.fail(descriptor)
    os.close(descriptor)
    assert reads_of(session, path)["error"].tolist() == [error]
    assert session.files[session.files["path"] == path].iloc[0]["TFD_FAILED_CALLS"] == 1
