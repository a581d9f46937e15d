"""Bytes that compiled-in code moves through a C stream: the oracle is the length of the file."""

import ctypes
import os
import subprocess
import sys

import pytest

import tfdarshan

SOURCE = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static FILE *file;

void open_file(const char *path, const char *mode) { file = fopen(path, mode); }
void close_file(void) { fclose(file); }
void unbuffer(void) { setvbuf(file, NULL, _IONBF, 0); }
void buffer_lines(void) { setvbuf(file, NULL, _IOLBF, 1 << 16); }

void put(int count)
{
    for (int i = 0; i < count; i++)
        putc_unlocked(i % 80 ? 'x' : '\\n', file);
}

int get(int count)
{
    int got = 0;
    while (got < count && getc_unlocked(file) != EOF)
        got++;
    return got;
}

void give_back(void) { ungetc('x', file); }

static void *put_lines(void *unused)
{
    for (int i = 0; i < 5000; i++) {
        fputs("some text\\n", file);
        fputc('x', file);
        fprintf(file, "%05d", i);
    }
    return unused;
}

/* Each 5,000 times 16 bytes. */
void put_by_threads(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, put_lines, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

void put_and_wait(int count, const char *text)
{
    put(count);
    fputs(text, file);
    put(count);
}
"""


@pytest.fixture(scope="module")
def library_path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    (folder / "streams.c").write_text(SOURCE)
    path = folder / "libstreams.so"
    command = ["gcc", "-O2", "-shared", "-fPIC", "-pthread", "-o", path, folder / "streams.c"]
    subprocess.run(command, check=True)
    return path


@pytest.fixture
def streams(library_path):
    return ctypes.CDLL(str(library_path))


def bytes_of(session, path):
    """Return the bytes read and written of the file's streams, counted and by its events."""
    rows = session.files[(session.files["path"] == str(path)) & (session.files["module"] == "STDIO")]
    events = session.events[session.events["path"] == str(path)]
    counted = (int(rows["STDIO_BYTES_READ"].sum()), int(rows["STDIO_BYTES_WRITTEN"].sum()))
    moved = tuple(
        int(events["length"][events["operation"] == operation].sum()) for operation in ("fread", "fwrite")
    )
    assert counted == moved
    return counted


@pytest.mark.parametrize("buffering", ["fully", "unbuffer", "buffer_lines"])
def test_inlined_calls(buffering, streams, tmp_path):
    # GIVEN a stream
    path = tmp_path / "file"
    with tfdarshan.profile(tmp_path / "logs") as session:
        streams.open_file(os.fsencode(path), b"w+")
        if buffering != "fully":
            getattr(streams, buffering)()

        # WHEN compiled-in code writes to it and reads from it, and a character is given back
        streams.put(10_000)
        streams.close_file()
        streams.open_file(os.fsencode(path), b"r")
        streams.get(5)
        streams.give_back()
        got = streams.get(20_000)
        streams.close_file()

    # THEN each byte is counted
    assert path.stat().st_size == 10_000 == got - 1 + 5
    assert bytes_of(session, path) == (10_001, 10_000)


def test_stream_that_stays_open(streams, tmp_path):
    # GIVEN a stream whose last bytes are in its buffer when the session stops
    path = tmp_path / "file"
    with tfdarshan.profile(tmp_path / "logs") as session:
        streams.open_file(os.fsencode(path), b"w")
        streams.put(100_000)
    streams.put(7)
    streams.close_file()

    # THEN what was written until then is counted
    assert path.stat().st_size == 100_007
    assert bytes_of(session, path) == (0, 100_000)


def test_stream_of_an_earlier_session(streams, tmp_path):
    # GIVEN a stream that is used in a session, after it, and in the next one
    path = tmp_path / "file"
    with tfdarshan.profile(tmp_path / "first") as first:
        streams.open_file(os.fsencode(path), b"w")
        streams.put_and_wait(100, b"text")
    streams.put_and_wait(100, b"text")

    # WHEN
    with tfdarshan.profile(tmp_path / "second") as second:
        streams.put_and_wait(1000, b"text")
        streams.put_and_wait(1000, b"text")
        streams.close_file()

    # THEN what lies between them is counted in none, nor what a session's first call on it finds done
    assert path.stat().st_size == 2 * 204 + 2 * 2004
    assert bytes_of(first, path) == (0, 204)
    assert bytes_of(second, path) == (0, 2 * 2004 - 1000)


def test_threads_that_share_a_stream(streams, tmp_path):
    path = tmp_path / "file"
    with tfdarshan.profile(tmp_path / "logs") as session:
        streams.open_file(os.fsencode(path), b"w")
        streams.put_by_threads()
        streams.close_file()
    assert bytes_of(session, path) == (0, path.stat().st_size) == (0, 4 * 5000 * 16)


def test_process_that_ends_with_an_open_stream(library_path, tmp_path):
    # GIVEN a child that never closes its stream
    path = tmp_path / "file"
    program = (
        "import ctypes, sys\n"
        "streams = ctypes.CDLL(sys.argv[1])\n"
        "streams.open_file(sys.argv[2].encode(), b'w')\n"
        "streams.put(5000)\n"
    )

    # WHEN it ends
    with tfdarshan.profile(tmp_path / "logs") as session:
        subprocess.run([sys.executable, "-c", program, library_path, path], check=True)

    # THEN what the C library wrote at its end is counted
    assert bytes_of(session, path) == (0, path.stat().st_size) == (0, 5000)
