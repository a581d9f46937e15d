"""Python's own file I/O."""

from __future__ import annotations

import bz2
import dbm.dumb
import gzip
import json
import lzma
import mmap
import os
import pickle
import shutil
import tarfile
import tempfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DATA = bytes(range(256)) * 1000


def binary_file(directory: Path) -> None:
    with open(directory / "binary", "wb") as file:
        for start in range(0, len(DATA), 5000):
            file.write(DATA[start : start + 5000])
    with open(directory / "binary", "rb") as file:
        assert file.read(100) == DATA[:100]
        file.seek(100_000)
        assert file.read() == DATA[100_000:]


def text_file(directory: Path) -> None:
    with open(directory / "text", "w", encoding="utf-8") as file:
        file.writelines(f"line {number} \u00e9\n" for number in range(3000))
    with open(directory / "text", encoding="utf-8") as file:
        assert sum(1 for _ in file) == 3000


def unbuffered_file(directory: Path) -> None:
    with open(directory / "raw", "wb", buffering=0) as file:
        for _ in range(10):
            file.write(b"123")
    with open(directory / "raw", "rb", buffering=0) as file:
        assert [len(file.read(7)) for _ in range(6)] == [7, 7, 7, 7, 2, 0]


def append(directory: Path) -> None:
    for _ in range(3):
        with open(directory / "appended", "ab") as file:
            file.write(b"12345")
            file.flush()
            file.write(b"678")
    with open(directory / "appended", "a+b") as file:
        file.seek(0)
        assert len(file.read()) == 24


def prepare_update_in_place(directory: Path) -> None:
    (directory / "updated").write_bytes(DATA)


def update_in_place(directory: Path) -> None:
    with open(directory / "updated", "r+b") as file:
        assert file.read(10) == DATA[:10]
        file.seek(1000)
        file.write(b"new")
        file.seek(500)
        assert len(file.read(1000)) == 1000
        file.truncate(2000)


def read_whole_text(directory: Path) -> None:
    path = directory / "whole"
    path.write_text("some text\n" * 500)
    assert len(path.read_text()) == 5000
    path.write_bytes(b"")
    assert path.read_bytes() == b""


def descriptors(directory: Path) -> None:
    fd = os.open(directory / "file", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o640)
    assert os.write(fd, DATA) == len(DATA)
    assert os.pwrite(fd, b"1234567", 11) == 7
    os.lseek(fd, 0, os.SEEK_SET)
    assert len(os.read(fd, 13)) == 13
    assert len(os.pread(fd, 17, 1000)) == 17
    assert os.pread(fd, 17, 10_000_000) == b""
    os.posix_fallocate(fd, 0, 300_000)
    os.close(fd)


def vectors(directory: Path) -> None:
    fd = os.open(directory / "file", os.O_RDWR | os.O_CREAT)
    assert os.writev(fd, [b"123", b"4567"]) == 7
    assert os.pwritev(fd, [b"12", b"345"], 100) == 5
    assert os.pwritev(fd, [b"1", b"2"], 200, os.RWF_DSYNC) == 2
    os.lseek(fd, 0, os.SEEK_SET)
    assert os.readv(fd, [bytearray(3), bytearray(5)]) == 8
    assert os.preadv(fd, [bytearray(2), bytearray(2)], 100) == 4
    assert os.preadv(fd, [bytearray(1000)], 300, os.RWF_HIPRI) == 0
    os.close(fd)


def prepare_stats(directory: Path) -> None:
    (directory / "file").write_bytes(b"12345")
    (directory / "sub").mkdir()
    (directory / "sub" / "inner").write_bytes(b"123")


def stats(directory: Path) -> None:
    path = directory / "file"
    for _ in range(3):
        os.stat(path)
    os.lstat(path)
    assert path.exists()
    assert os.path.isfile(path)
    assert os.path.getsize(path) == 5
    with open(path, "rb") as file:
        os.fstat(file.fileno())
        os.stat(file.fileno())
    folder = os.open(directory / "sub", os.O_RDONLY | os.O_DIRECTORY)
    os.stat("inner", dir_fd=folder)
    os.close(os.open("inner", os.O_RDONLY, dir_fd=folder))
    os.close(folder)
    os.stat(directory / "sub")
    assert not os.path.exists(directory / "missing")


def directories(directory: Path) -> None:
    os.makedirs(directory / "one" / "two")
    for number in range(5):
        (directory / "one" / f"{number}.txt").write_text("x" * (number + 1))
    assert len(os.listdir(directory / "one")) == 6
    with os.scandir(directory / "one") as entries:
        assert sum(entry.stat().st_size for entry in entries if entry.is_file()) == 15
    assert len(list(directory.rglob("*.txt"))) == 5
    shutil.rmtree(directory / "one")


def _source_and_target(directory: Path) -> tuple[int, int]:
    source = os.open(directory / "source", os.O_RDONLY)
    return source, os.open(directory / "target", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)


def _write_source(directory: Path) -> None:
    (directory / "source").write_bytes(DATA)


prepare_sendfile = prepare_copy_file_range = prepare_splice = prepare_memory_map = _write_source
prepare_duplicates = _write_source


def sendfile(directory: Path) -> None:
    source, target = _source_and_target(directory)
    assert os.sendfile(target, source, 1000, 5000) == 5000
    assert os.sendfile(target, source, None, 3000) == 3000
    os.close(source)
    os.close(target)


def copy_file_range(directory: Path) -> None:
    source, target = _source_and_target(directory)
    assert os.copy_file_range(source, target, 70_000) == 70_000
    assert os.copy_file_range(source, target, 500, 10, 90_000) == 500
    os.close(source)
    os.close(target)


def splice(directory: Path) -> None:
    if not hasattr(os, "splice"):  # Python 3.9
        return
    source, target = _source_and_target(directory)
    read_end, write_end = os.pipe()
    assert os.splice(source, write_end, 10_000) == 10_000
    assert os.splice(read_end, target, 10_000) == 10_000
    for fd in (source, target, read_end, write_end):
        os.close(fd)


def memory_map(directory: Path) -> None:
    with open(directory / "source", "r+b") as file:
        with mmap.mmap(file.fileno(), 0) as mapped:
            assert mapped[:256] == DATA[:256]
            mapped[0:3] = b"new"
            mapped.flush()
        with mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_READ, offset=8192) as mapped:
            assert len(mapped) == 4096
    with mmap.mmap(-1, 4096) as anonymous:
        anonymous[0] = 1


def duplicates(directory: Path) -> None:
    fd = os.open(directory / "source", os.O_RDONLY)
    twin = os.dup(fd)
    os.dup2(fd, 200)
    os.close(fd)
    assert len(os.read(twin, 100)) == 100
    assert len(os.read(200, 100)) == 100
    other = os.open(directory / "other", os.O_WRONLY | os.O_CREAT)
    os.dup2(other, 200)  # closes the second duplicate of the source
    assert os.write(200, b"123") == 3
    for left in (twin, other, 200):
        os.close(left)
    with os.fdopen(os.open(directory / "source", os.O_RDONLY), "rb") as file:
        assert file.read(5) == DATA[:5]


def reused_numbers(directory: Path) -> None:
    for number in range(3):
        one = os.open(directory / f"{number}", os.O_WRONLY | os.O_CREAT)
        two = os.open(directory / f"{number}", os.O_RDONLY)
        os.write(one, b"12345")
        if number == 0:
            os.close(one)
            os.close(two)
            ends = os.pipe()
        elif number == 1:
            os.closerange(one, two + 1)
            ends = os.pipe()
        else:  # over the file's descriptors
            read_end, write_end = os.pipe()
            ends = os.dup2(read_end, one), os.dup2(write_end, two)
            os.close(read_end)
            os.close(write_end)
        assert set(ends) == {one, two}
        os.write(ends[1], b"x" * 1000)
        assert len(os.read(ends[0], 2000)) == 1000
        for end in ends:
            os.close(end)


_OPEN_FILES: list[int] = []


def prepare_opened_before(directory: Path) -> None:
    (directory / "early").write_bytes(DATA)
    _OPEN_FILES.append(os.open(directory / "early", os.O_RDWR))
    os.lseek(_OPEN_FILES[0], 1000, os.SEEK_SET)


def opened_before(directory: Path) -> None:
    fd = _OPEN_FILES.pop()
    assert len(os.read(fd, 500)) == 500
    assert os.write(fd, b"12345") == 5
    assert len(os.pread(fd, 100, 0)) == 100
    os.close(fd)
    fd = os.open(directory / "late", os.O_WRONLY | os.O_CREAT)  # most likely the same number
    assert os.write(fd, b"123") == 3
    os.close(fd)


def temporary_files(directory: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=directory) as file:
        file.write(b"12345")
        file.flush()
    fd, path = tempfile.mkstemp(dir=directory)
    os.write(fd, b"123")
    os.close(fd)
    os.unlink(path)
    with tempfile.SpooledTemporaryFile(max_size=10, dir=str(directory)) as file:
        file.write(b"x" * 100)


def rename_and_remove(directory: Path) -> None:
    (directory / "one").write_bytes(b"12345")
    (directory / "two").write_bytes(b"123")
    os.rename(directory / "one", directory / "three")
    os.replace(directory / "two", directory / "three")
    assert (directory / "three").read_bytes() == b"123"
    os.remove(directory / "three")


def truncate(directory: Path) -> None:
    with open(directory / "file", "wb") as file:
        file.write(b"x" * 1000)
        file.truncate(500)
    os.truncate(directory / "file", 100)
    fd = os.open(directory / "file", os.O_RDWR)
    os.ftruncate(fd, 2000)
    os.close(fd)


def sync(directory: Path) -> None:
    fd = os.open(directory / "file", os.O_WRONLY | os.O_CREAT)
    for _ in range(3):
        os.write(fd, b"123")
        os.fsync(fd)
        os.fdatasync(fd)
    os.close(fd)


def prepare_copyfile(directory: Path) -> None:
    (directory / "source").write_bytes(DATA)
    (directory / "empty").write_bytes(b"")


def copyfile(directory: Path) -> None:
    shutil.copyfile(directory / "source", directory / "one")
    shutil.copy2(directory / "source", directory / "two")
    shutil.copyfile(directory / "empty", directory / "none")
    with open(directory / "source", "rb") as source, open(directory / "three", "wb") as target:
        shutil.copyfileobj(source, target)


def prepare_copytree(directory: Path) -> None:
    for number in range(12):
        path = directory / "tree" / f"{number % 3}" / f"{number}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * (number * 1001))


def copytree(directory: Path) -> None:
    shutil.copytree(directory / "tree", directory / "copy")


prepare_move = prepare_copytree


def move(directory: Path) -> None:
    shutil.move(directory / "tree" / "0" / "0.bin", directory / "moved.bin")
    shutil.move(directory / "tree", directory / "wood")


def archives(directory: Path) -> None:
    with zipfile.ZipFile(directory / "data.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one", DATA)
        archive.writestr("two", DATA)
    with zipfile.ZipFile(directory / "data.zip") as archive:
        assert archive.read("two") == DATA


def compressed_files(directory: Path) -> None:
    for module, name in ((gzip, "data.gz"), (bz2, "data.bz2"), (lzma, "data.xz")):
        with module.open(directory / name, "wb") as file:
            file.write(DATA)
        with module.open(directory / name, "rb") as file:
            assert file.read() == DATA
    with tarfile.open(directory / "data.tar.gz", "w:gz") as archive:
        archive.add(directory / "data.xz", "data.xz")
    with tarfile.open(directory / "data.tar.gz") as archive:
        archive.extractall(directory / "extracted")


def pickle_and_json(directory: Path) -> None:
    value = {"numbers": list(range(5000)), "data": "x" * 100_000}
    with open(directory / "value.pickle", "wb") as file:
        pickle.dump(value, file)
    with open(directory / "value.pickle", "rb") as file:
        assert pickle.load(file) == value
    with open(directory / "value.json", "w") as file:
        json.dump(value, file)
    with open(directory / "value.json") as file:
        assert json.load(file) == value


def database(directory: Path) -> None:
    with dbm.dumb.open(str(directory / "database"), "n") as table:
        for number in range(50):
            table[str(number)] = "x" * number
    with dbm.dumb.open(str(directory / "database"), "r") as table:
        assert len(table["49"]) == 49


def prepare_threads(directory: Path) -> None:
    for number in range(64):
        (directory / f"{number}").write_bytes(b"x" * (1000 + number))


def threads(directory: Path) -> None:
    barrier = threading.Barrier(16)

    def read_all(_: int) -> None:
        barrier.wait()
        for number in range(64):
            assert len((directory / f"{number}").read_bytes()) == 1000 + number

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(read_all, range(16)))
