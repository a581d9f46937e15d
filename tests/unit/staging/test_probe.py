import os
import subprocess
import sys

import pytest

from tfdarshan.errors import StorageError
from tfdarshan.staging.probe import probe_tier


def test_probe_leaves_nothing_and_gives_a_model(tmp_path):
    found = probe_tier(str(tmp_path), 2)

    assert list(tmp_path.iterdir()) == []
    assert found.model.files >= 5
    assert found.model.seconds(1_000_000) > 0 < found.write_bytes_per_s


def test_probe_leaves_nothing_when_it_is_killed(tmp_path):
    # GIVEN a probe that is killed by SIGKILL between writing its files and reading them
    program = (
        "import os, signal\n"
        "from tfdarshan.staging import probe\n"
        "probe._can_read_directly = lambda handle: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"probe.probe_tier({str(tmp_path)!r}, 1)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], check=False)

    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []


def test_probe_leaves_nothing_where_files_must_have_names(tmp_path, monkeypatch):
    # GIVEN a file system without O_TMPFILE
    real, named = os.open, []

    def open_without(path, flags, *rest):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(95, "Operation not supported")
        named.append(str(path).startswith(str(tmp_path)))
        return real(path, flags, *rest)

    monkeypatch.setattr(os, "open", open_without)

    probe_tier(str(tmp_path), 1)

    assert any(named)
    assert list(tmp_path.iterdir()) == []


def test_probe_of_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(StorageError, match="cannot be measured: No such file"):
        probe_tier(str(tmp_path / "none"), 1)
