"""What commands say when they are done: each where it is so, and where it is not."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.integration.staging.tree import make_files, plan_of
from tests.unit.sentences.other_sessions import mapped
from tests.unit.sentences.sessions import SESSIONS
from tests.unit.sentences.shown import printed, raw_printed
from tests.unit.sentences.staged_files import COUNT
from tfdarshan.checkpoint import burst_status, pipeline
from tfdarshan.checkpoint.burst_options import BurstOptions
from tfdarshan.checkpoint.burst_status import TierStatus
from tfdarshan.commands import advise, burst, doctor, main, run, stage
from tfdarshan.commands.summary import MOST_FILES
from tfdarshan.doctor.hook_proof import HookProof
from tfdarshan.native import _bridge
from tfdarshan.recording.tensorflow import tf_plugin
from tfdarshan.staging.plan_file import PlannedFile, write_plan
from tfdarshan.staging.plan_formats import emit
from tfdarshan.units import human_bytes


def told(action: Any, *given: Any, **more: Any) -> str:
    """Return what something prints and complains of, in one line."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        action(*given, **more)
    return " ".join(out.getvalue().split())


@pytest.mark.parametrize("links", [0, 3])
def test_apply_counts_the_links_that_it_made(links, tmp_path):
    # GIVEN a plan of two files, and three that are in none
    make_files(tmp_path / "slow", 2 + links, largest=1000)
    (tmp_path / "fast").mkdir()
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")
    write_plan(plan.__class__(**vars(plan) | {"files": plan.files[:2]}), tmp_path / "plan.json")

    text = printed("stage", "apply", str(tmp_path / "plan.json"), "--mirror")

    assert text.startswith("copied 2 files, ")
    assert (f"{links} links to {tmp_path / 'slow'} made for the others" in text) == bool(links)
    assert (" made for the others" in text) == bool(links)


@pytest.mark.parametrize("lost", [0, 1, COUNT])
def test_verify_counts_the_copies_that_are_good(lost, staged, tmp_path):
    plan, _, fast_root = staged
    for file in plan.files[:lost]:
        (fast_root / file.name).unlink()
    write_plan(plan, tmp_path / "plan.json")

    text = printed("stage", "verify", str(tmp_path / "plan.json"))

    copies = "1 copy" if COUNT - lost == 1 else f"{COUNT - lost} copies"
    assert text.startswith(f"{copies} of {COUNT} good in {fast_root}")


@pytest.mark.parametrize("count", [10, 11, 1210])
def test_of_many_names_the_first_are_shown(count):
    text = told(stage._print_problems, {f"n{n}": "has no copy" for n in range(count)}, "not good")

    names = " ".join(f"n{n}" for n in range(10))
    assert text.startswith(f"{count:,} names not good: {count:,}: has no copy {names}")
    assert "n10" not in text
    assert (f"and {count - 10:,} more (--json has all)" in text) == (count > 10)


@pytest.mark.parametrize("gone", [True, False])
def test_a_link_whose_original_is_gone_leads_nowhere(gone, tmp_path):
    # GIVEN a mirror with a link to a file that is in no plan
    make_files(tmp_path / "slow", 2, largest=1000)
    (tmp_path / "fast").mkdir()
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")
    other = plan.files[1].name
    write_plan(plan.__class__(**vars(plan) | {"files": plan.files[:1]}), tmp_path / "plan.json")
    printed("stage", "apply", str(tmp_path / "plan.json"), "--mirror")
    if gone:
        (tmp_path / "slow" / other).unlink()

    text = printed("stage", "verify", str(tmp_path / "plan.json"))

    assert ("1 name links that lead nowhere: 1: its original is gone" in text) == gone
    assert ("lead nowhere" in text) == gone


def written(planned: Any, output: Path, kind: str | None = None) -> str:
    """Return what is said of a plan that was written, or of its list."""
    arguments = argparse.Namespace(output=output, format=kind)
    return told(advise._write, planned, arguments, "python train.py")


@pytest.mark.parametrize(("gone", "no_room"), [(0, 0), (2, 0), (0, 1200)])
def test_a_plan_says_where_it_is_and_what_is_not_in_it(gone, no_room, tmp_path):
    make_files(tmp_path / "slow", 2, largest=1000)
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")
    path = tmp_path / "plan.json"

    text = written(SimpleNamespace(plan=plan, gone=gone, no_room=no_room), path)

    assert f"tfdarshan: the plan is in {path}; copy with: tfdarshan stage apply" in text
    assert "tfdarshan: then run the job with the copies: " in text
    assert ("no longer there: 2 chosen files" in text) == bool(gone)
    assert ("grown so that they no longer fit: 1,200" in text) == bool(no_room)
    assert path.is_file()


def test_a_plan_of_no_file_says_so(tmp_path):
    make_files(tmp_path / "slow", 1, largest=1000)
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")
    empty = plan.__class__(**vars(plan) | {"files": ()})
    path = tmp_path / "plan.json"

    text = written(SimpleNamespace(plan=empty, gone=0, no_room=0), path)

    assert text == f"tfdarshan: the plan is in {path}; it has no file"


@pytest.mark.parametrize("odd", [0, 1])
def test_a_list_says_what_it_cannot_hold_and_what_takes_it(odd, tmp_path):
    make_files(tmp_path / "slow", 1, largest=1000)
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")
    names = (*plan.files, *[PlannedFile("a\nb", 1, 1)] * odd)
    plan = plan.__class__(**vars(plan) | {"files": names})

    text = written(SimpleNamespace(plan=plan, gone=0, no_room=0), tmp_path / "list", "list")
    warm = written(SimpleNamespace(plan=plan, gone=0, no_room=0), tmp_path / "list", "juicefs")

    lost = f"with a newline in the name, which this format cannot hold: {odd}"
    assert emit(plan, "list").left_out == odd
    assert (lost in text) == bool(odd)
    assert "use it with: " not in text
    assert f"tfdarshan: use it with: juicefs warmup --file {tmp_path / 'list'}" in warm


TIER = {"folder": Path("/fast"), "owner": ""}
STATUS: dict[str, TierStatus] = {
    "/fast: fast tier, in use by nobody drains to (not known yet) waiting nothing":
        TierStatus(**cast(Any, TIER), tier="fast"),
    "/fast: fast tier, in use by process 7 on node1 drains to /slow waiting nothing":
        TierStatus(**cast(Any, TIER | {"owner": "process 7 on node1"}), tier="fast", slow_folder="/slow"),
    "/fast: slow tier, in use by nobody durable no TensorFlow checkpoint kept none":
        TierStatus(**cast(Any, TIER), tier="slow"),
    "/fast: slow tier, in use by nobody durable model-5 kept model-4, model-5":
        TierStatus(**cast(Any, TIER), tier="slow", durable="model-5", kept=("model-4", "model-5")),
}  # fmt: skip


@pytest.mark.parametrize("words", STATUS)
def test_a_tier_is_said_to_be_as_it_stands(words):
    assert told(burst._print_status, STATUS[words]) == words


@pytest.mark.parametrize(
    ("owner", "words"),
    [(None, ""), ({}, "a process that is not known"), ({"pid": 7, "host": "n"}, "process 7 on n")],
)
def test_a_tiers_owner_is_who_holds_its_lock(owner, words, monkeypatch):
    monkeypatch.setattr(burst_status, "owner_of", lambda _: owner)

    assert burst_status._owner(Path("/fast/lock")) == words


def test_a_checkpoint_that_is_durable_is_said_to_be_where_it_is(tmp_path, monkeypatch):
    made: dict[str, Any] = {}
    monkeypatch.setattr(pipeline, "Pipeline", lambda *_, **more: made.update(more))
    options = dict.fromkeys(vars(BurstOptions())) | vars(BurstOptions())
    arguments = argparse.Namespace(fast=tmp_path, slow=Path("/slow"), json=False, **options)
    published = SimpleNamespace(target="model-5", entry=SimpleNamespace(size_bytes=3_000_000))

    burst._pipeline(arguments)
    text = told(made["on_durable"], SimpleNamespace(published=published, copy_s=2.0))

    assert text == f"durable: /slow/model-5, {human_bytes(3_000_000)} copied in 2.000 s"


@pytest.mark.parametrize("problem", ["", "the slow tier is away."])
def test_a_problem_of_draining_is_said_once(problem):
    drained = SimpleNamespace(status=lambda: SimpleNamespace(problem=problem))
    watch = SimpleNamespace(take_new=lambda: None)

    first = told(burst._look, watch, drained, "")
    again = told(burst._look, watch, drained, problem)

    assert (first, again) == ("tfdarshan: the slow tier is away; trying again" if problem else "", "")


def proofs(failed: int) -> list[HookProof]:
    """Return proofs of four hooks, of which some failed."""
    return [
        HookProof(f"h{n}", "read", 1, "FAILED" if n < failed else "ok", "no slot was patched")
        for n in range(4)
    ]


@pytest.mark.parametrize("failed", [0, 2])
def test_doctor_counts_the_hooks_that_it_proved(failed):
    lines = "\n".join(doctor._check_lines([], proofs(failed), every=False, width=200))

    counted = f"{4 - failed} ok" if failed else "4 ok"
    assert f"4, each with a call of its own: {doctor._counted(proofs(failed))} (-v lists them)" in lines
    assert counted in doctor._counted(proofs(failed))
    assert lines.count("no slot was patched") == failed


def test_a_session_without_files_has_none(tmp_path):
    none, some = (SESSIONS[name](tmp_path / name) for name in ("no call", "one call"))

    assert printed("files", str(none.path)) == "the session has no files"
    assert "the session has no files" not in printed("files", str(some.path))


def test_mapped_files_are_listed_apart(tmp_path):
    words = "Mapped files (page faults that were seen)"

    assert words in printed("files", str(mapped(tmp_path / "a").path))
    assert words not in printed("files", str(SESSIONS["one call"](tmp_path / "b").path))


@pytest.mark.parametrize("profiled", [True, False])
@pytest.mark.parametrize("imported", [True, False])
def test_a_run_that_recorded_nothing_says_why(imported, profiled, monkeypatch):
    monkeypatch.setattr(tf_plugin, "tensorflow_imported", lambda: imported)
    monkeypatch.setattr(_bridge, "last_tensorflow_session", lambda: SimpleNamespace(session=int(profiled)))

    text = told(run._say_if_nothing_was_profiled, os.getpid())

    why = "the script never started TensorFlow's profiler" if imported else "it uses no TensorFlow"
    words = (
        "tfdarshan: nothing was recorded, for TFDARSHAN=1 asks for sessions of TensorFlow's profiler alone, "
        f"and {why}. Without it all of the run is recorded."
    )
    assert text == ("" if profiled else words)


@pytest.mark.parametrize("rank", [True, False])
def test_a_rank_says_that_its_part_is_one(rank, tmp_path):
    path = tmp_path / "plugins/tfdarshan/2026_01_01_00_00_00" / ("rank-00003" if rank else "")
    whole = path.parent if rank else path

    text = told(run.Ending(0, as_json=False)._announce, path)

    what = "this rank's part of the session" if rank else "the session"
    assert text == f"tfdarshan: {what} is in {path}; see it with: tfdarshan summary {whole}"


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ({}, "one value a key"),
        ({"reverse_key": True}, "reverse keys"),
        ({"integerkey": True}, "integer keys"),
        ({"dupsort": True}, "several values a key"),
        ({"dupsort": True, "dupfixed": True}, "several values a key, values of one size"),
        ({"dupsort": True, "dupfixed": True, "integerdup": True},
         "several values a key, values of one size, integer values"),
    ],
)  # fmt: skip
def test_a_databases_kind_is_what_it_was_made_with(asked, kinds, tmp_path):
    # GIVEN a database that LMDB itself made so
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(tmp_path / "db"), max_dbs=1) as made, made.begin(write=True) as transaction:
        transaction.put(bytes(8), bytes(8), db=made.open_db(b"x", transaction, **asked))

    # WHEN
    text = printed("lmdb", "info", str(tmp_path / "db"), "--db", "x")

    # THEN
    found = text.partition(" kind ")[2]
    assert found.startswith(kinds), text
    assert not found.startswith(f"{kinds},")


@pytest.mark.parametrize("kept", [True, False])
def test_a_probe_of_a_session_says_that_it_is_kept_there(kept, tmp_path, monkeypatch):
    from tests.unit.sentences.made_up_advice import SHORT_PROBE
    from tfdarshan.commands import probe_data

    session = SESSIONS["one call"](tmp_path / "logs")
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(probe_data, "_probe", lambda *_: [SHORT_PROBE])
    monkeypatch.setattr(probe_data, "_keep", lambda *_: None)
    where = ["--logdir", str(session.path)] if kept else [str(tmp_path / "data")]

    text = printed("probe", *where)

    words = f"kept in {session.path}; see what it changes with: tfdarshan findings {session.path}"
    assert (words in text) == kept


@pytest.mark.parametrize(
    ("typed", "meant"), [("sumary", "did you mean summary?"), ("zzz", "`tfdarshan --help` lists them.")]
)
def test_a_verb_that_there_is_not_names_the_one_that_was_meant(typed, meant):
    with contextlib.redirect_stderr(io.StringIO()) as out, pytest.raises(SystemExit):
        printed_by_parser(typed)

    assert out.getvalue() == f"tfdarshan: there is no verb {typed!r}: {meant}\n"


def printed_by_parser(verb: str) -> None:
    """Parse a verb as the command line is."""
    from tfdarshan.commands import make_parser

    make_parser(verb).parse_args([verb])


def test_help_says_what_there_is():
    text = printed()

    more = (
        "`tfdarshan VERB --help` explains a verb. --version prints the version, --print-completion SHELL "
        "what makes a shell complete verbs and options (bash, zsh, tcsh)."
    )
    assert more in text
    assert "See a job's file I/O, counted by Darshan's definitions." in text


def test_help_of_summary_names_its_defaults():
    with contextlib.redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit):
        main(["summary", "--help"])

    text = " ".join(out.getvalue().split())
    assert f"files to list (default: {MOST_FILES}); implies -v" in text
    usual = "1; as many as there are processors for a large session of several processes"
    assert f"number of processes that load sessions (default: {usual})" in text


@pytest.mark.parametrize("cleaned", [[], ["removed /tmp/mount"]])
def test_a_workplace_without_leftovers_is_said_to_have_none(cleaned, monkeypatch):
    from tfdarshan.workloads import runner

    monkeypatch.setattr(runner, "clean", lambda *_, **__: cleaned)

    assert printed("workload", "clean") == (cleaned[0] if cleaned else "there was nothing to clean")


def test_a_data_set_that_was_made_says_how_large_it_is(monkeypatch):
    from tfdarshan.workloads import data_sets

    files = [SimpleNamespace(size_bytes=1000)] * 1200
    monkeypatch.setattr(data_sets, "make_data_set", lambda *_, **__: ("/data/set", files))

    assert printed("workload", "data", "imagenet") == "1,200 files, 1,200,000 bytes, in /data/set"


def test_every_column_of_files_has_a_name(tmp_path):
    head, row = raw_printed("files", str(SESSIONS["one call"](tmp_path).path)).splitlines()[:2]

    assert head.split()[-2:] == ["module", "path"]
    assert head.index("module") == row.index("POSIX")
