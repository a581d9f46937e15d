"""Both tiers, the drain between them and the ledger: what every way of saving puts its checkpoints into."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tfdarshan.checkpoint.bundle import Bundle
from tfdarshan.checkpoint.burst_errors import BurstBufferError, TierInUseError
from tfdarshan.checkpoint.burst_options import BurstOptions
from tfdarshan.checkpoint.copying import Copier, Growing
from tfdarshan.checkpoint.drain import Drain, DrainOptions, DrainStatus
from tfdarshan.checkpoint.fast_tier import FastTier
from tfdarshan.checkpoint.ledger import Ledger
from tfdarshan.checkpoint.manifest import Entry
from tfdarshan.checkpoint.pairing import open_slow
from tfdarshan.checkpoint.retention import Retention
from tfdarshan.checkpoint.slow_tier import Publication, SlowTier
from tfdarshan.durable.file_operations import Storage
from tfdarshan.errors import ConfigurationError, reason
from tfdarshan.file_name import shell_word
from tfdarshan.notice import say
from tfdarshan.units import plural


class Pipeline:
    """Takes complete checkpoints on the fast tier and makes them durable on the slow one.

    Args:
        fast_dir: Folder on fast storage.
        slow_dir: Folder on slow, lasting storage.
        options: See `BurstOptions`.
        storage: The file operations.
        on_durable: Called in the drain's thread after each checkpoint that became durable.

    Raises:
        ConfigurationError: An option or a folder cannot be used.
        TierInUseError: Another burst buffer owns one of the folders.
        BurstBufferError: A folder cannot be read or written.
    """

    def __init__(
        self,
        fast_dir: str | os.PathLike[str],
        slow_dir: str | os.PathLike[str],
        options: BurstOptions,
        *,
        storage: Storage | None = None,
        on_durable: Callable[[Publication], None] | None = None,
    ) -> None:
        fast_folder, slow_folder = tier_folders(fast_dir, slow_dir)
        storage = storage or Storage()
        drain_options = DrainOptions(
            max_pending=options.max_pending,
            when_full=options.when_full,
            wait_limit_s=options.wait_limit_s,
            first_retry_s=options.retry_s,
            nice=options.nice,
        )
        rate = None if options.bandwidth_mb_s is None else options.bandwidth_mb_s * 1e6
        copier = Copier(storage, buffer_bytes=options.buffer_mb << 20, bytes_per_s=rate)
        self.options = options
        self.fast = FastTier(fast_folder, storage=storage, clock=time.time)
        self.slow = SlowTier(
            slow_folder,
            storage=storage,
            copier=copier,
            retention=Retention(
                max_to_keep=options.max_to_keep, every_n_hours=options.keep_checkpoint_every_n_hours
            ),
            verify=options.verify,
        )
        self.ledger = Ledger(fast_folder, slow_folder)
        # Copies on the fast tier itself, of files that are still written to, have a buffer of their own.
        self._capture_copier = Copier(storage)
        self.drain = Drain(
            self.fast,
            self.slow,
            self.ledger,
            drain_options,
            on_durable=on_durable,
            cancel=copier.cancelled.set,
        )
        self._owner_pid = os.getpid()
        self._closed = False
        self.drain.start(self._open())
        atexit.register(self._close_at_exit)

    def _open(self) -> list[Entry]:
        try:
            waiting = self.fast.open()
        except OSError as error:
            raise _unusable("fast tier", self.fast.folder, error) from error
        known = self.fast.paired()
        try:
            open_slow(self.slow, self.fast)
        except OSError as error:
            # Where it worked before, what is saved waits on the fast tier until it does so again.
            if known is None or known.folder != str(self.slow.folder) or isinstance(error, TierInUseError):
                self.fast.close()
                raise _unusable("slow tier", self.slow.folder, error) from error
        except BaseException:
            self.fast.close()
            raise
        return waiting

    @contextmanager
    def written_meanwhile(self, unique: str, find: Callable[[], Path | None]) -> Iterator[None]:
        """Tell that a checkpoint is being written, so that the drain copies it meanwhile if it is idle.

        Args:
            unique: The id with which `capture` is called then.
            find: Gives the path of the largest of its files as it is now, None while there is none.
        """
        growing = Growing(find)
        self.drain.expect(unique, growing)
        try:
            yield
        except BaseException:
            self.drain.withdraw(unique)
            raise
        finally:
            growing.finished.set()

    def capture(
        self,
        bundle: Bundle,
        *,
        unique: str,
        saved_at: float,
        step: int | None = None,
        copies: Collection[str] = (),
        is_old: bool = False,
    ) -> Entry:
        """Make a complete checkpoint durable on the fast tier and hand it to the drain.

        Args:
            bundle: The checkpoint.
            unique: Its id.
            saved_at: When its saving began, in seconds since the epoch.
            step: The training step.
            copies: Files to copy, see `FastTier.seal`.
            is_old: Whether it may have been saved before the slow tier was opened.

        Raises:
            IncompleteCheckpointError: A file vanished or changed meanwhile.
            OSError: The fast tier failed or is full.
        """
        self.check_usable()
        try:
            entry = self.fast.seal(
                bundle,
                saved_at=saved_at,
                unique=unique,
                step=step,
                era=None if is_old else self.fast.era,
                copies=copies,
                copier=self._capture_copier,
                announce=self.drain.announce,
            )
        except BaseException:
            self.drain.withdraw(unique)
            raise
        self.ledger.record(
            "fast_durable",
            unique,
            checkpoint=entry.name,
            step=step,
            saved_at=saved_at,
            size_bytes=entry.size_bytes,
            files=len(entry.files),
            fast_durable_at=entry.fast_durable_at,
        )
        self.drain.add(entry)
        return entry

    @property
    def usable(self) -> bool:
        """Whether it takes checkpoints of this process."""
        return not self._closed and os.getpid() == self._owner_pid

    def check_usable(self) -> None:
        """Refuse a process or a time in which checkpoints cannot be taken.

        Raises:
            BurstBufferError: It is closed, or this is a forked child.
        """
        if os.getpid() != self._owner_pid:
            raise BurstBufferError(
                "this burst buffer belongs to the parent process: make one with other folders in the child."
            )
        if self._closed:
            raise BurstBufferError(f"the burst buffer of {self.slow.folder} is closed: make a new one.")

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until all that was saved is durable on the slow tier; False where the time was up before."""
        return self.drain.wait(timeout_s)

    def status(self) -> DrainStatus:
        """Describe what waits, what is durable, and what is wrong."""
        return self.drain.status()

    @property
    def undone(self) -> str:
        """What still waits for the slow tier, and what to do about it; "" if nothing does."""
        status = self.status()
        if not status.pending:
            return ""
        left, why = plural(len(status.pending), "checkpoint"), (status.problem or "stopped").rstrip(".")
        return f"{left} could not be made durable ({why}): run `{self.drain_command}`."

    @property
    def drain_command(self) -> str:
        """The command that drains what is left once nobody owns these folders."""
        return f"tfdarshan burst drain {shell_word(self.fast.folder)} {shell_word(self.slow.folder)}"

    def close(self, *, wait: bool = True, give_up_on_problem: bool = False) -> bool:
        """Stop; what is not durable stays on the fast tier for the next owner.

        Args:
            wait: Whether to wait for what is not durable yet; while the slow tier fails, not for longer
                than `wait_limit_s`.
            give_up_on_problem: Whether not to wait for a slow tier that has failed.

        Returns:
            Whether all is durable.
        """
        if self._closed or os.getpid() != self._owner_pid:
            return True
        if give_up_on_problem or not wait:
            done = self.drain.wait(None if wait else 0, give_up_on_problem=True)
        else:
            done = self.drain.wait_patiently(self.options.wait_limit_s)
        self._closed = True
        atexit.unregister(self._close_at_exit)
        ended = self.drain.stop()
        if not self.status().pending:
            self.ledger.flush()
        if ended:
            self.fast.close()
        return done

    def _close_at_exit(self) -> None:
        if not self.usable:
            return
        with suppress(OSError):
            self.close(wait=self.options.drain_at_exit, give_up_on_problem=True)
        if self.options.drain_at_exit and (undone := self.undone):
            say(undone)


def tier_folders(fast_dir: str | os.PathLike[str], slow_dir: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return both folders as absolute paths.

    Raises:
        ConfigurationError: They are the same, one within the other, or not local.
    """
    folders = []
    for name, given in (("fast_dir", fast_dir), ("slow_dir", slow_dir)):
        text = os.fsdecode(os.fspath(given))
        if not text or "://" in text:
            raise ConfigurationError(f"{name} must be a local folder, not {text!r}.")
        folders.append(Path(text).absolute())
    fast, slow = folders
    if fast.resolve() == slow.resolve():
        raise ConfigurationError(f"fast_dir and slow_dir are both {fast}: they must be two folders.")
    return fast, slow


def _unusable(what: str, folder: Path, error: OSError) -> BurstBufferError | OSError:
    if isinstance(error, BurstBufferError):
        return error
    return BurstBufferError(
        f"{what} {folder} cannot be used: {reason(error)}; choose a folder you can write to."
    )
