"""Verbs that read calls say the same whoever reads: this process, several, or a Dask cluster."""

import dataclasses
import functools

import pytest

from tests.made_up_session import image_job, write_session
from tfdarshan.commands import main
from tfdarshan.partials.process_pool import ProcessPool
from tfdarshan.staging import probe


@pytest.fixture
def sessions(tmp_path):
    """Return two sessions of two processes each."""
    found = []
    for run in range(2):
        jobs = [
            dataclasses.replace(image_job(20 + run, 2, 2, seed=place), pid=100 + place) for place in range(2)
        ]
        found.append(str(write_session(tmp_path / str(run), *jobs).path))
    return found


def said(capsys, *words):
    assert main([*words]) == 0
    return capsys.readouterr().out


def verbs(sessions, fast):
    return [
        ["compare", *sessions, "--json"],
        ["advise", "--logdir", sessions[0], "--fast", str(fast), "--capacity", "1G"],
    ]


CLUSTER = pytest.param(["--cluster", "local:1"], marks=pytest.mark.long)


@pytest.mark.parametrize("workers", [["--processes", "2"], CLUSTER])
def test_answers_are_the_same(sessions, tmp_path, capsys, monkeypatch, workers):
    # GIVEN a fast tier that is measured once
    monkeypatch.setattr(probe, "probe_tier", functools.cache(probe.probe_tier))
    asked = []
    original = ProcessPool.each

    def each(pool, *given):
        asked.append(given)
        return original(pool, *given)

    monkeypatch.setattr(ProcessPool, "each", each)
    for words in verbs(sessions, tmp_path):
        # WHEN
        alone = said(capsys, *words)
        found = said(capsys, *words, *workers)

        # THEN
        assert found == alone
    assert len(asked) >= 2 * ("--processes" in workers)


def test_report_is_the_same(sessions, tmp_path, capsys):
    # GIVEN
    alone, by_two = tmp_path / "alone.html", tmp_path / "two.html"

    # WHEN
    said(capsys, "report", sessions[0], "-o", str(alone))
    said(capsys, "report", sessions[0], "-o", str(by_two), "--processes", "2")

    # THEN
    assert by_two.read_bytes() == alone.read_bytes()


@pytest.mark.parametrize("verb", ["compare", "advise", "report"])
def test_processes_and_cluster_exclude_each_other(sessions, tmp_path, capsys, verb):
    words = {
        "compare": ["compare", *sessions],
        "advise": ["advise", "--logdir", sessions[0], "--fast", str(tmp_path)],
        "report": ["report", sessions[0], "-o", str(tmp_path / "r.html")],
    }[verb]

    assert main([*words, "--processes", "2", "--cluster", "local:2"]) == 2
    assert "exclude each other" in capsys.readouterr().err
