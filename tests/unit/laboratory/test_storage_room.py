"""The storage of a drawn job is as it was before each run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tfdarshan.workloads.laboratory.draw import draw
from tfdarshan.workloads.laboratory.storage_room import StorageRoom


@pytest.mark.parametrize("left", ["backing/out/weights", "fast/out/weights", "fast/burst/ckpt-1"])
def test_nothing_that_a_run_wrote_is_there_in_the_next_one(tmp_path, left):
    # GIVEN what one run has written
    with StorageRoom(draw(0, ["emulated"]), tmp_path / "job", tmp_path / "pool") as room:
        with room.ready():
            (room.folder / left).write_text("of a run before")

        # THEN the next one finds the folder, and nothing in it
        with room.ready():
            assert list((room.folder / left).parent.iterdir()) == []


def test_a_disk_has_room_for_all_checkpoints_of_a_run(tmp_path):
    # GIVEN 8 steps an epoch, and a checkpoint of 400 MB each second one
    program = draw(0, ["emulated"]).program(tmp_path)
    saving = replace(
        program, extra="torch_checkpoint", count=32, batch=4, epochs=6, every=2, weights=50_000_000
    )

    # WHEN / THEN
    assert saving.saved_bytes == 24 * 400_000_000
    assert replace(saving, extra="").saved_bytes == 0
