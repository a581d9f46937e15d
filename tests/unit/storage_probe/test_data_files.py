"""A sample of a folder's files, of however many there are."""

import itertools
import os
import random
from types import SimpleNamespace

from tfdarshan.storage_probe import data_files
from tfdarshan.storage_probe.data_files import sample_files


def test_files_of_all_classes_are_chosen(tmp_path, monkeypatch):
    # GIVEN 60 folders of 30 files, and a look at a third of them
    for folder in range(60):
        (tmp_path / f"{folder}").mkdir()
        for file in range(30):
            (tmp_path / f"{folder}" / f"{file}").touch()
    monkeypatch.setattr(data_files, "MOST_NAMES", 700)

    found = sample_files(str(tmp_path), random.Random(1), 60.0)

    # THEN each file once, of many folders and not of the first few
    assert len(set(found)) == len(found) < 60 * 30
    assert len({os.path.dirname(path) for path in found}) > 15


def test_the_same_seed_gives_the_same_files(tmp_path):
    for file in range(50):
        (tmp_path / f"{file}").touch()

    samples = [sample_files(str(tmp_path), random.Random(seed), 60.0) for seed in (1, 1, 2)]

    assert samples[0] == samples[1] != samples[2]
    assert sorted(samples[0]) == sorted(samples[2])


def test_links_to_files_of_another_file_system_are_left_out(tmp_path):
    # GIVEN a file, a link to it, and a link to a file elsewhere, as a mirror has
    (tmp_path / "file").touch()
    (tmp_path / "near").symlink_to(tmp_path / "file")
    (tmp_path / "far").symlink_to("/proc/version")

    found = sample_files(str(tmp_path), random.Random(1), 60.0)

    assert sorted(found) == [str(tmp_path / "file"), str(tmp_path / "near")]


def test_a_folder_without_end_is_looked_at_for_a_while(tmp_path, monkeypatch):
    # GIVEN a folder whose names never end
    names = itertools.count()

    def endless(folder):
        entry = SimpleNamespace(is_dir=lambda **_: False, is_file=lambda: True, is_symlink=lambda: False)
        entries = (SimpleNamespace(path=f"{folder}/{next(names)}", **vars(entry)) for _ in itertools.count())
        return _Closing(entries)

    monkeypatch.setattr(os, "scandir", endless)

    found = sample_files(str(tmp_path), random.Random(1), 60.0)

    assert len(found) == data_files.MOST_FILES
    assert next(names) <= data_files.MOST_NAMES + data_files.AT_A_TIME
    # THEN a sample of all that were looked at, and not the first ones
    assert max(int(path.rsplit("/")[-1]) for path in found) > 2 * data_files.MOST_FILES


class _Closing:
    def __init__(self, entries):
        self.entries = entries

    def __iter__(self):
        return self.entries

    def close(self):
        pass


def test_time_bounds_it_once_there_is_a_file(tmp_path):
    for folder in range(40):
        (tmp_path / f"{folder}").mkdir()
        (tmp_path / f"{folder}" / "file").touch()
    ticks = itertools.count()

    found = sample_files(str(tmp_path), random.Random(1), 5.0, clock=lambda: next(ticks))

    assert 1 <= len(found) < 40


def test_links_in_a_circle_and_what_is_no_file_are_passed_over(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "broken").symlink_to(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")

    found = sample_files(str(tmp_path), random.Random(1), 60.0)

    assert sorted(found) == [str(tmp_path / "file"), str(tmp_path / "link")]


def test_more_folders_are_open_than_may_be(tmp_path, monkeypatch):
    # GIVEN folders with more names than are looked at at a time
    monkeypatch.setattr(data_files, "AT_A_TIME", 3)
    for folder in range(40):
        (tmp_path / f"{folder:02}").mkdir()
        for file in range(5):
            (tmp_path / f"{folder:02}" / f"{file}").touch()
    before = len(os.listdir("/proc/self/fd"))

    sample_files(str(tmp_path), random.Random(1), 60.0)

    assert len(os.listdir("/proc/self/fd")) == before
