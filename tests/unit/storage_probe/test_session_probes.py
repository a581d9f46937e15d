"""Which folders of a session's input are probed."""

from typing import Any

import pandas as pd
import pytest

from tests import made_up_session
from tests.made_up_session import job_of, write_session
from tfdarshan.errors import StorageError
from tfdarshan.native.spool_reader import Mount
from tfdarshan.storage_probe import session_probes
from tfdarshan.storage_probe.prober import Bounds

DISK, MEMORY, SHARE = ("/data", "ext4"), ("/dev/shm", "tmpfs"), ("/share", "nfs4")


def rows(*times):
    """Return two files of an input on each mount, which took so long."""
    return pd.DataFrame(
        [
            {"path": f"{point}/set/{number}", "mount_point": point, "fs_type": kind, "time_s": time_s}
            for (point, kind), time_s in times
            for number in range(2)
        ]
    )


@pytest.mark.parametrize(
    ("input_", "folders"),
    [
        (rows((DISK, 1.0), (SHARE, 3.0)), ["/share/set", "/data/set"]),
        (rows((DISK, 1.0), (MEMORY, 3.0)), ["/data/set"]),
        (rows((DISK, 1.0), (MEMORY, 9.5)), ["/data/set"]),
        (rows((DISK, 1.0), (MEMORY, 2.0), (SHARE, 3.0)), ["/share/set", "/data/set"]),
        (rows((MEMORY, 2.0)), ["/dev/shm/set"]),
        (rows((DISK, 0.0))[:0], []),
    ],
)
def test_input_in_memory_is_left_out_if_there_is_other_input(input_, folders):
    assert [folder for folder, _ in session_probes._folders(input_)] == folders


def test_storage_is_probed_beside_input_in_memory(monkeypatch, tmp_path):
    # GIVEN a session that read from a share, and as long from memory
    monkeypatch.setattr(made_up_session, "MOUNTS", [Mount("/", "tmpfs", "", 4096), made_up_session.MOUNTS[1]])
    calls = [(0, 10_000, 1, "read", 0, 5000), (20_000, 30_000, 1, "read", 1, 5000)]
    session = write_session(tmp_path, job_of(calls, ["/data/train/a", "/fast/train/b"], [5000, 5000]))
    probed = []
    monkeypatch.setattr(
        session_probes, "probe_folder", lambda folder, bounds, seed, own: probed.append((folder, bounds))
    )

    # WHEN
    session_probes.probe_session(session, Bounds(seconds=4.0))

    # THEN the share gets all of the time
    assert probed == [("/data/train", Bounds(seconds=4.0))]


def test_a_mount_that_is_gone_keeps_no_other_from_being_probed(monkeypatch, tmp_path):
    # GIVEN a session that read from two mounts, of which one is gone
    calls = [(0, 10_000, 1, "read", 0, 5000), (20_000, 30_000, 1, "read", 1, 5000)]
    session = write_session(tmp_path, job_of(calls, ["/data/train/a", "/fast/train/b"], [5000, 5000]))

    def probed(folder, bounds, seed, own):
        if folder == "/data/train":
            raise StorageError("/data/train cannot be probed.")
        return folder

    monkeypatch.setattr(session_probes, "probe_folder", probed)

    # THEN
    found: Any = session_probes.probe_session(session)
    assert found == (["/fast/train"], ["/data/train cannot be probed."])
