"""Darshan logs that nobody means well with: kilobytes that hold more than the memory does, and no files."""

import bz2
import os
import zlib

import numpy as np
import pytest

from tfdarshan.commands import main
from tfdarshan.errors import SessionDataError
from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.log_regions import LogRegions
from tfdarshan.native import memory_left

FREE_BYTES = 16 << 20
# Of zeros: more than there is room for.
BOMB = bytes(8 << 20)
PACK = {darshan_format.ZLIB: zlib.compress, darshan_format.BZIP2: bz2.compress}


@pytest.fixture(autouse=True)
def little_memory(monkeypatch):
    """A machine with FREE_BYTES of free memory."""
    monkeypatch.setattr(memory_left, "_available_bytes", lambda: FREE_BYTES)


def log_of(path, compression, **regions):
    """Write a log of a job and of regions by their names."""
    pack = PACK[compression]
    header = np.zeros(1, darshan_format.HEADER)
    header["version"], header["magic"] = darshan_format.LOG_VERSION.encode(), darshan_format.MAGIC
    header["compression"] = compression
    content = header.tobytes() + pack(bytes(darshan_format.JOB_REGION_BYTES))
    for name, region in regions.items():
        packed = pack(region)
        place = header["names"] if name == "names" else header["modules"][:, darshan_format.MODULE_IDS[name]]
        place["offset"], place["length"] = len(content), len(packed)
        if name != "names":
            header["module_versions"][:, darshan_format.MODULE_IDS[name]] = 1
        content += packed
    path.write_bytes(header.tobytes() + content[header.nbytes :])
    return path


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("name", ["names", "DXT_POSIX", "POSIX"])
def test_a_region_larger_than_the_memory_is_refused(tmp_path, name, compression):
    # GIVEN
    log = log_of(tmp_path / "bomb.darshan", compression, **{name: BOMB})
    assert log.stat().st_size < 64 << 10

    # WHEN / THEN
    with pytest.raises(SessionDataError) as refused:
        LogRegions(log, kept=("POSIX", "DXT_POSIX"))
    region = "name" if name == "names" else name
    said = str(refused.value)
    assert said.startswith(f"the Darshan log {log} cannot be read: its {region} data takes more than ")
    assert said.endswith(" Read it on a machine with more memory.")


def test_a_region_that_is_not_kept_takes_no_memory(tmp_path):
    log = log_of(tmp_path / "bomb.darshan", darshan_format.ZLIB, POSIX=BOMB)

    assert LogRegions(log).lengths == {"POSIX": len(BOMB)}


@pytest.mark.parametrize("kind", ["FIFO", "device", "folder"])
def test_what_is_no_regular_file_is_one_sentence(tmp_path, capsys, kind):
    # GIVEN
    log = tmp_path / "a.darshan"
    if kind == "FIFO":
        os.mkfifo(log)
    elif kind == "folder":
        log.mkdir()
    else:
        log.symlink_to("/dev/zero")

    # WHEN
    code = main(["import", str(log), "--logdir", str(tmp_path / "logs")])

    # THEN
    assert code == 1
    assert capsys.readouterr().err == (
        f"tfdarshan: the log {log} cannot be read: it is not a regular file; give a Darshan log that you can "
        "read.\n"
    )


def test_a_log_of_any_size_is_not_read(tmp_path):
    log = tmp_path / "a.darshan"
    log.touch()
    os.truncate(log, 1 << 40)

    with pytest.raises(SessionDataError, match=r"cannot be read: it takes 1\.1 TB of memory, and "):
        LogRegions(log)
