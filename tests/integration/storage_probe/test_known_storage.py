"""A probe of storage of a known kind: the laboratory's FUSE server. Bounds are wide, for busy machines."""

import json

import pytest

from tests.integration.storage_probe.fuse_storage import (
    make_files,
    make_server,
    needs_fuse,
    storage,
    tried_again,
)
from tfdarshan.commands import main

pytestmark = needs_fuse


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return make_server(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def backing(tmp_path_factory):
    """24 files of 4 MB."""
    return make_files(tmp_path_factory.mktemp("backing") / "files", 24, 4_000_000)


def probed(capsys, folder, *more):
    """Return what `tfdarshan probe` says."""
    code = main(["probe", str(folder), "--json", *more])
    said = capsys.readouterr()
    assert code == 0, said.err
    return json.loads(said.out)["probes"][0]


def at_depth(scaling, readers):
    return next(level for level in scaling["levels"] if level["readers"] == readers)


@tried_again
def test_latency_of_5_ms_for_16_at_a_time(capsys, server, backing, tmp_path):
    with storage(server, backing, tmp_path / "m", open_s=0.005, read_s=0.005, concurrency=16) as folder:
        found = probed(capsys, folder)

    # THEN a read and an open take that, and 16 readers get many times what one does
    assert 0.005 <= found["latency_s"] < 0.015
    assert 0.005 <= found["open_s"] < 0.015
    small = found["small"]
    times = at_depth(small, 16)["calls_per_s"] / at_depth(small, 1)["calls_per_s"]
    assert 5 < times < 20
    assert small["high"] < 0.5
    assert found["mount_point"] == str(tmp_path / "m")
    assert found["fs_type"].startswith("fuse")


@tried_again
def test_a_pipe_of_30_mb_a_second(capsys, server, backing, tmp_path):
    with storage(server, backing, tmp_path / "m", bandwidth=30e6) as folder:
        found = probed(capsys, folder)

    # THEN no number of readers gets more, and small reads wait for little
    large = found["large"]
    assert 15e6 < at_depth(large, 1)["bytes_per_s"] < 33e6
    assert 20e6 < at_depth(large, 16)["bytes_per_s"] < 33e6
    assert large["low"] > 0.5
    assert 15e6 < 1 / found["s_per_byte"] < 45e6
    assert found["base_s"] < 0.3 * large["levels"][0]["call_s"]


@tried_again
def test_240_calls_a_second(capsys, server, backing, tmp_path):
    with storage(server, backing, tmp_path / "m", operations_per_s=240) as folder:
        found = probed(capsys, folder)

    # THEN that is what any number of readers gets, of small reads and of large ones
    for scaling in (found["small"], found["large"]):
        assert all(150 < level["calls_per_s"] < 260 for level in scaling["levels"])
        assert scaling["low"] > 0.4
    # THEN a byte costs next to nothing: it is calls that are limited
    assert found["base_s"] > 0.8 * found["large"]["levels"][0]["call_s"]


@tried_again
def test_what_storage_lends_is_not_its_bandwidth(capsys, server, backing, tmp_path):
    # GIVEN 20 MB/s, and 6 MB at once whenever that was saved up
    with storage(server, backing, tmp_path / "m", bucket_rate=20e6, bucket_burst=6e6) as folder:
        found = probed(capsys, folder)

    # THEN nobody takes it for storage that gives more to more readers
    large = found["large"]
    assert at_depth(large, 16)["bytes_per_s"] < 60e6
    assert large["high"] > 0.6


@tried_again
def test_what_is_in_the_page_cache_is_said_and_not_measured(capsys, server, backing, tmp_path):
    # GIVEN files that were all read, on a mount that keeps pages
    with storage(server, backing, tmp_path / "m", page_cache=1, read_s=0.001) as folder:
        for path in folder.iterdir():
            path.read_bytes()

        # WHEN
        code = main(["probe", str(folder)])

    said = capsys.readouterr()
    assert (code, said.out) == (1, "")
    assert "was not measured: nearly all of the data that was looked at is in the page cache" in said.err
    assert said.err.count("\n") == 1


@tried_again
def test_a_share_in_the_page_cache_is_left_out(capsys, server, backing, tmp_path):
    # GIVEN 12 of 24 files that were read, on a mount that keeps pages and answers in 5 ms
    with storage(server, backing, tmp_path / "m", page_cache=1, read_s=0.005) as folder:
        for path in sorted(folder.iterdir())[:12]:
            path.read_bytes()
        found = probed(capsys, folder)

    # THEN what was measured is storage, and not memory
    assert 0.2 < found["cached_share"] < 0.8
    assert found["latency_s"] >= 0.005


@tried_again
def test_its_own_reads_leave_it_nothing_twice(capsys, server, tmp_path):
    # GIVEN 2 MB of files on a mount that keeps pages, all of which one probe reads through the page cache
    backing = make_files(tmp_path / "few", 4, 500_000)
    model = {"page_cache": 1, "refuses_direct": 1, "read_s": 0.005}
    with storage(server, backing, tmp_path / "m", **model) as folder:
        main(["probe", str(folder)])
        capsys.readouterr()

        # WHEN another one comes
        code = main(["probe", str(folder)])

    # THEN it does not take the first one's reads for storage
    assert code == 1
    assert "page cache" in capsys.readouterr().err


@tried_again
def test_reads_past_the_page_cache_leave_nothing_in_it(capsys, server, backing, tmp_path):
    # GIVEN a mount that keeps pages, and takes O_DIRECT
    with storage(server, backing, tmp_path / "m", page_cache=1, read_s=0.005) as folder:
        probed(capsys, folder)

        # WHEN another probe comes
        found = probed(capsys, folder)

    # THEN it finds nothing of the first one's, and measures storage
    assert found["cached_share"] == 0
    assert found["latency_s"] >= 0.005


@tried_again
def test_one_slow_file_is_named(capsys, server, backing, tmp_path):
    with storage(server, backing, tmp_path / "m", read_s=0.003, slow_path="/0007", path_times=20) as folder:
        found = probed(capsys, folder)
        assert main(["probe", str(folder)]) == 0

    (path, times), *others = found["places"]["slow_files"]
    assert (path, others) == (str(folder / "0007"), [])
    assert times > 5
    # THEN the others are no full storage
    assert found["small"]["high"] < 0.7
    assert "1 of " in capsys.readouterr().out


@tried_again
def test_slow_times_are_no_slow_files(capsys, server, backing, tmp_path):
    model = {"read_s": 0.003, "slow_for_s": 0.3, "slow_every_s": 1, "slow_times": 15}
    with storage(server, backing, tmp_path / "m", **model) as folder:
        found = probed(capsys, folder, "--bytes", "200M")

    assert found["places"]["slow_files"] == []
    assert 0.05 < found["places"]["slow_share"] < 0.7
    assert found["places"]["slow_times"] > 4


@tried_again
def test_text_says_it_at_once(capsys, server, backing, tmp_path):
    with storage(server, backing, tmp_path / "m", read_s=0.005, concurrency=16) as folder:
        assert main(["probe", str(folder), "--seconds", "2"]) == 0

    text = " ".join(capsys.readouterr().out.split())
    for part in (
        f"{folder} (fuse",
        "an open",
        "a read of 4.1 kB",
        "MB/s by one reader",
        "readers at a time 1 2 4 8 16",
        "16 readers get",
        "Page cache: 0.0 % of the parts",
        "of 24 files",
    ):
        assert part in text


@tried_again
def test_it_writes_nothing_where_the_data_is(capsys, server, backing, tmp_path):
    before = {path.name: path.stat() for path in backing.iterdir()}
    with storage(server, backing, tmp_path / "m") as folder:
        probed(capsys, folder, "--seconds", "1")

    after = {path.name: path.stat() for path in backing.iterdir()}
    assert {name: (found.st_size, found.st_mtime_ns) for name, found in after.items()} == {
        name: (found.st_size, found.st_mtime_ns) for name, found in before.items()
    }


@tried_again
def test_calls_that_take_all_its_time_leave_what_there_is(capsys, server, backing, tmp_path):
    # GIVEN 100 ms a call and two seconds
    with storage(server, backing, tmp_path / "m", open_s=0.1, read_s=0.1) as folder:
        found = probed(capsys, folder, "--seconds", "3")

    assert found["seconds"] < 30
    assert found["latency_s"] >= 0.1
