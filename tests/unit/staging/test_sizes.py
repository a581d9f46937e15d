"""Sizes that are shown of staging are the files' own, and one number everywhere; blocks count for room."""

import os
import re

import tfdarshan
from tests.unit.staging.made_up_run import APART, FILES, advise, job_after_start_up
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.small_files import find as small_files
from tfdarshan.reports.text.advice_text import render
from tfdarshan.reports.views.panel import Chart, Text, Tiles
from tfdarshan.reports.views.staging_view import StagingQuery, staging_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import decide
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.question import Question

# Of 25 blocks of 4,096 bytes they fill 24.4.
SIZE, ROOM = 100_000, 102_400


def test_card_command_and_view_have_the_same_files_and_bytes(capsys, monkeypatch, tmp_path):
    # GIVEN files that do not fill their last block
    session = job_after_start_up(tmp_path / "logs", APART)
    monkeypatch.setattr("tfdarshan.staging.probe.probe_tier", lambda *_: LOCAL_SSD)
    own = "10.0 MB"

    # WHEN each is asked
    (card,) = (found for found in diagnose(session).findings if found.name == "staging")
    command = advise(capsys, tmp_path)
    panels = staging_view(Source(session))
    tiles = {tile.label: tile for panel in panels if isinstance(panel, Tiles) for tile in panel.items}
    (curve,) = (panel for panel in panels if isinstance(panel, Chart))

    # THEN all say the files' own bytes, and no other number of bytes or files
    assert card.what.startswith(f"{FILES} files, {own} in all, are on storage")
    assert card.fix.what.startswith(f"Copy {own} of input to a local disk")
    assert " ".join(command.split()).startswith(f"Stage {FILES} files, {own}, to ")
    assert f"can be staged     {FILES} files, {own}\n" in command
    assert panels[0].lines[0].startswith(f"Copy {FILES} files ({own}) to the fast tier")
    assert (tiles["Can be staged"].value.text, tiles["Can be staged"].note) == (str(FILES), own)
    assert (tiles["Files to copy"].value.text, tiles["Bytes to copy"].value.text) == (str(FILES), own)
    assert curve.slider.points[-1].text.startswith(f"{own} for {FILES} files: ")
    assert "10.2 MB" not in command + str(panels)


def test_blocks_count_for_room_and_are_said_only_if_room_is_short(tmp_path):
    # GIVEN room for the bytes of half of the files, but not for their blocks
    session = job_after_start_up(tmp_path)
    room = FILES // 2 * SIZE
    fits = room // ROOM
    asked = Question(fast="/fast", room_bytes=room, everything=True)

    # WHEN
    advice = decide([session], asked, LOCAL_SSD).advice
    panels = staging_view(Source(session), StagingQuery(room_bytes=room))

    # THEN as many are chosen as there are blocks for, with their own bytes; what these take is said as well
    assert (advice.chosen.files, advice.chosen.bytes, advice.chosen.room_bytes) == (
        fits,
        fits * SIZE,
        fits * ROOM,
    )
    words = f"{fits * SIZE / 1e6:.1f} MB, which take {fits * ROOM / 1e6:.1f} MB there in whole blocks"
    assert f"Stage {fits} files, {words}, to /fast" in " ".join(render(advice).split())
    (text,) = (panel for panel in panels if isinstance(panel, Text) and panel.title == "Staging")
    assert f"Copy {fits} files ({words}) to the fast tier" in text.lines[0]


def test_what_the_job_made_and_renamed_is_no_small_file_of_its_input(tmp_path):
    # GIVEN forty files that a job reads, and forty that it writes under another name, renames and reads again
    for number in range(40):
        (tmp_path / f"input-{number}").write_bytes(bytes(5_000))
    with tfdarshan.profile(tmp_path / "logs", as_if="hdd", as_if_paths=[f"{tmp_path}/"]) as session:
        for number in range(40):
            made = tmp_path / f"made-{number}"
            (tmp_path / "part").write_bytes(bytes(70_000))
            os.rename(tmp_path / "part", made)
            made.read_bytes()
            (tmp_path / f"input-{number}").read_bytes()

    # THEN the input is what it read alone
    found = small_files(measure(session.session))
    assert re.fullmatch(r"the input is 40 small files, 5\.0 kB each", found.title)
    assert all("/input-" in path for path in found.files)
