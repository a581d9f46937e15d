"""Asks every interface for the same figures of one session, and says where their answers differ.

Names of figures are the questions; each has the answers by interface. Two answers to one question are equal,
to the last bit where the figure is printed as it was measured; a gain is said of an epoch by one interface
and of a step by another, and only the division differs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tfdarshan.analysis.steps.step_time import step_summary
from tfdarshan.analysis.storage.time_model import TimeModel
from tfdarshan.commands import main
from tfdarshan.findings.measurement import measure
from tfdarshan.replay.job_model import STAT
from tfdarshan.reports.html_report import write_report
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.panel import Tiles
from tfdarshan.reports.views.staging_view import staging_view
from tfdarshan.reports.views.steps_view import steps_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import Session
from tfdarshan.staging.probe import TierProbe

Answers = dict[str, dict[str, Any]]
TIER = TierProbe(TimeModel(150e-6, 1e-9, 50, 1.0), 1e9, True, "made up")
ROUNDING = 1e-12
TILES = (
    "Read", "Read again", "Input wait", "Time in I/O", "Readers", "Epoch as recorded", "Saved an epoch",
)  # fmt: skip


def asked(session: Session, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Answers:
    """Return the answers to each question, by interface."""
    monkeypatch.setattr("tfdarshan.staging.probe.probe_tier", lambda *_: TIER)

    def said(*words: str) -> dict[str, Any] | None:
        """Return what a command prints as JSON; None where it says that there is nothing to answer."""
        code = main([*words, "--json"])
        text = capsys.readouterr().out
        return json.loads(text) if code == 0 else None

    path = str(session.path)
    summary, findings = said("summary", path), said("findings", path)
    advice = said("advise", "--logdir", path, "--fast", str(folder / "fast"))
    whatif = said("whatif", path, "--fast", str(folder))
    assert summary is not None
    assert findings is not None
    assert advice is not None
    measures, source = measure(session), Source(session, fast_tier=TIER)
    tiles = shown(source)
    write_report(Source(session, fast_tier=TIER), folder / "report.html")
    reported = in_report((folder / "report.html").read_text())
    evidence = {
        (finding["name"], entry["label"]): entry["value"]
        for finding in findings["findings"]
        for entry in finding["evidence"]
    }
    answers: Answers = {}

    def answer(question: str, interface: str, value: Any) -> None:
        if value is not None:
            answers.setdefault(question, {})[interface] = value

    _files(answer, summary, advice["advice"], measures, tiles, evidence)
    _times(answer, summary, advice["advice"], measures, tiles, evidence)
    _steps(answer, summary, findings, advice["advice"], whatif, measures, source, evidence, tiles)
    _gains(answer, advice["advice"], whatif, measures, tiles)
    for label in TILES:
        answer(f"{label} (tile)", "tab", tiles.get(label, [None])[0])
        answer(f"{label} (tile)", "report", reported.get(label, [None])[0])
    return answers


def different(answers: Answers) -> dict[str, dict[str, Any]]:
    """Return the questions that do not have one answer."""
    return {question: given for question, given in answers.items() if not _one(list(given.values()))}


def _one(values: list[Any]) -> bool:
    if all(isinstance(value, (int, float)) for value in values):
        return all(value == pytest.approx(values[0], rel=ROUNDING, abs=ROUNDING) for value in values)
    return all(value == values[0] for value in values)


def shown(source: Source) -> dict[str, list[str]]:
    """Return the tiles of the views, each with its text and its exact value."""
    panels = [*overview_view(source), *steps_view(source), *staging_view(source)]
    tiles = [tile for panel in panels if isinstance(panel, Tiles) for tile in panel.items]
    return {tile.label: [tile.value.text, tile.value.exact] for tile in tiles}


def in_report(text: str) -> dict[str, list[str]]:
    """Return the tiles of a report."""
    match = re.search(r'<script type="application/json" id="report">(.*?)</script>', text, re.DOTALL)
    assert match is not None
    panels = [panel for view in json.loads(match[1])["views"] for panel in view["panels"]]
    tiles = [tile for panel in panels if panel["kind"] == "tiles" for tile in panel["items"]]
    return {tile["label"]: [tile["value"]["text"], tile["value"].get("exact", "")] for tile in tiles}


def _files(
    answer: Callable[..., None], summary: Any, advice: Any, measures: Any, tiles: Any, evidence: Any
) -> None:
    figures = measures.figures
    read = sum(summary[module]["bytes_read"] for module in ("posix", "stdio"))
    read += summary["copies"]["read_bytes"]
    answer("bytes read, of all files", "summary", read)
    answer("bytes read, of all files", "file table", int(figures.files.rows["bytes_read"].sum()))
    left = sum(part["bytes_read"] for part in advice["left_out"])
    # The advisor speaks of files that can be staged; with those that it names as left out they are all.
    answer("bytes read, of all files", "advise", left + _candidate_bytes(measures))
    answer("passes over the input", "findings", measures.figures.rereads.passes or None)
    answer("passes over the input", "fits_in_memory", evidence.get(("fits_in_memory", "times read")))
    if (again := tiles.get("Read again")) and again[0] != "-":
        answer("passes over the input, worded", "tab", again[0])
        answer("passes over the input, worded", "findings", f"{figures.rereads.passes:.2f}x")
    answer("unique bytes", "fits_in_memory", evidence.get(("fits_in_memory", "input")))
    answer("unique bytes", "findings", measures.unique_bytes)
    if not advice["files"]:
        return
    answer("epochs", "advise", advice["session_epochs"])
    answer("epochs", "findings", figures.epochs)
    answer("share from storage", "findings", measures.costs.storage_share)
    cached = evidence.get(("page_cache", "from the page cache"))
    answer("share from storage", "page_cache", None if cached is None else 1 - cached)


def _candidate_bytes(measures: Any) -> int:
    """Return the bytes of the files that can be staged, as the file table has them."""
    from tfdarshan.staging.candidate import find_candidates

    use, _ = measures.use_and_facts
    return int(use.counted_bytes[find_candidates(use).rows].sum())


def _times(
    answer: Callable[..., None], summary: Any, advice: Any, measures: Any, tiles: Any, evidence: Any
) -> None:
    facts, clock = advice["facts"], summary["wall_clock"]
    answer("readers", "findings", measures.model.readers)
    answer("readers", "read_parallelism", evidence.get(("read_parallelism", "readers")))
    answer("readers", "advise", facts["readers"])
    answer("readers, worded", "findings", f"{round(measures.model.readers):,}")
    answer("readers, worded", "tab", tiles.get("Readers", [None])[0])
    answer("time in file calls", "summary", clock["io_s"])
    answer("time recorded", "summary", summary["duration_s"])
    answer("time recorded", "advise", facts["duration_s"])


def _steps(
    answer: Callable[..., None],
    summary: Any,
    findings: Any,
    advice: Any,
    whatif: Any,
    measures: Any,
    source: Source,
    evidence: Any,
    tiles: Any,
) -> None:
    model, facts = measures.model, advice["facts"]
    whole = step_summary(source.steps) if len(source.steps) else None
    answer("time of a step", "findings", model.unit_s)
    answer("time of a step", "input_bound", evidence.get(("input_bound", "step")))
    answer("time of a step", "whatif", whatif and whatif["before_s"])
    answer("time of a step", "whatif's gain", whatif and whatif["gain"]["before_s"])
    for finding in findings["findings"]:
        answer("time of a step", finding["name"], finding["gain"] and finding["gain"]["before_s"])
    answer("input wait", "findings", findings["verdict"]["wait_share"])
    answer("input wait", "summary", summary["verdict"]["wait_share"])
    answer("input wait", "advise", facts["input_wait"])
    if whole is None:
        return
    answer("time of a step", "tab", whole.step_s)
    # An epoch is what the advisor speaks of: all steps, over their number.
    answer("time of all steps", "findings", model.unit_s * model.units)
    answer("time of all steps", "advise", facts["steps_s"])
    answer("time of all steps", "advise's epochs", advice["everything"]["epoch_s"] * advice["session_epochs"])
    answer("input wait", "tab", whole.input_wait_share)


def _gains(answer: Callable[..., None], advice: Any, whatif: Any, measures: Any, tiles: Any) -> None:
    everything, chosen = advice["everything"], advice["rules"][0]["expected"]
    before_s = everything["epoch_s"]
    parts = (("lower bound", "low_s"), ("expected", "saved_s"), ("upper bound", "high_s"))
    # Copies leave questions by name with the originals, and other storage does not.
    by_name = measures.job.model.calls[STAT].any() and not advice["mirrored"]
    for words, name in parts if advice["files"] and not by_name else ():
        question = f"share of the time that staging everything saves, {words}"
        answer(question, "advise", everything[name] / before_s)
        answer(question, "whatif", whatif and whatif["gain"][name] / whatif["gain"]["before_s"])
        # Where a few files give nearly all, findings and advice speak of those.
        if advice["rest"] is not None:
            question = f"share of the time that staging a few files saves, {words}"
            answer(question, "advise", chosen[name] / before_s)
    if not advice["reasons"]:
        answer("saved an epoch, worded", "advise", f"{chosen['saved_s']:.9f} s")
        answer("saved an epoch, worded", "tab", tiles.get("Saved an epoch", [None, None])[1])
