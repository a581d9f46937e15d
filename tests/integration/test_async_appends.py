"""Asynchronous writes that append: the oracle is where the file has their bytes."""

import ctypes
import os
import subprocess

import pytest

import tfdarshan

SOURCE = """
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define COUNT 5

/* 100, 99, 98 ... bytes of 'a', 'b', 'c' ...; all under way at once, or one after the other. */
int append(const char *path, int at_once)
{
    static char data[COUNT][100];
    struct aiocb requests[COUNT];
    int fd = open(path, O_WRONLY | O_APPEND);
    for (int i = 0; i < COUNT; i++) {
        memset(data[i], 'a' + i, 100);
        requests[i] = (struct aiocb){.aio_fildes = fd, .aio_buf = data[i], .aio_nbytes = 100 - i};
        requests[i].aio_offset = 7 * i;
        requests[i].aio_sigevent.sigev_notify = SIGEV_NONE;
        if (aio_write(&requests[i]))
            return -1;
        const struct aiocb *list[] = {&requests[i]};
        while (!at_once && aio_error(&requests[i]) == EINPROGRESS)
            aio_suspend(list, 1, NULL);
        if (!at_once && aio_return(&requests[i]) != 100 - i)
            return -1;
    }
    for (int i = 0; at_once && i < COUNT; i++) {
        const struct aiocb *list[] = {&requests[i]};
        while (aio_error(&requests[i]) == EINPROGRESS)
            aio_suspend(list, 1, NULL);
        if (aio_return(&requests[i]) != 100 - i)
            return -1;
    }
    return close(fd);
}
"""


@pytest.fixture(scope="module")
def appender(tmp_path_factory):
    folder = tmp_path_factory.mktemp("appends")
    (folder / "appends.c").write_text(SOURCE)
    path = folder / "libappends.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", path, folder / "appends.c", "-lrt"], check=True)
    return ctypes.CDLL(str(path))


@pytest.mark.parametrize("at_once", [False, True])
def test_offsets_are_where_the_bytes_are(appender, tmp_path, at_once):
    # GIVEN a file of 1,003 bytes
    path = tmp_path / "file"
    path.write_bytes(b"." * 1_003)

    # WHEN requests append to it, somebody cuts it off, and they append again
    with tfdarshan.profile(tmp_path / "logs") as session:
        assert appender.append(os.fsencode(path), at_once) == 0
        first = path.read_bytes()
        os.truncate(path, 50)
        assert appender.append(os.fsencode(path), at_once) == 0

    # THEN
    events = session.events[session.events["path"] == str(path)].query("operation == 'pwrite'")
    found = sorted(zip(events["offset"], events["length"], strict=True))
    texts = [bytes([97 + number]) * (100 - number) for number in range(5)]
    where = [(content.index(text), len(text)) for content in (first, path.read_bytes()) for text in texts]
    assert found == sorted(where)
