"""One colour means one thing in all views."""

from __future__ import annotations

import colorsys
from collections import defaultdict

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.reports.figures.theme import EMPTY, LEVELS
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.reports.views.panel import Chart, Parts
from tfdarshan.reports.views.view_source import Source

NEUTRAL = (*LEVELS, EMPTY)
# Names of one thing; any other name is a thing of its own.
SAME = {
    "reads": "read", "files read": "read", "I/O (wall clock)": "read", "in the tables": "read",
    "the loop's own file calls": "read",
    "writes": "written", "files written": "written",
    "waiting for file calls": "input wait", "waited for, at most": "input wait",
    "compute and the rest": "compute",
}  # fmt: skip


@pytest.fixture
def session(tmp_path):
    """Steps of 100 ms that wait 60, for reads in half of that; each writes a little."""
    calls: list[tuple] = []
    for n in range(30):
        calls.append((n * 100, n * 100 + 30, 101, "pread", n, 100_000, 0))
        calls.append((n * 100 + 70, n * 100 + 71, 101, "write", n, 500, 100_000))
    kernel = {"rchar": 4_000_000, "read_bytes": 1_000_000, "wchar": 15_000, "write_bytes": 0}
    meta = {"machine": {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 0.6}}
    paths = [f"/data/{n}.jpg" for n in range(30)]
    return training(tmp_path, calls, epochs_of_steps(30, 100, 60), paths=paths, meta=meta, kernel=kernel)


def drawn_in(panels):
    """Yield the names and colours of what charts and bars draw."""
    for panel in panels:
        if isinstance(panel, Parts):
            yield from ((part.label, part.colour) for part in panel.items)
        for trace in panel.figure["data"] if isinstance(panel, Chart) else ():
            colour = trace.get("line", {}).get("color") or trace.get("marker", {}).get("color")
            if isinstance(colour, str) and "name" in trace:
                yield trace["name"], colour


def test_a_colour_is_of_one_thing_and_a_thing_of_one_colour(session):
    # GIVEN all that views draw of a session
    source = Source(session)
    drawn = list(drawn_in(findings_panels(diagnose(session))))
    for _, view in VIEWS.values():
        drawn += drawn_in(view(source))

    # WHEN
    things, colours = defaultdict(set), defaultdict(set)
    for name, colour in drawn:
        thing = SAME.get(name, name)
        colours[thing].add(colour)
        things[colour].add(thing)

    # THEN all but shades without a meaning of their own is of one thing
    assert {thing: found for thing, found in colours.items() if len(found) > 1} == {}
    assert {
        colour: found for colour, found in things.items() if len(found) > 1 and colour not in NEUTRAL
    } == {}
    assert {"input wait", "compute", "read", "written", "from storage"} <= set(colours)


def test_all_of_the_input_wait_is_red(session):
    (parts,) = (panel for panel in findings_panels(diagnose(session)) if isinstance(panel, Parts))

    waits = [part for part in parts.items if part.label.startswith("waiting for ")]
    assert len(waits) == 2
    for part in waits:
        red, green, blue = (int(part.colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
        assert min(hue, 1 - hue) < 0.05
        assert saturation > 0.3
