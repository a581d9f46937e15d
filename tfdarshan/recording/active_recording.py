"""One recording from attach to the finished session directory."""

from __future__ import annotations

import dataclasses
import glob
import importlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.errors import StorageError, reason
from tfdarshan.file_name import shell_word
from tfdarshan.frameworks.all_frameworks import rank_variables
from tfdarshan.frameworks.batch_log import note_rank
from tfdarshan.frameworks.following import offer
from tfdarshan.frameworks.pass_note import SUFFIX as BATCHES
from tfdarshan.native import _bridge, _extension
from tfdarshan.native.package_versions import check_packages
from tfdarshan.native.versions import versions
from tfdarshan.notice import say, warn
from tfdarshan.options import Options
from tfdarshan.recording.asked_clock import KEPT
from tfdarshan.recording.child_names import child_names
from tfdarshan.recording.clock_sample import both_clocks
from tfdarshan.recording.engine import Engine, builtin, choose_engine
from tfdarshan.recording.job_identity import (
    JOB_VARIABLE,
    RANK_VARIABLE,
    SIZE_VARIABLE,
    JobIdentity,
    job_identity,
)
from tfdarshan.recording.job_machine import UsedProcessors, cpu_seconds, machine_block, used_processors
from tfdarshan.recording.numpy_import import import_numpy
from tfdarshan.recording.rank_directory import CLOCK_FILE, job_block, make_rank_directory, next_number
from tfdarshan.recording.spool import (
    ENVIRONMENT_VARIABLE,
    SO_FAR_PREFIX,
    UNSEEN,
    UNSEEN_HEAD,
    Spool,
    make_spool,
    release_spool,
    remove_spool,
)
from tfdarshan.recording.writing_memory import check_memory_to_write
from tfdarshan.sessions.job_liveness import was_begun_by_this_process
from tfdarshan.sessions.rank_folder import logdir_of, whole_session
from tfdarshan.sessions.session_directory import (
    MARKER,
    STAMP_FORMAT,
    Marker,
    boot_id,
    discard_session_directory,
    host_name,
    make_session_directory,
    pid_namespace,
    process_start,
    write_marker,
    write_spool_marker,
)
from tfdarshan.storage_model import find_model

if TYPE_CHECKING:
    from tfdarshan.recording.clock_exchange import ClockExchange
    from tfdarshan.recording.libdarshan.darshan_overlay import DarshanCounts
    from tfdarshan.recording.libdarshan.darshan_records import DarshanRecords

SESSION_VARIABLE = "TFDARSHAN_SESSION"
UNREAD = "the process ended before libdarshan's records were read: the counters are the builtin engine's"


@dataclass
class Recording:
    """A recording that is attached. `directory` is the session directory."""

    directory: Path
    marker: Marker
    attached: _bridge.AttachReport
    engine: Engine
    options: Options
    used_before: UsedProcessors
    detached: dict[str, int] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    cpu_s_before: float = field(default_factory=cpu_seconds)
    machine: dict[str, Any] | None = None
    start: dict[str, float] = field(default_factory=dict)
    counted: DarshanRecords | Exception | None = None
    written: bool = False
    clock: ClockExchange | None = None

    @property
    def spool_directory(self) -> Path:
        """Where the spools are."""
        return Path(self.marker.spool_directory)

    @property
    def logdir(self) -> Path:
        """The logdir that the session directory is in."""
        return logdir_of(self.directory)

    def in_this_process(self) -> bool:
        """Return whether this process started it; a forked child did not."""
        return os.getpid() == self.marker.pid

    def stop_in_child(self) -> None:
        """Detach a forked child from its parent's session, which the parent writes."""
        if _bridge.session_active():
            _bridge.stop_session()

    def write(self) -> None:
        """Do what `finish()` does. Where that fails a warning says so, and where the recording is kept."""
        try:
            self.finish()
        except Exception as error:
            why = f"the session {self.directory} was not written: {_why(error).rstrip('.')}. "
            if self._is_lost():
                discard_session_directory(self.directory)
                warn(
                    f"{why}What was recorded is lost with that folder: name another, which nobody clears, "
                    f"with spool_dir or {ENVIRONMENT_VARIABLE}."
                )
                return
            warn(
                f"{why}What was recorded is kept in {self.spool_directory}; write it with "
                f"{self._recover_commands()}."
            )

    @contextmanager
    def kept_when_interrupted(self) -> Iterator[None]:
        """Yield where the recording is kept if an interrupt ends the block before it was written."""
        try:
            yield
        except BaseException:
            if not self.written:
                release_spool(self.spool_directory)
                say(
                    f"the session {self.directory} was interrupted before it was written. What was recorded "
                    f"is kept in {self.spool_directory}; write it with `{self._recover_command()}`"
                )
            raise

    def say_interrupt_waits(self) -> None:
        """Tell who pressed Ctrl-C what it waits for."""
        say(
            f"the session {self.directory} is written first; a second Ctrl-C ends at once, and "
            f"`{self._recover_command()}` writes it later"
        )

    def _marker_is_there(self) -> bool:
        """Return whether the marker was not removed: so after a chroot, if nothing of ours can be seen."""
        return not _was_removed(self.directory / MARKER) or _was_removed(self.spool_directory)

    def _is_lost(self) -> bool:
        """Return whether the spool folder was removed; not where the session directory is not seen either."""
        return _was_removed(self.spool_directory) and not _was_removed(self.directory / MARKER)

    def _recover_command(self) -> str:
        logdir, spool = map(shell_word, (self.logdir, self.spool_directory))
        if self._marker_is_there():
            return f"tfdarshan recover {logdir}"
        return f"tfdarshan recover --spool {spool} {logdir}"

    def _recover_commands(self) -> str:
        command = f"`{self._recover_command()}`"
        if self._marker_is_there():
            return f"{command}, or elsewhere with --to DIR"
        return f"{command}, or give another folder in place of the last one, which was removed"

    def finish(self) -> None:
        """Detach and write the session.

        Raises:
            Exception: Anything that went wrong in writing; nothing is attached then, and the spool is kept.
        """
        try:
            self.detach()
            check_memory_to_write(self.spool_directory)
            import_numpy()
            from tfdarshan.recording.writing.writer import write_session

            darshan, engine = self._darshan_counts()
            emulation = self.emulation()
            if self.options.as_if_paths and not emulation["emulation"]["calls"]:
                paths = ", ".join(self.options.as_if_paths)
                said = f"no file that the job used matches as_if_paths={paths}: nothing was emulated"
                self.add_note(said)
            extra = {
                "attach": {"start": dataclasses.asdict(self.attached), "stop": self.detached},
                "engine": engine.block(),
                **emulation,
                **({} if self.machine is None else {"machine": self.machine | self.start}),
                **self.extra,
            }
            notes = [*(note for note in self.marker.notes if note != UNREAD), *engine.notes]
            marker = dataclasses.replace(self.marker, versions=versions(), notes=notes)
            unmet = write_session(self.directory, marker, extra, darshan, child_names()).unmet
            (self.directory / MARKER).unlink()
            self.written = True
        except BaseException:
            release_spool(self.spool_directory)
            raise
        try:
            remove_spool(self.spool_directory)
        except BaseException:
            remove_spool(self.spool_directory)
            raise
        if unmet:
            (say if self.marker.started_by == "run" else warn)(f"{unmet}.")
        if self.options.probe:
            from tfdarshan.recording.probe_process import probe_storage_of

            probe_storage_of(self.directory)

    def _darshan_counts(self) -> tuple[DarshanCounts | None, Engine]:
        """Return what libdarshan counted, or the builtin engine where it has none to give."""
        if not self.engine.is_darshan:
            return None, self.engine
        from tfdarshan.recording.libdarshan.cross_check import Verification
        from tfdarshan.recording.libdarshan.darshan_overlay import DarshanCounts
        from tfdarshan.recording.libdarshan.darshan_records import DarshanRecords

        records, self.counted = self.counted, None
        if isinstance(records, StorageError):
            return None, builtin(f"the builtin engine counted: {str(records).rstrip('.')}")
        if not isinstance(records, DarshanRecords):
            raise records or StorageError("libdarshan's records were not read.")
        patterns = _excluded(self.options, self.logdir), self.options.include_patterns()
        verification = Verification(*patterns, foreign=self.engine.foreign, full=records.full)
        return DarshanCounts(records, verification), self.engine

    def _read_libdarshan(self) -> None:
        """Take libdarshan's records over before another session can begin, whose own would replace them."""
        try:
            import_numpy()
            from tfdarshan.recording.libdarshan.darshan_records import read_records

            self.counted = read_records()
        except Exception as error:  # said when the session is written
            self.counted = error

    def emulation(self) -> dict[str, Any]:
        """Say in the metadata that times are emulated, and by which model."""
        if self.options.as_if is None:
            return {}
        totals = _bridge.emulation_totals()
        block = {
            "model": dataclasses.asdict(find_model(self.options.as_if)),
            "paths": list(self.options.as_if_paths),
            **dataclasses.asdict(totals),
        }
        return {"emulation": block}

    def detach(self) -> None:
        """Detach, once. What did not go as it should is worth a note, not the session.

        Raises:
            StorageError: It is still attached.
        """
        if self.detached is not None:
            return
        used_s = cpu_seconds() - self.cpu_s_before
        self._compare_clocks()
        try:
            self.detached = dataclasses.asdict(_bridge.stop_session())
        except StorageError as error:
            if _bridge.session_active():
                raise
            self.detached = {}
            self.add_note(str(error).rstrip("."))
        if self.engine.is_darshan:
            self._read_libdarshan()
        # Only now: what it reads is not to be in the session.
        now, before = used_processors(), self.used_before
        self.machine = machine_block(used_s + now.running_s - before.running_s, now.by_others(before))

    def note_start(self) -> None:
        """Note when the first step begins, and what processor time the job has taken by now: of imports."""
        took_s = time.monotonic() - self.used_before.at_s
        self.start = {"start_s": took_s, "start_cpu_s": cpu_seconds() - self.cpu_s_before}
        # It may be one of several ranks, and have started the others.
        note_rank(if_told=True)

    def _compare_clocks(self) -> None:
        """Note what the job's first host says of this host's clock."""
        found = None if self.clock is None else self.clock.end()
        job = self.marker.job
        if found is not None and job is not None:
            clock = job["clock"] | {"peer": found}
            self.marker = dataclasses.replace(self.marker, job=job | {"clock": clock})

    def add_note(self, note: str) -> None:
        """Add a sentence to what the metadata says of bounds."""
        self.marker = dataclasses.replace(self.marker, notes=[*self.marker.notes, note])

    def note_copies(self, folder: str) -> None:
        """Note the folder of the copies that the job opens in place of originals."""
        self.marker = dataclasses.replace(self.marker, copies=folder)

    def rename(self, stamp: str) -> None:
        """Give the session another stamp before it is written; `_2` and so on is added to one that is taken.

        It keeps its name where `stamp` is none, the directory cannot be renamed, or other ranks share it.
        """
        if stamp == self.directory.name or self.marker.job is not None:
            return
        with suppress(ValueError, StorageError, OSError):
            directory = make_session_directory(self.logdir, time.strptime(stamp, STAMP_FORMAT))
            self.directory.rename(directory)
            self.directory = directory
            self.marker = dataclasses.replace(self.marker, session=directory.name)
            write_marker(directory, self.marker)
            write_spool_marker(self.marker)

    def discard(self) -> None:
        """Detach, and forget what was recorded."""
        self.detach()
        discard_session_directory(self.directory)
        remove_spool(self.spool_directory)


def start_recording(logdir: Path, options: Options, started_by: str) -> Recording:
    """Check the logdir, make spool and session directory, and attach; leave nothing behind if it cannot.

    Raises:
        TfdarshanError: Logdir, spool or platform cannot be used.
    """
    _extension.core()
    check_packages()
    # Arrow, which writes the session, imports this module; once the interpreter is ending that is refused.
    importlib.import_module("concurrent.futures.thread")
    # A session of TensorFlow's own profiler is one process's, whatever its job.
    variables = {**rank_variables(), **os.environ}
    identity = None if started_by == "tensorflow" else job_identity(variables, options.job)
    named = options.job or os.environ.get(JOB_VARIABLE)
    if identity is None and named and started_by != "tensorflow":
        warn(
            f"no variable says which rank of job {named!r} this process is, so its session is its own: "
            f"set {RANK_VARIABLE} and {SIZE_VARIABLE}."
        )
    number = 0 if identity is None else next_number(logdir, identity)
    if identity is None:
        directory = make_session_directory(logdir)
    else:
        # Before anything is recorded: an import reads files.
        importlib.import_module("tfdarshan.recording.clock_exchange")
        directory = make_rank_directory(logdir, identity, number)
    spool: Spool | None = None
    try:
        spool = make_spool(options, directory.name, (identity and identity.local_size) or 1)
        engine = choose_engine(
            "builtin" if options.as_if is not None else options.engine,
            options.darshan_library,
            files=options.darshan_files,
            folder=spool.directory.parent,
        )
        marker = _marker(directory, spool, options, engine, started_by)
        if identity is not None:
            marker = dataclasses.replace(marker, job=job_block(directory, identity, number))
        write_spool_marker(marker)
        write_marker(directory, marker)
        model = None if options.as_if is None else find_model(options.as_if)
        _bridge.emulate(model, options.as_if_patterns())
        if options.follow_children:
            offer_to_programs(spool.directory, directory)
        library = _extension.program_library() if options.programs else None
        # Before anything is recorded: it reads a file.
        used_before = used_processors()
        attached = _bridge.start_session(
            spool.directory,
            capacity_bytes=spool.capacity_bytes,
            trace_limit_bytes=spool.trace_limit_bytes,
            include=options.include_patterns(),
            exclude=_excluded(options, logdir),
            exclude_followed=len(options.exclude),
            follow_children=options.follow_children,
            darshan=engine.is_darshan,
            program_library=library,
            mapped=options.mapped,
        )
    except BaseException:
        discard_session_directory(directory)
        if spool is not None:
            remove_spool(spool.directory)
        raise
    clock = _begin_clock(directory, spool.directory, identity)
    return Recording(directory, marker, attached, engine, options, used_before, clock=clock)


def _begin_clock(directory: Path, spool: Path, identity: JobIdentity | None) -> ClockExchange | None:
    """Begin to compare clocks with a job's other hosts: only such a job imports what talks to them."""
    if identity is None:
        return None
    from tfdarshan.recording.clock_exchange import begin_exchange

    return begin_exchange(directory, spool, identity)


def offer_to_programs(spool_directory: Path, directory: Path) -> None:
    """Put into the spool folder what started processes need, and a list of those that cannot join."""
    with suppress(OSError):  # then none joins
        unseen = spool_directory / UNSEEN
        unseen.touch(mode=0o600)
        unseen.write_text(UNSEEN_HEAD, encoding="ascii")
        (spool_directory / "core").symlink_to(_extension.extension_path())
        (spool_directory / "session").symlink_to(directory)
        realtime_ns, monotonic_ns, _ = both_clocks()
        offer(spool_directory, realtime_ns - monotonic_ns)


def joined_session() -> Path | None:
    """Return the directory of the session that this process joined at its start, None if it did not."""
    folder = _named_spool_folder()
    if folder is None or not (_bridge.session_active() or _bridge.take_over_session(folder)):
        return None
    return _session_of(folder)


def earlier_session() -> Path | None:
    """Return the directory of the session that this process began as another program, None if it did not."""
    folder = _named_spool_folder()
    directory = None if folder is None else _session_of(folder)
    return directory if directory is not None and was_begun_by_this_process(directory) else None


def _named_spool_folder() -> Path | None:
    """Return the spool folder that the environment names: see csrc/job/session_name.h."""
    folder = "".join(os.environ.get(SESSION_VARIABLE, "").split(":", 2)[2:])
    return Path(folder) if folder else None


def _session_of(spool_directory: Path) -> Path | None:
    try:
        return (spool_directory / "session").readlink()
    except OSError:
        return None


def _excluded(options: Options, logdir: Path) -> tuple[str, ...]:
    """Return the patterns of what is left out: also what is read of a session before it has ended.

    TensorFlow's profiler may end before the session, and write its trace meanwhile.
    """
    own = glob.escape(str(logdir))
    traces = () if options.tf_profiler is False else (own, f"{own}/plugins", f"{own}/plugins/*")
    return (
        *options.exclude_patterns(),
        *traces,
        "*/tfdarshan-*/*.spool",
        f"*/tfdarshan-*/*{BATCHES}",
        "*/tfdarshan-*/core",
        f"*/tfdarshan-*/{KEPT}*",
        f"*/{SO_FAR_PREFIX}*",
        f"*/plugins/tfdarshan/*/{CLOCK_FILE}*",
    )


def _was_removed(path: Path) -> bool:
    """Return whether nothing has this name; not whether it cannot be seen, as after a change of user."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass
    return False


def _why(error: Exception) -> str:
    """Return why a session was not written.

    What writing needs is loaded when the session stops, for it takes the host time and memory: by then the
    process may see other files. A library that refuses what it finds names no module, and says why itself.
    NumPy's error gives advice: the reason is its cause.
    """
    while isinstance(error, ImportError) and not error.name and isinstance(error.__cause__, ImportError):
        error = error.__cause__
    if isinstance(error, ImportError) and error.name and error.path:
        return f"this process can no longer load {error.name} ({reason(error)})"
    if isinstance(error, ImportError) and error.name:
        return f"this process can no longer load {error.name}, as after chroot, seccomp or a change of user"
    return reason(error)


def _marker(directory: Path, spool: Spool, options: Options, engine: Engine, started_by: str) -> Marker:
    # For `recover`: libdarshan's records end with their process.
    notes = [*spool.notes, *([UNREAD] if engine.is_darshan else [])]
    return Marker(
        session=whole_session(directory).name,
        spool_directory=str(spool.directory),
        host=host_name(),
        pid=os.getpid(),
        process_start=process_start(os.getpid()),
        boot_id=boot_id(),
        pid_namespace=pid_namespace(),
        start_realtime_ns=time.time_ns(),
        options=options.as_dict(),
        notes=notes,
        versions=versions(),
        started_by=started_by,
    )
