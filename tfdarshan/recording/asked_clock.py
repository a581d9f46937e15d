"""What a host's clock is off another's, as it was asked for; kept for who recovers a rank that was killed."""

from __future__ import annotations

import dataclasses
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.errors import NOT_AS_WRITTEN

# In a spool folder.
KEPT = "clock.json"
# What a clock may drift where it was asked at one end alone: crystals keep to less.
DRIFT_PPM = 100


@dataclass(frozen=True)
class Asked:
    """What the other clock was ahead of CLOCK_MONOTONIC here at a moment, within `error_ns`."""

    at_ns: int
    offset_ns: int
    error_ns: int


def summed(reference: str, asked: list[Asked], begin_ns: int, end_ns: int) -> dict[str, Any] | None:
    """Return one offset for all of a session, within an error that has the drift of the clocks in it.

    Between two moments the drift is what it was seen to be; before the first and after the last, DRIFT_PPM.
    """
    if not asked:
        return None
    least = min(one.offset_ns - one.error_ns for one in asked)
    most = max(one.offset_ns + one.error_ns for one in asked)
    moments_ns = [one.at_ns for one in asked]
    unseen_ns = max(min(moments_ns) - begin_ns, 0) + max(end_ns - max(moments_ns), 0)
    error_ns = (most - least + 1) // 2 + -(-unseen_ns * DRIFT_PPM // 1_000_000)
    return {"reference": reference, "offset_ns": (least + most) // 2, "error_ns": error_ns}


def keep(spool: Path, reference: str, asked: list[Asked], begin_ns: int) -> None:
    """Write down what was learnt, whole or not at all; `asked` is empty for the host that others ask."""
    content = {
        "reference": reference,
        "begin_ns": begin_ns,
        "asked": [dataclasses.astuple(one) for one in asked],
    }
    partial = spool / f"{KEPT}.partial"
    with suppress(OSError):  # then it is not known of a killed rank
        partial.write_text(json.dumps(content), encoding="ascii")
        partial.replace(spool / KEPT)


def kept(spool: Path, own_host: str, end_ns: int) -> dict[str, Any] | None:
    """Return what a rank that did not stop had learnt.

    Args:
        spool: Its spool folder.
        own_host: The `host_id` of its host.
        end_ns: When it ended, by its CLOCK_MONOTONIC.

    Returns:
        As `summed`; None if it had learnt nothing.
    """
    try:
        said = json.loads((spool / KEPT).read_bytes())
        reference, begin_ns = str(said["reference"]), int(said["begin_ns"])
        asked = [Asked(*map(int, one)) for one in said["asked"]]
    except (OSError, *NOT_AS_WRITTEN):
        return None
    if reference == own_host:
        return {"reference": reference, "offset_ns": 0, "error_ns": 0}
    return summed(reference, asked, begin_ns, end_ns)
