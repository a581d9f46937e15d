"""A spool folder with little room: bounds are lowered, and what the session says of them is exact."""

import os

import pytest

import tfdarshan
from tests.tmpfs import mounted_tmpfs

FILES = 60_000
OPENS = 2
ROOM_MIB = 20


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A job that opens more files, and opens them again, than 20 MiB have room for."""
    folder = tmp_path_factory.mktemp("small-spool")
    spool, data = folder / "spool", folder / "data"
    spool.mkdir()
    data.mkdir()
    done = tfdarshan.profile(folder / "logs", spool_dir=spool)
    with mounted_tmpfs(spool, f"size={ROOM_MIB}m"), done:
        for flags in (os.O_CREAT | os.O_WRONLY, os.O_RDONLY):
            for number in range(FILES):
                os.close(os.open(data / f"{number:06d}", flags))
    return done


def only(bounds, words):
    (found,) = [bound for bound in bounds if words in bound]
    return found


def test_nothing_is_called_damaged(session):
    assert session.meta[0]["counts"]["damaged"] == 0
    assert not [bound for bound in session.meta[0]["bounds"] if "damaged" in bound]


def test_the_time_in_io_is_all_there(session):
    # GIVEN one thread, whose calls never overlap
    time = session.meta[0]["time"]

    # THEN the union of their times is their sum
    assert time["io_ns"] == pytest.approx(time["thread_ns"], rel=1e-6)


def test_each_file_without_a_row_is_counted_once(session):
    # THEN
    meta = session.meta[0]
    counts, over = meta["counts"], meta["counts"]["files_over_cap"]
    own = session.files["path"].str.startswith(str(session.logdir.parent / "data"))
    rows = int(own.sum())
    assert 0 < rows < FILES
    assert (session.files.loc[own, "POSIX_OPENS"] == OPENS).all()  # a row has all calls of its file
    assert over == pytest.approx(FILES - rows, abs=100)  # other files of the process are among them
    assert counts["files"] + over >= FILES
    assert f"{over:,} files found no room" in only(meta["bounds"], "found no room")
    assert session.files["POSIX_OPENS"].sum() >= OPENS * FILES


def test_bounds_are_the_lowered_ones(session):
    bounds = session.meta[0]["bounds"]
    lowered = only(bounds, "lowered from 1024 to")
    assert "memory_cap_mb = 1024" not in " ".join(bounds)
    cap_mb = lowered.split("lowered from 1024 to ")[1].split(",")[0]
    assert int(cap_mb) in (ROOM_MIB - 1, ROOM_MIB)
    assert f"(memory_cap_mb = {cap_mb})" in only(bounds, "found no room")
    assert "trace_memory_mb from 256 to 5" in lowered or "to 4" in lowered
    assert "(trace_memory_mb = " in only(bounds, "segments were dropped")
