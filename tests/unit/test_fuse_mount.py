"""The slow FUSE server, held against its own model.

What a model forbids is bounded below, which a busy machine keeps; what it allows is shown by many calls that
take far less than they would one after another.
"""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tfdarshan.errors import ConfigurationError, StorageError
from tfdarshan.workloads.fuse_mount import build_server, check_fuse, described, fuse_mount

FILES = 16
SIZE = 500_000


def possible() -> bool:
    """Return whether this machine lets this user mount by FUSE."""
    try:
        check_fuse()
    except ConfigurationError:
        return False
    return True


needs_fuse = pytest.mark.skipif(not possible(), reason="needs root, /dev/fuse, gcc and Debian's libfuse3-dev")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return build_server(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def backing(tmp_path_factory):
    folder = tmp_path_factory.mktemp("backing")
    for number in range(FILES):
        (folder / f"{number:02}").write_bytes(os.urandom(SIZE))
    return folder


def read_all(folder: Path, readers: int = 1, names: str = "*") -> float:
    """Read each file by one call, so many at a time; return the seconds."""

    def read(path: Path) -> None:
        file = os.open(path, os.O_RDONLY)
        assert len(os.read(file, SIZE + 1)) == SIZE
        os.close(file)

    start_s = time.perf_counter()
    with ThreadPoolExecutor(readers) as pool:
        list(pool.map(read, sorted(folder.glob(names))))
    return time.perf_counter() - start_s


def test_without_root_or_device_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(ConfigurationError, match="which is not there"):
        check_fuse(tmp_path / "fuse")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ConfigurationError, match="needs root"):
        check_fuse()


def test_without_a_program_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ConfigurationError, match=r"gcc, pkg-config, fusermount3: apt-get install .*libfuse3-dev"
    ):
        check_fuse(tmp_path)


@needs_fuse
@pytest.mark.parametrize("readers", [1, 4])
@pytest.mark.parametrize("page_cache", [0, 1])
def test_a_pipe_is_as_wide_for_four_readers_as_for_one(server, backing, tmp_path, readers, page_cache):
    model = {"bandwidth": 20e6, "page_cache": page_cache}
    with fuse_mount(server, backing, tmp_path / "slow", model) as mount:
        mount.begin()
        # The kernel may read ahead, but every byte has passed the pipe before it is given.
        assert read_all(mount.mount_point, readers) >= FILES * SIZE / 20e6


@needs_fuse
@pytest.mark.parametrize("readers", [1, 4])
def test_calls_a_second_are_shared(server, backing, tmp_path, readers):
    model = {"operations_per_s": 100, "page_cache": 0}
    with fuse_mount(server, backing, tmp_path / "slow", model) as mount:
        mount.begin()
        # An open and a read, at the least, of each file.
        assert read_all(mount.mount_point, readers) >= 2 * FILES / 100


@needs_fuse
def test_latencies_pass_side_by_side_up_to_the_number_that_may(server, backing, tmp_path):
    wait_s = 0.1
    with fuse_mount(server, backing, tmp_path / "a", {"open_s": wait_s, "concurrency": 64}) as mount:
        mount.begin()
        assert read_all(mount.mount_point, 1) >= FILES * wait_s
        # One after another they take 1.6 s.
        assert read_all(mount.mount_point, FILES) < FILES * wait_s
    with fuse_mount(server, backing, tmp_path / "b", {"open_s": wait_s, "concurrency": 2}) as mount:
        mount.begin()
        assert read_all(mount.mount_point, FILES) >= FILES * wait_s / 2


@needs_fuse
def test_a_bucket_gives_its_burst_at_once_and_the_rest_at_its_rate(server, backing, tmp_path):
    whole = FILES * SIZE
    with fuse_mount(server, backing, tmp_path / "slow", {"bucket_rate": 4e6, "bucket_burst": 4e6}) as mount:
        mount.begin()
        assert read_all(mount.mount_point) >= (whole - 4e6) / 4e6
    with fuse_mount(server, backing, tmp_path / "slow", {"bucket_rate": 1e5, "bucket_burst": 1e8}) as mount:
        mount.begin()
        # At its rate alone it would take 80 s.
        assert read_all(mount.mount_point) < whole / 1e5


@needs_fuse
def test_only_what_does_not_go_on_seeks(server, backing, tmp_path):
    model = {"seek_s": 0.05, "page_cache": 0}
    with fuse_mount(server, backing, tmp_path / "slow", model) as mount:
        mount.begin()
        file = os.open(mount.mount_point / "00", os.O_RDONLY)
        start_s = time.perf_counter()
        for number in range(40):
            os.pread(file, 4096, number * 4096)
        in_order_s = time.perf_counter() - start_s
        start_s = time.perf_counter()
        for number in reversed(range(40)):
            os.pread(file, 4096, number * 4096)
        backwards_s = time.perf_counter() - start_s
        os.close(file)
    assert backwards_s >= 40 * 0.05
    assert in_order_s < 40 * 0.05


@needs_fuse
def test_one_path_is_slow_and_the_others_are_not(server, backing, tmp_path):
    model = {"open_s": 0.002, "slow_path": "/03", "path_times": 400}
    with fuse_mount(server, backing, tmp_path / "slow", model) as mount:
        mount.begin()
        assert read_all(mount.mount_point, names="03") >= 0.8
        # All of them as slow would take 12 s.
        assert read_all(mount.mount_point, names="[01][012456789]") < 12 * 0.8


@needs_fuse
def test_slowness_comes_and_goes(server, backing, tmp_path):
    always = {"open_s": 0.001, "slow_for_s": 1000, "slow_every_s": 2000, "slow_times": 100}
    with fuse_mount(server, backing, tmp_path / "slow", always) as mount:
        mount.begin()
        assert read_all(mount.mount_point) >= FILES * 0.1
    never = always | {"slow_for_s": 0}
    with fuse_mount(server, backing, tmp_path / "slow", never) as mount:
        mount.begin()
        assert read_all(mount.mount_point) < FILES * 0.1


@needs_fuse
def test_the_servers_cache_keeps_what_was_used_last(server, backing, tmp_path):
    # GIVEN room for half of the data, and 10 MB/s without it
    model = {"bandwidth": 5e6, "page_cache": 0, "server_cache": FILES * SIZE / 2}
    with fuse_mount(server, backing, tmp_path / "slow", model) as mount:
        mount.begin()
        fetch_s = 4 * SIZE / 5e6
        assert read_all(mount.mount_point, names="0[0-3]") >= fetch_s
        # WHEN the same is read again THEN it is not fetched
        assert read_all(mount.mount_point, names="0[0-3]") < fetch_s
        # WHEN more than fits was read meanwhile THEN it is
        assert read_all(mount.mount_point, names="[01][4-9]") >= fetch_s
        assert read_all(mount.mount_point, names="1[0-3]") >= fetch_s
        assert read_all(mount.mount_point, names="0[0-3]") >= fetch_s


@needs_fuse
def test_nothing_takes_time_before_it_begins_and_the_kernel_caches_if_it_may(server, backing, tmp_path):
    model = {"bandwidth": 1e6, "read_s": 1}
    with fuse_mount(server, backing, tmp_path / "slow", model) as mount:
        # At this pace it would take more than 16 s, now and then.
        assert read_all(mount.mount_point) < FILES
        mount.begin()
        assert read_all(mount.mount_point) < FILES


@needs_fuse
def test_stats_empty_reads_writes_and_syncs_have_their_own_times(server, tmp_path):
    backing = tmp_path / "data"
    backing.mkdir()
    (backing / "a").write_bytes(b"12345678")
    model = {"stat_s": 0.05, "empty_read_s": 0.1, "write_s": 0.15, "sync_s": 0.2, "page_cache": 0}
    with fuse_mount(server, backing, tmp_path / "slow", model) as mount:
        mount.begin()
        path = mount.mount_point / "a"

        def timed(call) -> float:
            start_s = time.perf_counter()
            call()
            return time.perf_counter() - start_s

        assert timed(lambda: [os.stat(path) for _ in range(4)]) >= 4 * 0.05
        file = os.open(path, os.O_RDWR)
        assert timed(lambda: os.pread(file, 8, 8)) >= 0.1
        assert timed(lambda: os.pwrite(file, b"new", 0)) >= 0.15
        assert timed(lambda: os.fsync(file)) >= 0.2
        os.close(file)
    assert (backing / "a").read_bytes() == b"new45678"


@needs_fuse
def test_it_passes_everything_through(server, tmp_path):
    backing = tmp_path / "data"
    backing.mkdir()
    with fuse_mount(server, backing, tmp_path / "slow", {}) as mount:
        there = mount.mount_point
        (there / "folder").mkdir()
        (there / "folder" / "a").write_bytes(b"some bytes")
        (there / "folder" / "a").rename(there / "b")
        os.truncate(there / "b", 4)
        (there / "c").write_text("")
        (there / "c").unlink()
        (there / "folder").rmdir()
        assert sorted(path.name for path in there.iterdir()) == ["b"]
    assert {path.name: path.read_bytes() for path in backing.iterdir()} == {"b": b"some"}


@needs_fuse
@pytest.mark.parametrize("model", [{"reads_s": 1}, {"read_s": "fast"}, {"concurrency": 0}, {"read_s": -1}])
def test_a_model_that_it_does_not_understand_is_refused(server, backing, tmp_path, model):
    with pytest.raises(StorageError, match="slow_storage: "):
        with fuse_mount(server, backing, tmp_path / "slow", model):
            pass


@needs_fuse
def test_nothing_of_it_stays(server, backing, tmp_path, monkeypatch):
    # GIVEN a file that is still open when it is to end
    monkeypatch.setattr("tfdarshan.workloads.fuse_mount.ENDS_WITHIN_S", 0.5)
    with fuse_mount(server, backing, tmp_path / "slow", {}) as mount:
        held = (mount.mount_point / "00").open("rb")
    held.close()
    assert not (tmp_path / "slow").is_mount()
    assert str(tmp_path / "slow") not in Path("/proc/self/mounts").read_text()
    assert subprocess.run(["kill", "-0", str(mount.server)], capture_output=True).returncode


def test_a_model_is_one_line():
    assert described({"read_s": 0.003, "slow_path": "/a/"}) == "read_s=0.003 slow_path=/a/"
