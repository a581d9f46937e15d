"""Where reads and writes of C streams lie: the oracle is where the file has their bytes."""

import ctypes
import os
import subprocess

import pytest

import tfdarshan

SOURCE = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *file;

void open_file(const char *path, const char *mode) { file = fopen(path, mode); }
void open_descriptor(const char *path, const char *mode) { file = fdopen(open(path, O_RDWR), mode); }
void close_file(void) { fclose(file); }
void flush_file(void) { fflush(file); }
void go_to(long offset) { fseek(file, offset, SEEK_SET); }
void put(const char *text) { fwrite(text, 1, strlen(text), file); }
void put_quickly(int character) { putc_unlocked(character, file); }

int get(int count)
{
    char bytes[64];
    return (int)fread(bytes, 1, (size_t)count, file);
}

int get_items(int size, int count)
{
    char bytes[64];
    return (int)fread(bytes, (size_t)size, (size_t)count, file);
}

void put_many(int character, int count)
{
    static char bytes[1 << 16];
    memset(bytes, character, (size_t)count);
    fwrite(bytes, 1, (size_t)count, file);
}
"""
START = b"0123456789"


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    (folder / "streams.c").write_text(SOURCE)
    path = folder / "libstreams.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", path, folder / "streams.c"], check=True)
    return ctypes.CDLL(str(path))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(START)
    return path


def offsets(session, path, operation):
    """Return the offset and the length of each call on the file, in order."""
    calls = session.events[(session.events["path"] == str(path))]
    calls = calls[calls["operation"] == operation].sort_values("start_ns")
    return list(zip(calls["offset"].tolist(), calls["length"].tolist(), strict=True))


def places(path, *texts):
    """Return where the file has some texts that are in it once each."""
    content = path.read_bytes()
    return [(content.index(text), len(text)) for text in texts]


@pytest.mark.parametrize("opened", ["open_file", "open_descriptor"])
@pytest.mark.parametrize("mode", ["a", "a+"])
def test_writes_to_a_stream_that_appends(opened, mode, streams, path, tmp_path):
    # GIVEN a stream that appends to a file
    with tfdarshan.profile(tmp_path / "logs") as session:
        getattr(streams, opened)(os.fsencode(path), mode.encode())

        # WHEN it is written at once, elsewhere, with a flush between, and more than its buffer holds
        streams.put(b"abc")
        streams.put(b"de")
        streams.go_to(2)
        streams.put(b"fghi")
        streams.flush_file()
        streams.put(b"jk")
        streams.put_many(ord("l"), 10_000)
        streams.put(b"mno")
        streams.close_file()

    # THEN each write is where the file has it
    texts = (b"abc", b"de", b"fghi", b"jk", b"l" * 10_000, b"mno")
    assert path.read_bytes() == START + b"".join(texts)
    assert offsets(session, path, "fwrite") == places(path, *texts)


def test_reads_of_a_stream_that_appends(streams, path, tmp_path):
    # GIVEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        streams.open_file(os.fsencode(path), b"a+")

        # WHEN it is read, written, and read again
        assert streams.get(4) == 4
        streams.put(b"abc")
        streams.go_to(1)
        assert streams.get(20) == 12
        streams.close_file()

    # THEN reads begin at the start of the file, whose size they do not change
    assert offsets(session, path, "fread") == [(0, 4), (1, 12)]
    assert offsets(session, path, "fwrite") == places(path, b"abc")
    assert set(session.files[session.files["path"] == str(path)]["size_bytes"]) == {13}


def test_streams_that_append_to_one_file(streams, path, tmp_path):
    # GIVEN a stream and a descriptor that append to a file
    with tfdarshan.profile(tmp_path / "logs") as session:
        streams.open_file(os.fsencode(path), b"a")
        other = os.open(path, os.O_WRONLY | os.O_APPEND)

        # WHEN they take turns
        streams.put(b"abc")
        streams.flush_file()
        os.write(other, b"....")
        streams.put(b"de")
        streams.flush_file()
        os.close(other)
        streams.close_file()

    # THEN
    assert offsets(session, path, "fwrite") == places(path, b"abc", b"de")


def test_bytes_that_compiled_in_code_appends(streams, path, tmp_path):
    with tfdarshan.profile(tmp_path / "logs") as session:
        streams.open_file(os.fsencode(path), b"a+")
        streams.put(b"abc")
        streams.put_quickly(ord("d"))
        streams.put_quickly(ord("e"))
        streams.close_file()
    assert offsets(session, path, "fwrite") == places(path, b"abc", b"de")


def test_stream_that_was_read_before_the_session(streams, path, tmp_path):
    # GIVEN a stream with a buffer full of what was read ahead
    streams.open_file(os.fsencode(path), b"r")
    assert streams.get(3) == 3

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        assert streams.get(4) == 4
        streams.close_file()

    # THEN
    assert offsets(session, path, "fread") == [(3, 4)]


def test_stream_that_was_written_before_the_session(streams, path, tmp_path):
    # GIVEN a stream that has yet to write what is in its buffer
    streams.open_file(os.fsencode(path), b"w")
    streams.put(b"abc")

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        streams.put(b"de")
        streams.close_file()

    # THEN
    assert offsets(session, path, "fwrite") == places(path, b"de")


@pytest.mark.parametrize("items", [1, 5])
def test_an_item_that_is_there_in_part_does_not_end_the_file_before_itself(items, streams, path, tmp_path):
    # WHEN a file of 10 bytes is read in items of 4
    with tfdarshan.profile(tmp_path / "logs") as session:
        streams.open_file(os.fsencode(path), b"r")
        got = [streams.get_items(4, items) for _ in range(4)]
        streams.close_file()

    # THEN what counts is what the job was given, and the file ends where it does
    assert sum(got) == 2
    reads = offsets(session, path, "fread")
    assert [read for read in reads if read[1]] == ([(0, 4), (4, 4)] if items == 1 else [(0, 8)])
    assert {offset for offset, length in reads if not length} == {10}
    assert set(session.files[session.files["path"] == str(path)]["size_bytes"]) <= {10, -1}
