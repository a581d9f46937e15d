"""Every verb on a session of two hosts with unknown clocks whose processes have the same numbers."""

import json
import os
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

import tfdarshan
from tests.joint_training import MadeUpRank, joint_training
from tfdarshan.analysis.files.session_files import SessionFiles
from tfdarshan.analysis.ranks.rank_table import rank_table
from tfdarshan.commands import main
from tfdarshan.reports.views.panel import Chart, Text, Tiles
from tfdarshan.reports.views.steps_view import steps_table, steps_view
from tfdarshan.reports.views.view_source import Source

FILES = 48
VERBS = (
    ["summary"], ["summary", "-v"], ["summary", "--json"], ["findings"], ["findings", "--json"], ["files"],
    ["files", "--json"], ["steps"], ["list"], ["list", "--json"], ["whatif"], ["whatif", "--threads", "8"],
    ["export", "--csv", "OUT.csv"], ["export", "--parquet", "OUT.parquet"], ["report", "-o", "OUT.html"],
)  # fmt: skip


@pytest.fixture
def two_hosts(tmp_path):
    """Rank 1 is five times slower, on another host; each reads 24 files of 100 kB in 12 steps."""
    dealt = [[[2 * step + rank * 24, 2 * step + rank * 24 + 1] for step in range(12)] for rank in range(2)]
    ranks = [MadeUpRank(dealt[0], "first-host"), MadeUpRank(dealt[1], "second-host", 5.0, 3_600 * 10**9)]
    return joint_training(tmp_path, ranks)


def test_every_verb_reads_it(two_hosts, tmp_path, capsys):
    for verb in VERBS:
        words = [word.replace("OUT", str(tmp_path / "out")) for word in verb]
        assert (main([*words, str(two_hosts.path)]), capsys.readouterr().err) == (0, ""), verb
    assert main(["compare", str(two_hosts.path), str(two_hosts.path)]) == 0
    assert main(["advise", "--logdir", str(two_hosts.path), "--fast", str(tmp_path), "--capacity", "1G"]) == 0
    assert capsys.readouterr().err == ""


def test_json_has_all_ranks(two_hosts, capsys):
    # WHEN
    main(["summary", "--json", str(two_hosts.path)])

    # THEN
    said = json.loads(capsys.readouterr().out)
    ranks = said["ranks"]["ranks"]
    assert [(row["rank"], row["host"], row["bytes_read"]) for row in ranks] == [
        (0, "first-host", 2_400_000),
        (1, "second-host", 2_400_000),
    ]
    assert said["posix"]["bytes_read"] == sum(row["bytes_read"] for row in ranks)
    assert (said["ranks"]["leading"], said["wall_clock"]["io_s"]) == (1, None)
    assert [row["clock_error_s"] for row in ranks] == [0.0, None]
    assert ranks[1]["wait_s"] > 4 * ranks[0]["wait_s"]


@pytest.mark.parametrize("world", [4, 6])
def test_summary_and_list_speak_of_ranks(tmp_path, capsys, world):
    # GIVEN
    ranks = [MadeUpRank([[48 * rank + step] for step in range(48)]) for rank in range(world)]
    session = joint_training(tmp_path / "logs", ranks)
    capsys.readouterr()

    # WHEN
    main(["summary", str(session.path)])
    summary = capsys.readouterr().out
    main(["list", str(tmp_path / "logs")])
    listed = capsys.readouterr().out

    # THEN the processes are ranks, and no line says that there is one more that it has no room for
    assert f"{world} processes ({world} ranks)" in summary
    assert f", {world} ranks" in listed
    assert "processes" not in listed
    rows = summary.partition("rank  host")[2].splitlines()[1:]
    shown = [line for line in rows if line[:1].isdigit()]
    assert "and 1 more rank" not in summary
    assert len(shown) + (0 if len(shown) == world else int(rows[len(shown)].split()[1])) == world


def test_compare_names_the_rank_that_changed_most(two_hosts, tmp_path, capsys):
    # GIVEN a run in which rank 1 is as fast as rank 0, and there is another rank
    dealt = [[[2 * step + rank * 24, 2 * step + rank * 24 + 1] for step in range(12)] for rank in range(3)]
    after = joint_training(
        tmp_path / "after", [MadeUpRank(part, f"host-{n}") for n, part in enumerate(dealt)]
    )
    capsys.readouterr()

    # WHEN
    assert main(["compare", str(two_hosts.path), str(after.path)]) == 0
    text = capsys.readouterr().out
    main(["compare", "--json", str(two_hosts.path), str(after.path)])

    # THEN
    ranks = json.loads(capsys.readouterr().out)["comparisons"][0]["ranks"]
    assert (ranks["measure"], ranks["only_first"], ranks["only_second"]) == (
        "wait for input, a step",
        [],
        [2],
    )
    first, second = ranks["changes"]
    assert (first["rank"], second["rank"]) == (1, 0)
    assert first["before_s"] == pytest.approx(5 * first["after_s"], rel=0.2)
    assert second["before_s"] == pytest.approx(second["after_s"], rel=0.2)
    lines = text.partition("Ranks that changed most: wait for input, a step\n")[2].splitlines()
    assert lines[1].split()[:2] == ["1", "host-1"]
    assert lines[1].split()[-2].startswith("-")
    assert "has 1 rank more, the first is 2" in lines[3]


def test_advice_counts_what_all_ranks_read(two_hosts, tmp_path, capsys):
    # WHEN
    words = ["--fast", str(tmp_path), "--capacity", "1G", "--json"]
    assert main(["advise", "--logdir", str(two_hosts.path), *words]) == 0

    # THEN it stages the files of both, and the gain is that of the job's epoch, not of one rank's
    promise = json.loads(capsys.readouterr().out)["plan"]["promise"]
    assert promise["staged_passes"] == FILES
    slow_s = sum(row.input_s for row in rank_table(two_hosts, SessionFiles(two_hosts).grouped).ranks)
    assert promise["staged_slow_s"] == pytest.approx(slow_s, rel=0.05)


@pytest.mark.usefixtures("pydarshan")
def test_a_log_has_what_all_ranks_read(two_hosts, tmp_path):
    # WHEN
    log = tmp_path / "job.darshan"
    assert main(["export", "--darshan", str(log), str(two_hosts.path)]) == 0

    # THEN, as it is read again
    assert main(["import", str(log), "--logdir", str(tmp_path / "again")]) == 0
    files = tfdarshan.open_session(tmp_path / "again").files
    data = files[files["path"].str.startswith("/data/")]
    assert int(data["POSIX_OPENS"].sum()) == FILES
    assert int(data["POSIX_BYTES_READ"].sum()) == FILES * 100_000


def test_a_trace_has_both_processes_though_they_have_one_number(two_hosts, tmp_path):
    # WHEN
    out = tmp_path / "trace.json"
    main(["export", "--trace", str(out), str(two_hosts.path)])

    # THEN
    events = json.loads(out.read_text())["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    calls = [event["pid"] for event in events if event["ph"] == "X" and event["name"] == "read"]
    assert sorted(name.partition(":")[0] for name in names.values()) == [
        "rank 0, first-host", "rank 1, second-host"
    ]  # fmt: skip
    assert {number: calls.count(number) for number in names} == dict.fromkeys(names, FILES // 2)


def test_a_redacted_report_names_no_host(two_hosts, tmp_path):
    # WHEN
    plain, redacted = tmp_path / "plain.html", tmp_path / "redacted.html"
    main(["report", "-o", str(plain), str(two_hosts.path)])
    main(["report", "-o", str(redacted), "--redact", str(two_hosts.path)])

    # THEN
    assert "second-host takes 5" in plain.read_text()
    assert "The slow mount is /data (" in plain.read_text()
    assert '"Ranks"' in redacted.read_text()
    shown = redacted.read_text().partition('id="report"')[2].partition("</script>")[0]
    assert ("-host" in shown, "/data" in shown) == (False, False)


def test_a_rank_that_is_damaged_can_be_left_out(two_hosts, capsys):
    # GIVEN
    (meta,) = (two_hosts.path / "rank-00000").glob("*.meta.json")
    meta.write_text("{")

    # THEN
    with pytest.raises(tfdarshan.SessionDataError, match="damaged"):
        tfdarshan.open_session(two_hosts.path)
    session = tfdarshan.open_session(two_hosts.path, skip_damaged=True)
    assert ([rank.rank for rank in session.joint.ranks], session.joint.missing) == ([1], (0,))
    assert main(["summary", "--skip-damaged", str(two_hosts.path)]) == 0
    assert "rank 0 of 2 has not written" in " ".join(capsys.readouterr().out.split())


def test_steps_are_those_of_one_rank_with_its_own_calls(two_hosts, capsys):
    # WHEN
    main(["steps", "--json", "--limit", "0", str(two_hosts.path)])
    said = json.loads(capsys.readouterr().out)
    main(["steps", str(two_hosts.path)])
    text = " ".join(capsys.readouterr().out.split())

    # THEN each step has the two files that rank 1 reads in it
    assert said["rank"] == 1
    assert [row["bytes_read"] for row in said["steps"]] == [200_000] * 12
    assert [row["operations"] for row in said["steps"]] == [4] * 12
    assert "The steps and their calls are those of rank 1" in text
    assert (
        ", which findings are about. To list another rank's steps, name its folder in the session's folder, "
        "such as rank-00000."
    ) in text
    table = steps_table(Source(two_hosts))
    assert table.note.endswith("; they are of rank 1, which findings are about")


# Three epochs of five files, which rank 1 takes four times as long for.
RANK = """
import os, sys, time, tfdarshan
data, logs, rank = sys.argv[1], sys.argv[2], int(sys.argv[3])
def batches(epoch):
    for number in range(5):
        file = os.open(f"{data}/{20 * rank + 5 * epoch + number:02}", os.O_RDONLY)
        os.read(file, 1_000)
        os.close(file)
        time.sleep(0.005 * (1 + 3 * rank))
        yield [number]
with tfdarshan.profile(logs, job="epochs"):
    for epoch in range(3):
        for batch in tfdarshan.steps(batches(epoch)):
            pass
"""


def test_files_of_steps_are_those_of_each_ranks_own_steps(tmp_path, capsys):
    # GIVEN two ranks that drift apart
    data = tmp_path / "data"
    data.mkdir()
    for number in range(40):
        (data / f"{number:02}").write_bytes(bytes(100))
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, data, tmp_path / "logs", str(rank)],
            env={**os.environ, "TFDARSHAN_RANK": str(rank), "TFDARSHAN_WORLD_SIZE": "2"},
        )
        for rank in range(2)
    ]
    assert [rank.wait() for rank in ranks] == [0, 0]

    # WHEN
    main(["files", "--epoch", "2", "--json", str(tmp_path / "logs")])
    said = json.loads(capsys.readouterr().out)
    main(["files", "--epoch", "2", str(tmp_path / "logs")])
    text = capsys.readouterr().out

    # THEN
    read = sorted(int(row["path"].rpartition("/")[2]) for row in said["files"] if row["reads"])
    assert read == [5, 6, 7, 8, 9, 25, 26, 27, 28, 29]
    assert (said["steps"], said["ranks"]) == ([5, 6, 7, 8, 9], 2)
    assert text.startswith(
        "Steps 5 to 9 of 2 ranks: a call counts if it began in such a step of its own rank."
    )


@pytest.mark.parametrize(("rank", "known"), [(0, True), (1, False)])
def test_the_io_of_steps_is_known_by_the_calls_of_their_own_rank(two_hosts, rank, known):
    # GIVEN a session whose steps are rank 1's, and of whose ranks one has no calls in its trace
    (path,) = (two_hosts.path / f"rank-{rank:05}").glob("*.events.parquet")
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    (path,) = path.parent.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["counts"]["segments"] = 0
    path.write_text(json.dumps(meta))
    session = tfdarshan.open_session(two_hosts.path)

    for chosen in (None, "rank:0", "rank:1"):
        # WHEN
        panels = steps_view(Source(session, chosen))

        # THEN
        (drawn,) = (panel for panel in panels if getattr(panel, "title", "").startswith("I/O of each step"))
        assert isinstance(drawn, Chart if known else Text)
        (tiles,) = (panel.items for panel in panels if isinstance(panel, Tiles))
        assert any(tile.label == "I/O within steps" for tile in tiles) == known
