"""Workloads in folders of any name."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfdarshan
from tfdarshan.sessions.session_data import SessionData

pytest.importorskip("PIL")

from tfdarshan.workloads.experiment import Experiment
from tfdarshan.workloads.images import MEDIAN_112K, write_images
from tfdarshan.workloads.place import DIRECTORY, EMULATION, Place
from tfdarshan.workloads.result import Arm
from tfdarshan.workloads.scenarios.room import Room
from tfdarshan.workloads.tiers import _emulation


def emulated_calls(session: SessionData) -> int:
    return int(session.meta[0]["emulation"]["calls"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file, whose name means another one to a shell."""
    made = tmp_path / "run[1]"
    made.mkdir()
    (made / "file").write_bytes(b"1")
    return made


def test_storage_is_emulated_in_a_folder_of_any_name(folder: Path, tmp_path: Path) -> None:
    # GIVEN
    place = Place("hdd", EMULATION, folder, as_if="hdd")
    experiment = Experiment(workload="mine", place=place, work_dir=tmp_path, quick=True, repeats=1)

    # WHEN
    with experiment.session(Arm("arm", {}), []) as recorded:
        (folder / "file").read_bytes()
    with _emulation(place, str(tmp_path / "measured")) as measured:
        (folder / "file").read_bytes()
    with tfdarshan.profile(tmp_path / "scenario", **Room(folder, quick=True).as_if("hdd", folder)) as played:
        (folder / "file").read_bytes()

    # THEN
    assert measured is not None
    for session in (recorded, measured, played):
        assert emulated_calls(session.session) > 0


def test_real_files_are_said_to_be_where_they_are_read(tmp_path: Path) -> None:
    # GIVEN a data set, and a tier where files would be made
    real = tmp_path / "real"
    write_images(real, 2, image_set=MEDIAN_112K)
    said: list[str] = []
    experiment = Experiment(
        workload="mine", place=Place("tier", DIRECTORY, tmp_path / "tier"), work_dir=tmp_path, quick=True,
        repeats=1, data_dir=real, say=said.append,
    )  # fmt: skip

    # WHEN
    files = experiment.images(MEDIAN_112K, 2, experiment.new_result())

    # THEN
    megabytes = sum(file.size_bytes for file in files) / 1e6
    assert said == [f"2 files, {megabytes:.1f} MB, in {real}"]
