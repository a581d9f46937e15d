"""Every verb on a session of two hosts with unknown clocks whose processes have the same numbers."""

import json

import pytest

import tfdarshan
from tests.joint_training import MadeUpRank, joint_training
from tfdarshan.commands import main

FILES = 48
VERBS = (
    ["summary"], ["summary", "-v"], ["summary", "--json"], ["findings"], ["findings", "--json"], ["files"],
    ["files", "--json"], ["list"], ["list", "--json"], ["whatif"], ["whatif", "--threads", "8"],
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
    assert "second-host reads 5" in plain.read_text()
    assert "Slow there is /data (" in plain.read_text()
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
