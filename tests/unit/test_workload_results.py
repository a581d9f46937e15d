"""Results of workloads: kept as JSON, printed as a table, put into a page."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tfdarshan.errors import SessionDataError, StorageError
from tfdarshan.workloads.result import ASSUMED, EXACT, SCALE, SHAPE, Arm, Result, read_results, write_result
from tfdarshan.workloads.table import BEGIN, END, as_markdown, as_text, fill_page


def make_result(counted: int = 12) -> Result:
    result = Result("microbench", "hdd", "a disk", quick=True, repeats=3, machine="a machine; load 1")
    for speedup in (2.0, 2.4, 2.2):
        result.arm("8 threads").add(speedup=speedup)
    result.row("1 to 8 threads", "2.3x", result.arm("8 threads").worded("speedup", "x"), SHAPE)
    result.row("opens | closes", "equal", "equal", EXACT)
    result.check("opens", 12, counted)
    result.check("opens", 12, counted)
    return result


def test_an_arm_words_median_and_spread() -> None:
    assert make_result().arm("8 threads").worded("speedup", "x") == "2.20 x (2.00 to 2.40)"
    once = Arm("one", {})
    once.add(seconds=1.25)
    assert once.worded("seconds", "s") == "1.25 s"


def test_a_result_comes_back_as_it_was(tmp_path: Path) -> None:
    result = make_result()
    path = write_result(result, tmp_path)
    assert path == tmp_path / "results" / "microbench-hdd.json"
    assert read_results(tmp_path) == [result]
    assert json.loads(path.read_text())["checks"] == [{"what": "opens", "expected": 12, "counted": 12}]


def test_a_wrong_count_is_said_in_the_table() -> None:
    assert make_result().ok
    wrong = make_result(counted=11)
    assert not wrong.ok
    assert "1 exact checks, 1 wrong" in as_text([wrong])
    assert "WRONG: opens: 11, not 12" in as_text([wrong])
    assert "WRONG" not in as_text([make_result()])


def test_what_every_tier_says_alike_is_in_the_table_once() -> None:
    # GIVEN two tiers with the same legend and the same assumed row, and rows of their own
    results = []
    for tier in ("hdd", "ssd"):
        result = Result("lmdbio", tier, "", quick=True, repeats=1, machine="a machine; load 1")
        result.legend.append("LMDB: by page faults")
        result.row("a model", "65x", "66x", ASSUMED)
        result.row("records", "all", "all", EXACT)
        results.append(result)
    results[1].row("a model", "65x", "41x", ASSUMED)
    # WHEN
    lines = [" ".join(line.split()) for line in as_text(results).splitlines()]
    # THEN
    assert lines.count("LMDB: by page faults") == 1
    assert lines.count("a model 65x 66x assumed") == 1
    assert lines.count("a model 65x 41x assumed") == 1
    assert lines.count("records all all exact") == 2
    # AND the results themselves are as they were
    assert results[1].legend == ["LMDB: by page faults"]


def test_the_table_goes_between_the_marks_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "workloads.md"
    page.write_text(f"before\n{BEGIN}old\n{END}after\n")
    fill_page(page, [make_result()])
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN}Machine: a machine.\n")
    assert text.endswith(f"{END}after\n")
    assert "| 1 to 8 threads | 2.3x | 2.20 x (2.00 to 2.40) | shape |  |" in text
    assert "| opens &#124; closes |" in text
    assert "\n- load 1\n" in text
    assert "old" not in text


def test_a_page_has_only_what_can_be_held_against_the_paper() -> None:
    # GIVEN a result with a figure of another machine, and one that the paper lacks
    result = make_result()
    result.row("bandwidth", "94 MB/s", "124 MB/s", SCALE)
    result.row("restarted", "-", "166 MB/s", SHAPE)
    # AND one that has no other
    other = Result("stream", "hdd", "", quick=True, repeats=1, machine="a machine; load 1")
    other.row("bandwidth", "-", "165 MB/s", SCALE)
    # WHEN
    page, text = as_markdown([result, other]), as_text([result, other])
    # THEN
    assert "1 to 8 threads" in page
    assert not any(word in page for word in ("bandwidth", "restarted", "stream", "scale"))
    assert all(word in text for word in ("bandwidth", "restarted", "stream", "scale"))


def test_pages_and_results_that_cannot_be_used_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SessionDataError, match=r"there is no result in .*: `tfdarshan workload run NAME`"):
        read_results(tmp_path)
    page = tmp_path / "page.md"
    page.write_text("no marks")
    with pytest.raises(StorageError, match="has no lines"):
        fill_page(page, [make_result()])
    write_result(make_result(), tmp_path).write_text("{}")
    with pytest.raises(SessionDataError, match=r"microbench-hdd\.json cannot be read"):
        read_results(tmp_path)


def test_plots_are_drawn_of_what_there_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from tfdarshan.workloads.plots import draw_plots

    # GIVEN a micro-benchmark with 1 and 8 threads
    result = make_result()
    result.arms = [
        Arm(f"read, {threads} threads", {"variant": "read", "threads": threads}) for threads in (1, 8)
    ]
    result.arms[1].add(speedup=2.25)
    # WHEN it is drawn twice
    drawn = draw_plots([result], tmp_path)
    first = drawn[0].read_bytes()
    draw_plots([result], tmp_path)
    # THEN there is its plot and no other, the same both times
    assert [path.name for path in tmp_path.iterdir()] == [drawn[0].name] == ["workloads-threads.svg"]
    assert ElementTree.fromstring(first).tag.endswith("svg")
    assert drawn[0].read_bytes() == first
    assert draw_plots([], tmp_path) == []


def test_each_of_several_machines_is_named_with_its_workloads() -> None:
    # GIVEN results of two machines
    results = []
    for name, machine in (("stream", "old"), ("malware", "old"), ("pai", "new")):
        result = Result(name, "", "", quick=True, repeats=1, machine=f"{machine}; load 1")
        result.row("bound", "1", "1", EXACT)
        results.append(result)

    # THEN
    assert as_markdown(results).startswith("- Machine of stream, malware: old.\n- Machine of pai: new.\n")
    assert as_markdown(results[:2]).startswith("Machine: old.\n")
