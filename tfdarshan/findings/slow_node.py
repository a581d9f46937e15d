"""All ranks of one node read slower than those of the others."""

from __future__ import annotations

import statistics

from tfdarshan.analysis.ranks.rank_table import MountFigures, RankTable
from tfdarshan.analysis.storage.storage_passes import CACHED_CALL_S, CACHED_S_PER_BYTE
from tfdarshan.file_name import printable
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.rank_excess import FEWEST_CALLS, SLOWER, Excess, excess_over, wait_words
from tfdarshan.replay.storage_edits import OtherStorage
from tfdarshan.units import human_seconds, plural

NAME = "slow_node"
ABOUT = About(
    title="One node reads slowly",
    cause="All ranks of one node take at least twice as long as ranks of other nodes for the same "
    "amount of input. The network or the mount of that node is the likely cause. In synchronous "
    "training all ranks wait for the slow node.",
    says="node gpu07 takes 3.1 times as long to read as other nodes",
    seen=("longer calls on the ranks of one node", "the tab's Timeline, by rank"),
    fixes={
        "Slurm": "`srun --exclude=gpu07 ...`",
        "any job": "compare the mount options and `tfdarshan probe /data` on that node and on another node",
    },
    estimate="tfdarshan replays the slow rank with the latency and the bandwidth that ranks of other "
    "nodes got.",
    ignore="the node was slow only once, because of another job: check a second session first",
    fix="another node",
)


def find(measures: Measures) -> Finding | None:
    """Find it if the rank that waits most is on such a node."""
    table = measures.ranks
    found = None if table is None else slow_node(table)
    if table is None or found is None:
        return None
    host = table.leader.host
    there = [row for row in table.ranks if row.host == host]
    ranks = ", ".join(str(row.rank) for row in there[:8])
    return Finding(
        name=NAME,
        title=f"node {host} takes {found.slow:.1f} times as long to read as other nodes",
        what=f"{plural(len(there), 'rank')} on {host} ({ranks}) {'takes' if len(there) == 1 else 'take'} "
        f"{found.slow:.1f} times as long as ranks on other nodes to read the same amount."
        f"{_mount_words(table)}{wait_words(table)}",
        evidence=(
            Evidence("times as long", f"{found.slow:.1f}", found.slow),
            Evidence("ranks on it", f"{len(there)}", len(there)),
        ),
        fix=Fix(
            "Leave this node out, or find out what is wrong with its network or mount: compare mount "
            "options, and run `tfdarshan probe` on the data from this node and from another node.",
            f"srun --exclude={host} ...",
        ),
        edits=(OtherStorage(latency=1 / found.slow, bandwidth=found.slow),),
    )


def slow_node(table: RankTable) -> Excess | None:
    """Compare the leading rank with those of other nodes, if all ranks of its node are as slow."""
    host = table.leader.host
    elsewhere = [row for row in table.ranks if row.host != host]
    there = [row for row in table.ranks if row.host == host]
    found = excess_over(table.leader, elsewhere)
    if found is None or found.slow < SLOWER:
        return None
    each = [excess_over(row, elsewhere) for row in there]
    # Ranks of one node differ: the others have to be half as much slower than those elsewhere.
    slow = all(one is not None and 2 * (one.slow - 1) >= found.slow - 1 for one in each)
    return found if slow else None


def _mount_words(table: RankTable) -> str:
    """Name the mounts whose calls take longer on the leading rank's node; "" if that cannot be told.

    Calls that take no longer than memory does say nothing of a mount.
    """
    slow, quick = [], []
    for mount in table.leader.mounts:
        usual = _elsewhere(table, mount)
        if usual is None:
            continue
        own_s, usual_s = mount.call_s / mount.calls, usual.call_s / usual.calls
        own_bytes = mount.bytes_read / mount.calls
        more = max(own_bytes / max(usual.bytes_read / usual.calls, 1), 1)
        by_storage = own_s > CACHED_CALL_S + CACHED_S_PER_BYTE * own_bytes
        if by_storage and own_s >= SLOWER * more * usual_s:
            calls = f"{human_seconds(own_s)} a call, {human_seconds(usual_s)} elsewhere"
            slow.append(f"{printable(mount.point)} ({calls})")
        else:
            quick.append(printable(mount.point))
    if not slow:
        return ""
    rest = f"; {' and '.join(quick)} {'is' if len(quick) == 1 else 'are'} not slow" if quick else ""
    be = "s are" if len(slow) > 1 else " is"
    return f" The slow mount{be} {' and '.join(slow)}{rest}."


def _elsewhere(table: RankTable, mount: MountFigures) -> MountFigures | None:
    """Return the median rank's figures of the same mount on other nodes; None if there are too few calls."""
    same = [
        other
        for row in table.ranks
        if row.host != table.leader.host
        for other in row.mounts
        if other.point == mount.point and other.calls >= FEWEST_CALLS and other.call_s > 0
    ]
    if not same or mount.calls < FEWEST_CALLS:
        return None
    usual_s = statistics.median_low(other.call_s / other.calls for other in same)
    return next(other for other in same if other.call_s / other.calls == usual_s)
