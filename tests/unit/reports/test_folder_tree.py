"""Boxes of folders and files: which folder holds what, bounded whatever the number of files."""

import json

import plotly.graph_objects as go
import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.reports.views.files_view import FileQuery, files_view
from tfdarshan.reports.views.panel import as_json
from tfdarshan.reports.views.redaction import Redaction
from tfdarshan.reports.views.view_source import Source

# Two large files and many small ones in one folder, small ones in two others, one file beside the folders.
SIZES = {
    "/data/set/big/a.rec": 5_000,
    "/data/set/big/b.rec": 3_000,
    **{f"/data/set/big/{number}.jpg": 1 for number in range(100)},
    **{f"/data/set/small/deep/{number}.jpg": 2 for number in range(300)},
    **{f"/data/set/tiny/{number}.jpg": 3 for number in range(100)},
    "/data/set/labels.txt": 1_000,
}
WHOLE = sum(SIZES.values())


@pytest.fixture
def source(tmp_path):
    return Source(session_of(tmp_path, SIZES))


def session_of(folder, sizes):
    calls = [
        (place * 100, place * 100 + 50, 7, "pread", place, size) for place, size in enumerate(sizes.values())
    ]
    return write_session(folder, job_of(calls, list(sizes), list(sizes.values())))


def boxes(panels):
    """The boxes by id: (name, id of the box around it, value, words without the bandwidth)."""
    (trace,) = next(panel.figure["data"] for panel in panels if getattr(panel, "key", "") == "treemap")
    words = [text.rpartition(", ")[0] for text in trace["hovertext"]]
    columns = (trace[name] for name in ("ids", "labels", "parents", "values"))
    return {row[0]: row[1:] for row in zip(*columns, words, strict=True)}


def test_each_folder_holds_its_folders_its_large_files_and_the_rest(source):
    found = boxes(files_view(source))

    root = "/data/set"
    assert found == {
        root: (root, "", WHOLE, "10.0 kB, 503 files"),
        f"{root}/labels.txt": ("labels.txt", root, 1_000, "1.0 kB"),
        f"{root}/big": ("big", root, 8_100, "8.1 kB, 102 files"),
        f"{root}/big/a.rec": ("a.rec", f"{root}/big", 5_000, "5.0 kB"),
        f"{root}/big/b.rec": ("b.rec", f"{root}/big", 3_000, "3.0 kB"),
        f"{root}/big//": ("100 other files", f"{root}/big", 100, "100 B"),
        f"{root}/small/deep": ("small/deep", root, 600, "600 B, 300 files"),
        f"{root}/tiny": ("tiny", root, 300, "300 B, 100 files"),
    }


def test_what_is_in_a_box_adds_up_to_it(source):
    found = boxes(files_view(source))
    for outer, (_, _, value, _) in found.items():
        inside = [row[2] for row in found.values() if row[1] == outer]
        assert not inside or sum(inside) == pytest.approx(value)


def test_a_stray_file_takes_no_frame(tmp_path):
    # GIVEN classes of images, deep in a folder that holds nearly all beside a little of the system's
    classes = [f"/home/user/job/data/train/class{number}" for number in range(4)]
    sizes = {f"{folder}/{number}.jpg": 1_000 for folder in classes for number in range(10)}
    little = {"/usr/share/zone": 10, "/home/user/job/train.py": 10, "/home/user/notes.txt": 10}

    # WHEN
    panels = files_view(Source(session_of(tmp_path, sizes | little)))

    # THEN the outermost box is the one that is divided, and the rest is said
    found = boxes(panels)
    assert found["/home/user/job/data/train"][:3] == ("/home/user/job/data/train", "", 40_000)
    assert {found[folder][1] for folder in classes} == {"/home/user/job/data/train"}
    assert not set(little) & set(found)
    assert panels[0].note.endswith(" 30 B of files elsewhere are not drawn.")


def test_colours_are_the_bandwidth(tmp_path):
    # GIVEN folders of 4 and 16 files of 100 kB, and one whose files take ten times as long
    calls: list[tuple] = []
    sizes: dict[str, int] = {}
    at = 0
    for folder, files, lasts in (("few", 4, 100_000), ("many", 16, 100_000), ("slow", 16, 1_000_000)):
        for number in range(files):
            calls.append((at, at + lasts, 7, "pread", len(sizes), 100_000))
            sizes[f"/data/{folder}/{number}.jpg"], at = 100_000, at + lasts
    session = write_session(tmp_path, job_of(calls, list(sizes), list(sizes.values())))

    # WHEN
    (trace,) = files_view(Source(session))[0].figure["data"]
    colour = dict(zip(trace["ids"], trace["marker"]["colors"], strict=True))
    words = dict(zip(trace["ids"], trace["text"], strict=True))

    # THEN colour is a power of ten of the time of a byte, whatever the size, and the legend spans them
    assert colour["/data/few"] == colour["/data/many"] == -9
    assert colour["/data/slow"] == -8
    assert words["/data/slow"] == "1.6 MB<br>100.0 MB/s"
    bar = trace["marker"]["colorbar"]
    assert (trace["marker"]["cmin"], trace["marker"]["cmax"]) == (-9, -8)
    assert (bar["ticktext"][0], bar["ticktext"][-1]) == ("1.0 GB/s", "100.0 MB/s")


def test_folders_with_nothing_in_common_are_both_there(tmp_path):
    found = boxes(files_view(Source(session_of(tmp_path, {"/ckpt/model": 700, "/data/a.jpg": 300}))))

    assert {key: row[:3] for key, row in found.items()} == {
        "/": ("/", "", 1_000),
        "/ckpt": ("ckpt", "/", 700),
        "/ckpt/model": ("model", "/ckpt", 700),
        "/data": ("data", "/", 300),
        "/data/a.jpg": ("a.jpg", "/data", 300),
    }


def test_boxes_are_bounded(tmp_path):
    # GIVEN more folders than are told apart, each with files of equal size
    sizes = {f"/data/{number // 4:04}/{number}.jpg": 100 for number in range(4_000)}

    (trace,) = files_view(Source(session_of(tmp_path, sizes)))[0].figure["data"]

    assert len(trace["ids"]) <= 202
    found = dict(zip(trace["ids"], trace["labels"], strict=True))
    assert found["/data//"] == "3,200 files"


def test_treemap_and_folders_follow_the_search(source):
    panels = files_view(source, FileQuery(search="/tiny/"))

    tree, folders = boxes(panels), panels[1]
    root = "/data/set/tiny"
    assert tree.pop(root)[:3] == (root, "", 300)
    # Of 100 files each has a hundredth.
    assert tree == {f"{root}/{n}.jpg": (f"{n}.jpg", root, 3, "3 B") for n in range(100)}
    assert [[cell.text for cell in row][:2] for row in folders.rows] == [["/data/set/tiny", "100"]]
    assert panels[2].paging.matching == 100
    # and are whole again without one
    assert boxes(files_view(source)) == boxes(files_view(Source(source.whole)))


def test_a_search_that_finds_nothing_draws_nothing(source):
    (table,) = files_view(source, FileQuery(search="no such file"))

    assert (table.key, table.rows, table.note) == ("files", [], "no such files")


def test_redacted_boxes_name_nothing(tmp_path):
    panels = files_view(Source(session_of(tmp_path, SIZES), redaction=Redaction("key")))

    text = json.dumps(as_json(panels))
    assert "labels.txt" not in text
    assert "tiny" not in text
    assert len(boxes(panels)) == 8


def test_plotly_takes_the_boxes(source):
    go.Figure(files_view(source)[0].figure)
