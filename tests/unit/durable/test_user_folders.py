import os
import pwd
import tempfile

import pytest

from tfdarshan.durable import user_folders
from tfdarshan.errors import StorageError


@pytest.fixture
def no_home(monkeypatch, tmp_path):
    """A user whom nobody knows, with a folder for temporary files."""

    def unknown(uid):
        raise KeyError(uid)

    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path / f"tfdarshan-cache-{os.getuid()}"


def test_a_user_without_a_home_keeps_things_in_a_folder_of_its_own(no_home):
    assert user_folders.cache_folder() == no_home
    assert no_home.stat().st_mode & 0o777 == 0o700
    assert user_folders.cache_folder() == no_home


def test_a_folder_that_is_a_link_is_not_used(no_home, tmp_path):
    # GIVEN somebody has put a link there
    (tmp_path / "theirs").mkdir()
    no_home.symlink_to(tmp_path / "theirs")

    # WHEN / THEN
    with pytest.raises(StorageError, match="belongs to somebody else: set XDG_CACHE_HOME"):
        user_folders.cache_folder()


def test_neither_temporary_files_nor_shared_memory_is_one_sentence(monkeypatch, tmp_path):
    # GIVEN
    def no_folder():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", no_folder)
    monkeypatch.setattr(user_folders, "SHARED_MEMORY", tmp_path / "none")

    # WHEN / THEN
    with pytest.raises(StorageError, match="set TMPDIR to one of yours"):
        user_folders.temporary_folder()
