"""What is said while a job records, and of what it lost: each where it is so, and where it is not."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.unit.sentences.made_up_spool import MARKER, info_of
from tfdarshan.errors import SessionActiveError, SessionDataError, StorageError
from tfdarshan.native import _extension
from tfdarshan.native.spool_reader import ThreadInfo
from tfdarshan.options import Options
from tfdarshan.recording import active_recording, probe_process, profiler
from tfdarshan.recording.active_recording import UNREAD, Recording, start_recording
from tfdarshan.recording.engine import Engine, builtin
from tfdarshan.recording.job_identity import JOB_VARIABLE, RANK_VARIABLE, SIZE_VARIABLE
from tfdarshan.recording.profiler import Profile
from tfdarshan.recording.spool import UNSEEN, UNSEEN_HEAD
from tfdarshan.recording.steps import watch_steps
from tfdarshan.recording.writing.bypasses import BYPASSES, bypass_sentences
from tfdarshan.recording.writing.started_programs import REASONS, StartedPrograms
from tfdarshan.recording.writing.writer import _bounds_reached, _skipped
from tfdarshan.sessions import background_writer
from tfdarshan.sessions.session_directory import MARKER as MARKER_NAME


def bounds_of(ranks: int = 1, skipped: int = 0, *, trace: bool = True, **figures: int) -> list[str]:
    """Return what is said of the bounds that a process of a job of so many ranks on its host reached."""
    marker = dataclasses.replace(MARKER, options={"trace": trace}, job={"local_size": ranks})
    return _bounds_reached(marker, info_of(**figures), skipped)


BOUNDS: dict[str, dict[str, Any]] = {
    "300 of 1,000 segments were dropped: the trace was full (trace_memory_mb = 16); the counters have all of "
    "them": {"events_dropped": 300},
    "300 of 1,000 segments were dropped: the trace was full (trace_memory_mb = 16 for each of 4 ranks); the "
    "counters have all of them": {"events_dropped": 300, "ranks": 4},
    "1 file found no room for a row (memory_cap_mb = 64): they share one, and the totals have all of them":
        {"files_over_cap": 1},
    "the spool was full for part of the session": {"spool_full": 1},
    "1,200 calls were not recorded: made by signal handlers inside the recorder, or with the spool full":
        {"skipped": 1200},
    "damaged parts of the spool were left out": {"damaged": 1},
}  # fmt: skip


@pytest.mark.parametrize("words", BOUNDS)
def test_a_bound_that_was_reached_is_said_to_be(words):
    assert bounds_of(**BOUNDS[words]) == [words]
    assert bounds_of() == []


WAYS = {
    "TFD_BYPASS_IO_URING": ("io_uring", "use a reader that calls `pread()`"),
    "TFD_BYPASS_AIO": ("Linux AIO", "use a reader that calls `pread()`"),
    "TFD_BYPASS_CUFILE": ("cuFile", "set `force_compat_mode` to true in `cufile.json`"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_around_libc_is_named_and_what_records_its_calls(way):
    name, fix = WAYS[way]
    (said,) = bypass_sentences(getattr(_extension.core().lib, way))

    assert said == (
        f"any file reads and writes through {name} are missing, because they make no libc calls: {fix}"
    )
    assert set(BYPASSES) == set(WAYS)
    assert len(bypass_sentences(7)) == 3
    assert bypass_sentences(0) == []


def test_segments_that_were_not_wanted_are_not_missed():
    assert bounds_of(events_dropped=300, trace=False) == []


def test_files_beyond_the_cap_are_counted_at_least_where_their_names_were():
    (text,) = bounds_of(files_over_cap=1 << 40)

    assert text.startswith(f"at least {1 << 40:,} files found no room for a row")


def test_calls_that_were_skipped_are_those_of_threads():
    other = {"skipped": {"reads": 2, "writes": 3, "other_calls": 4, "read_bytes": 100}}
    threads = [ThreadInfo(1, "a", 0, 0, other), ThreadInfo(2, "b", 0, 0, {})]

    assert _skipped(threads) == 9
    assert _skipped(threads[1:]) == 0


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is said and warned of."""
    texts: list[str] = []
    for module in (active_recording, profiler, probe_process, background_writer):
        for name in ("say", "warn"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, texts.append)
    return texts


def recording_in(folder: Path, *, removed: bool = False) -> Recording:
    """Return a recording that is not written; its session's directory is there, or was removed."""
    directory = folder / "a b" / "plugins" / "tfdarshan" / MARKER.session
    directory.mkdir(parents=True)
    (folder / "spool").mkdir()
    if not removed:
        (directory / MARKER_NAME).touch()
    marker = dataclasses.replace(MARKER, spool_directory=str(folder / "spool"))
    return Recording(directory, marker, cast(Any, None), builtin(), Options(), cast(Any, None))


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_a_session_that_was_not_written_says_why_and_how_to_write_it(
    fails, removed, said, tmp_path, monkeypatch
):
    recording = recording_in(tmp_path, removed=removed)

    def finish(_: Recording) -> None:
        if fails:
            raise ModuleNotFoundError("no module", name="pyarrow")

    monkeypatch.setattr(Recording, "finish", finish)

    recording.write()

    logdir, spool = shlex.quote(str(tmp_path / "a b")), tmp_path / "spool"
    how = (
        f"`tfdarshan recover --spool {spool} {logdir}`, or give another folder in place of the last one, "
        "which was removed"
        if removed
        else f"`tfdarshan recover {logdir}`, or elsewhere with --to DIR"
    )
    words = (
        f"the session {recording.directory} was not written: this process can no longer load pyarrow, as "
        "after chroot, seccomp or a change of user. What was recorded is kept in "
        f"{spool}; write it with {how}."
    )
    assert said == ([words] if fails else [])


def test_an_error_of_numpys_is_said_by_its_cause(said, tmp_path, monkeypatch):
    # GIVEN NumPy, which names no module, and advises first
    def finish(_: Recording) -> None:
        cause = ImportError("libblas.so: failed to map segment", name="_multiarray_umath", path="/n.so")
        raise ImportError("\nIMPORTANT: PLEASE READ THIS FOR ADVICE!\n") from cause

    monkeypatch.setattr(Recording, "finish", finish)

    # WHEN
    recording_in(tmp_path).write()

    # THEN
    why = "this process can no longer load _multiarray_umath (libblas.so: failed to map segment). What was"
    assert why in said[0]


@pytest.mark.parametrize("written", [True, False])
def test_an_interrupt_says_what_becomes_of_the_session(written, said, tmp_path):
    recording = recording_in(tmp_path)
    recording.written = written
    command = f"tfdarshan recover {shlex.quote(str(tmp_path / 'a b'))}"

    with pytest.raises(KeyboardInterrupt), recording.kept_when_interrupted():
        raise KeyboardInterrupt
    recording.say_interrupt_waits()

    lost = (
        f"the session {recording.directory} was interrupted before it was written. What was recorded is kept "
        f"in {tmp_path / 'spool'}; write it with `{command}`"
    )
    waits = (
        f"the session {recording.directory} is written first; a second Ctrl-C ends at once, and `{command}` "
        "writes it later"
    )
    assert said == [*([] if written else [lost]), waits]


@pytest.mark.parametrize("pressed", [True, False])
def test_sessions_that_are_written_behind_the_job_say_so_at_an_interrupt(pressed, said, monkeypatch):
    @contextmanager
    def held(tell: Callable[[], None]) -> Iterator[None]:
        if pressed:
            tell()
        yield

    monkeypatch.setattr(background_writer, "HeldInterrupt", held)

    background_writer._finish()

    words = (
        "a session is written first; a second Ctrl-C ends at once, and `tfdarshan recover` writes it later"
    )
    assert said == ([words] if pressed else [])


@pytest.mark.parametrize("counted", [StorageError("libdarshan's records were not read: no memory."), None])
def test_records_that_could_not_be_read_are_why_the_builtin_engine_counted(counted, tmp_path):
    recording = recording_in(tmp_path)
    if counted is not None:
        recording.engine = Engine("darshan", "3.4.7", "argument", "/lib/libdarshan.so")
        recording.counted = counted

    _, engine = recording._darshan_counts()

    why = "the builtin engine counted: libdarshan's records were not read: no memory"
    assert engine.notes == (() if counted is None else (why,))


@pytest.mark.parametrize("name", ["darshan", "builtin"])
def test_a_killed_job_lacks_libdarshans_counters(name, tmp_path):
    spool = SimpleNamespace(directory=tmp_path, notes=[])

    marker = active_recording._marker(tmp_path, cast(Any, spool), Options(), Engine(name, "1", "a"), "python")

    assert UNREAD == (
        "the process ended before libdarshan's records were read: the counters are the builtin engine's"
    )
    assert marker.notes == ([UNREAD] if name == "darshan" else [])


@pytest.mark.parametrize("named_by", ["option", "variable"])
@pytest.mark.parametrize(
    ("ranked", "started_by", "warned"),
    [(True, "python", False), (False, "python", True), (False, "tensorflow", False)],
)
def test_a_job_whose_ranks_nobody_numbers_is_said_to_be(
    ranked, started_by, warned, named_by, said, tmp_path, monkeypatch
):
    # GIVEN
    if named_by == "variable":
        monkeypatch.setenv(JOB_VARIABLE, "bert")
    monkeypatch.setattr(active_recording, "job_identity", lambda *_: object() if ranked else None)
    monkeypatch.setattr(active_recording, "next_number", lambda *_: 0)

    def stopped(*_: object) -> None:
        raise StorageError("enough")

    for name in ("make_session_directory", "make_rank_directory"):
        monkeypatch.setattr(active_recording, name, stopped)

    # WHEN
    with pytest.raises(StorageError, match="enough"):
        start_recording(tmp_path, Options(job="bert" if named_by == "option" else None), started_by)

    # THEN
    words = (
        "no variable says which rank of job 'bert' this process is, so its session is its own: set "
        f"{RANK_VARIABLE} and {SIZE_VARIABLE}."
    )
    assert said == ([words] if warned else [])


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        (1, "tfdarshan: the mount hangs.\n", "the mount hangs"),
        (1, "", "no reason was given"),
        (0, "", None),
        (-2, "", None),
    ],
)
def test_storage_that_was_not_probed_says_why(code, error, words, said, monkeypatch):
    monkeypatch.setattr(probe_process, "_run", lambda _: (code, error))

    probe_process.probe_storage_of(Path("/logs/a b"))

    again = "to try again: tfdarshan probe --logdir '/logs/a b'."
    assert said == ([] if words is None else [f"the storage was not probed: {words}; {again}"])


def profile_in(folder: Path, *, text: str = "", error: Exception | None = None) -> Any:
    """Return a profile that joined another one's session, of which such a summary is there."""
    joined = Profile(folder / "logs")
    other = SimpleNamespace(path=folder / "session", _recording=object(), recorded=True)
    joined._shared = cast(Any, other)
    joined._path = folder / "session"

    def read() -> Any:
        if error is not None:
            raise error
        return SimpleNamespace(summary=lambda verbose: text)

    joined._read = read  # type: ignore[method-assign]
    return joined


def test_a_session_that_goes_on_says_that_it_does(tmp_path):
    later = f"See all of it after the job with: tfdarshan summary {tmp_path / 'session'}"
    too_large = SessionDataError("what was recorded so far is too large to be read meanwhile (9 GB).")

    so_far = profile_in(tmp_path, text="34 % waits.").summary()
    unread = profile_in(tmp_path, error=too_large).summary()

    assert so_far == (f"The session is still recording: this is what it has so far.\n{later}\n\n34 % waits.")
    assert unread == f"The session is still recording, and {str(too_large)[:-1]}.\n{later}"


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_session_of_another_process_is_said_to_be(elsewhere, said, tmp_path):
    found, path = profile_in(tmp_path, text="34 % waits."), tmp_path / "theirs"
    if elsewhere:
        found._meet_elsewhere(path)

    theirs = f"The session is another process's: see it after the job with: tfdarshan summary {path}"
    words = (
        f"this process is recorded by the session {path} of the process that started it: "
        f"profile({str(found.logdir)!r}) adds nothing."
    )
    assert (found.summary() == theirs) == elsewhere
    assert said == ([words] if elsewhere else [])


def test_a_table_that_cannot_be_read_yet_is_empty_and_says_so(said, tmp_path):
    found = profile_in(tmp_path, error=SessionDataError("what was recorded so far cannot be read: gone."))

    assert len(found.files) == 0
    assert said == [
        f"what was recorded so far cannot be read: gone; read {tmp_path / 'session'} after the job."
    ]


@pytest.mark.parametrize("joins", [True, False])
def test_a_profile_under_run_joins_its_session(joins, said, tmp_path):
    own, holder = Profile(tmp_path / "own"), Profile(tmp_path / "runs")
    holder._path, holder._accepts_joins = tmp_path / "session", joins
    holder.in_this_process = lambda: True  # type: ignore[method-assign]

    if joins:
        own._meet(holder)
    else:
        with pytest.raises(SessionActiveError, match="already records this process, into "):
            own._meet(holder)

    words = (
        f"this process runs under `tfdarshan run`: profile({str(own.logdir)!r}) joins its session "
        f"{tmp_path / 'session'}."
    )
    assert said == ([words] if joins else [])


@pytest.mark.parametrize("fails", [False, True])
def test_a_profile_of_steps_joins_the_steps_of_a_run(fails, said, tmp_path, monkeypatch):
    # GIVEN a run that waits for its steps
    run = Profile(tmp_path / "runs", steps=(3, 4)).start()
    monkeypatch.setattr(profiler, "_run", run)
    own = Profile(tmp_path / "own", steps=1)

    # WHEN
    own.start()
    unreached = own.summary()
    run._chosen._over = fails
    failed = own.summary()
    watch_steps(None)

    # THEN
    words = f"profile({str(own.logdir)!r}) joins its session."
    assert said == [f"this process runs under `tfdarshan run --steps 3-4`: {words}"]
    assert unreached.startswith("steps 3 to 4 were not reached: ")
    assert failed == ("nothing was recorded: an earlier warning says why." if fails else unreached)


def test_who_is_recorded_already_is_named(tmp_path):
    own, holder = Profile(tmp_path / "own"), Profile(tmp_path / "theirs")
    holder._path = tmp_path / "session"

    with pytest.raises(SessionActiveError) as raised:
        own._meet(holder)

    assert str(raised.value).startswith(
        f"a session already records this process, into {tmp_path / 'session'}: "
    )


@pytest.mark.parametrize("letter", REASONS)
def test_a_program_that_was_not_recorded_says_why(letter, tmp_path):
    (tmp_path / UNSEEN).write_text(f"{UNSEEN_HEAD}{letter} /bin/a\n{letter} /bin/a\n? /bin/b\n")

    (text,) = StartedPrograms(tmp_path).sentences()

    assert text == (
        f"2 processes that the job started could not be recorded: /bin/a ({REASONS[letter]}, 2 times)"
    )
    assert UNSEEN_HEAD == "processes that are not recorded\n"
    assert not StartedPrograms(tmp_path / "none").sentences()
    assert REASONS["p"] == "run with other privileges"
    assert REASONS["g"] == "started where tfdarshan's library cannot be reached"


def test_each_letter_of_the_core_has_a_reason():
    header = (Path(__file__).parents[3] / "csrc/job/unseen_program.h").read_text(encoding="utf-8")

    assert set(re.findall(r"= '(\w)'", header)) == set(REASONS)
