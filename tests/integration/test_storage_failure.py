"""The job goes on whatever happens to the storage, and nothing recorded is lost."""

import os
import subprocess

import pytest

import tfdarshan
from tests.tmpfs import mounted_tmpfs
from tfdarshan.recording.recover import recover_session

SIZE = 3_210_987


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    with mounted_tmpfs(folder, "size=256k"):
        yield folder


def write_and_read(path):
    path.write_bytes(bytes(SIZE))
    return len(path.read_bytes())


def counted_bytes(session, path):
    files = session.files
    return int(files.loc[files["path"] == str(path), "POSIX_BYTES_READ"].sum())


def test_disk_full_at_stop(small_disk, tmp_path, spool_folder):
    # GIVEN a logdir that fills up during the session
    path = tmp_path / "data.bin"

    # WHEN
    with pytest.warns(RuntimeWarning) as warned:  # noqa: PT031
        with tfdarshan.profile(small_disk) as session:
            result = write_and_read(path)
            with pytest.raises(OSError, match="No space left"):
                (small_disk / "filler").write_bytes(bytes(1 << 20))

    # THEN the job goes on, and what was recorded stays
    assert result == SIZE
    (warning,) = warned
    sentence = str(warning.message)
    assert "was not written: No space left on device." in sentence
    assert f"`tfdarshan recover {small_disk}`, or elsewhere with --to DIR" in sentence
    assert len(list(spool_folder.iterdir())) == 1
    assert [path.name for path in session.path.iterdir()] == ["recording.json"]
    with pytest.raises(tfdarshan.SessionDataError, match="tfdarshan recover"):
        session.summary()

    # WHEN it is written elsewhere
    recovered = recover_session(session.path, to=tmp_path / "elsewhere")

    # THEN
    assert counted_bytes(tfdarshan.open_session(recovered.path), path) == SIZE
    assert list(spool_folder.iterdir()) == []
    assert not session.path.exists()


def test_recover_says_when_there_is_still_no_room(small_disk, tmp_path, spool_folder):
    # GIVEN
    with pytest.warns(RuntimeWarning):  # noqa: PT031
        with tfdarshan.profile(small_disk) as session:
            with pytest.raises(OSError):
                (small_disk / "filler").write_bytes(bytes(1 << 20))

    # WHEN / THEN
    with pytest.raises(tfdarshan.StorageError, match=r"No space left on device; make room, or .* --to DIR"):
        recover_session(session.path)

    # WHEN there is room again
    (small_disk / "filler").unlink()
    recover_session(session.path)

    # THEN
    assert tfdarshan.open_session(small_disk).meta[0]["pid"] == os.getpid()


def test_spool_folder_full_at_start(small_disk, tmp_path):
    with pytest.raises(tfdarshan.StorageError, match="has 0 MiB free and a session needs at least 16"):
        tfdarshan.profile(tmp_path / "logs", spool_dir=small_disk).start()


def test_spool_folder_fills_up_during_the_session(tmp_path):
    # GIVEN a spool folder with room for the cap, which somebody else then fills
    folder = tmp_path / "spool-disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(folder)]
    if os.getuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs needs root")
    paths = [tmp_path / f"{number}.bin" for number in range(500)]
    try:
        # WHEN
        with tfdarshan.profile(
            tmp_path / "logs", spool_dir=folder, memory_cap_mb=16, trace_memory_mb=8
        ) as session:
            with pytest.raises(OSError):
                (folder / "filler").write_bytes(bytes(32 << 20))
            for _ in range(30):
                for path in paths:
                    path.write_bytes(bytes(1_000))

        # THEN totals are exact
        files = session.files
        written = files.loc[files["path"] != str(folder / "filler"), "POSIX_BYTES_WRITTEN"].sum()
        assert written == 30 * 500 * 1_000
        assert session.meta[0]["bounds"]
    finally:
        subprocess.run(["umount", str(folder)], check=True)
