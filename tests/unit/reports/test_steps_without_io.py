"""Steps in which nothing was read have no share of it."""

import json

from tests.unit.findings.made_up_training import training
from tfdarshan.reports.views.panel import Tiles
from tfdarshan.reports.views.steps_view import steps_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import open_session

NOTHING = {"rchar": 0, "read_bytes": 0}


def test_tiles_of_steps_without_io_say_no_share(tmp_path):
    # GIVEN a job that stats a file after its steps, in which the kernel counted no byte
    session = training(tmp_path, [(500, 501, 1, "stat", 0, 0)], [(0, 50, 10), (50, 100, 10)], sizes=[5])
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["steps"]["rows"] = [[*row, *NOTHING.values()] for row in meta["steps"]["rows"]]
    path.write_text(json.dumps(meta))

    panels = steps_view(Source(open_session(session.path)))

    (tiles,) = [panel for panel in panels if isinstance(panel, Tiles)]
    said = {tile.label: (tile.value.text, tile.note) for tile in tiles.items}
    assert said["I/O beside compute"] == ("0 ns", "")
    assert said["From storage"] == ("0 B", "")
    assert not [note for _, note in said.values() if "-" in note]
