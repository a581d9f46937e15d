"""The figures of `summary` against the raw tables, on sessions that have them and sessions that do not."""

from __future__ import annotations

import json

import pytest

from tests.unit.sentences.raw_figures import OPENS, READS, Raw, raw
from tests.unit.sentences.sessions import KB, MB, SESSIONS, partly_cached
from tfdarshan.commands import main
from tfdarshan.session import Session
from tfdarshan.units import exact_bytes, human_bytes, human_rate, human_seconds, percent, plural

NAMES = ("no call", "one call", "one reader", "reads of nothing", "only writes", "checkpoints", "rare stats")
MISSED = "Unseen: what libc reads for itself"


def printed(session: Session, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Gives what the command says, in one line."""
    assert main(["summary", str(session.path), *more]) == 0
    return " ".join(capsys.readouterr().out.split())


def duration_s(session: Session) -> float:
    """Gives how long the session is, by its metadata."""
    (meta,) = session.path.glob("*.meta.json")
    return float(json.loads(meta.read_text())["duration_ns"]) / 1e9


def moved(found: Raw, names: tuple[str, ...], noun: str, whole_s: float) -> str:
    """Words calls that move bytes; "" of none."""
    calls = found.calls(*names)
    if not len(calls):
        return ""
    empty = int((calls["length"] == 0).sum())
    at_end = f" ({plural(empty, 'end-of-file read')})" if empty else ""
    size, seconds = float(calls["length"].sum()), found.union_s(calls)
    took = (
        f"{human_seconds(seconds)}, {percent(seconds, whole_s)} of the session; {human_rate(size, seconds)}"
    )
    return f"{human_bytes(size)} in {plural(len(calls), noun)}{at_end}; {took} in that time"


@pytest.mark.parametrize("name", NAMES)
def test_what_was_read_written_and_opened(name, tmp_path, capsys):
    # GIVEN
    session = SESSIONS[name](tmp_path)
    found, whole_s = raw(session), duration_s(session)

    # WHEN
    text = printed(session, capsys)

    # THEN there is a line for each that there was
    for label, words in (
        ("Read ", moved(found, READS, "read", whole_s)),
        ("Written ", moved(found, ("write",), "write", whole_s)),
    ):
        assert (f" {label}" in text.replace("Read with", "").replace("Read as", "")) == bool(words)
        assert words in text
    opens, stats = found.calls(*OPENS), found.calls("stat")
    assert f" {plural(len(opens), 'open')}" in text
    assert (f", {plural(len(stats), 'stat')}" in text) == bool(len(stats))


@pytest.mark.parametrize("name", NAMES[1:])
def test_all_of_it_is_by_the_tables(name, tmp_path, capsys):
    # GIVEN
    session = SESSIONS[name](tmp_path)
    found, whole_s = raw(session), duration_s(session)

    # WHEN
    text = printed(session, capsys, "-v")

    # THEN
    seconds = found.union_s(found.events)
    summed = float((found.events["end_ns"] - found.events["start_ns"]).sum()) / 1e9
    assert f"any call {human_seconds(seconds)} {percent(seconds, whole_s)} " in text
    assert f"summed over threads {human_seconds(summed)} {summed / seconds:.1f} calls at a time" in text
    assert (f"of them zero-length {len(found.empty_reads):,} " in text) == bool(len(found.empty_reads))
    for label, names in (("bytes read", READS), ("bytes written", ("write",))):
        size = int(found.calls(*names)["length"].sum())
        in_all = f"{human_bytes(size)} in all" if size else ""
        assert f"{label} {size:,} 0 {in_all}".rstrip() in text
    each = (found.events["end_ns"] - found.events["start_ns"]).groupby(found.events["file"]).sum() / 1e9
    assert f"Slowest files time read write open, stat bytes path {human_seconds(each.max())} " in text


@pytest.mark.parametrize(
    ("stored", "charged", "share", "missed"),
    [
        (6 * MB, 20 * MB, "100.0 %", False),
        (6 * MB, 20 * MB + KB, "> 99.9 %", False),
        (6 * MB, 25 * MB, "80.0 %", True),
        (0, 19 * MB, "100.0 %", False),
    ],
)
def test_coverage_is_the_kernels(stored, charged, share, missed, tmp_path, capsys):
    # GIVEN 20 MB of reads, and what the kernel counted
    session = partly_cached(tmp_path, stored, charged)

    # WHEN
    text, brief = printed(session, capsys, "-v"), printed(session, capsys)

    # THEN
    assert f"read {share} of {exact_bytes(charged)} (rchar)" in text
    assert f"from storage (read_bytes) {exact_bytes(stored)}" in text
    assert f"Seen {share} of the bytes read, by the kernel's count" in brief
    assert (MISSED in text) == missed
    assert ("not seen, at least 5.0 MB" in text) == missed


def test_coverage_is_not_known_without_the_kernels_figures(tmp_path, capsys):
    session = SESSIONS["one reader"](tmp_path)

    text, brief = printed(session, capsys, "-v"), printed(session, capsys)

    assert "Coverage: not known, the kernel's figures are missing" in text
    assert MISSED not in text
    assert "Seen not known: the kernel's figures are missing" in brief
