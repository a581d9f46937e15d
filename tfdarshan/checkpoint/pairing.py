"""Which slow tier belongs to a fast one, so that checkpoints go to the right folder or wait for it."""

from __future__ import annotations

from tfdarshan.checkpoint.burst_errors import TierAwayError
from tfdarshan.checkpoint.fast_tier import PAIRING, FastTier, Pairing, pending_entries
from tfdarshan.checkpoint.slow_tier import SlowTier, tier_id
from tfdarshan.errors import ConfigurationError
from tfdarshan.file_name import shell_word


def open_slow(slow: SlowTier, fast: FastTier) -> None:
    """Open the slow tier that the fast one drained to before, or another if nothing waits for that.

    Raises:
        ConfigurationError: Checkpoints wait for another slow tier.
        TierAwayError: It is not the folder that it was; it may not be mounted.
        TierInUseError: Another burst buffer owns it.
        OSError: It cannot be read or written.
    """
    paired, folder = fast.paired(), str(slow.folder)
    expected = None
    if paired is not None and paired.folder == folder:
        expected = paired.id
    elif paired is not None and pending_entries(fast.folder) and tier_id(slow.folder) != paired.id:
        raise ConfigurationError(
            f"checkpoints in {fast.folder} wait for {paired.folder}, not for {folder}: "
            f"run `tfdarshan burst drain {shell_word(fast.folder)} {shell_word(paired.folder)}` first."
        )
    try:
        found = Pairing(folder, slow.open(expected, fast.id))
    except TierAwayError as error:
        raise TierAwayError(
            f"{error} If it is meant to be a new one, remove {fast.control / PAIRING}."
        ) from error
    fast.era = slow.era
    if found != paired:
        fast.pair(found)
