"""The storage of a drawn job is as it was before each run."""

from __future__ import annotations

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
