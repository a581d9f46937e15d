"""One rank takes far longer than the others of its job to read as much."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.ranks.rank_table import RankTable
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.rank_excess import SLOWER, excess_over, leading_excess, wait_words
from tfdarshan.findings.slow_node import slow_node
from tfdarshan.replay.storage_edits import OtherStorage
from tfdarshan.units import human_seconds

NAME = "slow_rank"
ABOUT = About(
    title="One rank reads slowly",
    cause="One rank takes at least twice as long as the other ranks for the same amount of input, on "
    "most of its files. Other ranks of its node are not slow. In synchronous training all ranks "
    "wait for the slow rank.",
    says="rank 3 takes 2.4 times as long to read as the other ranks",
    seen=("longer calls on one rank", "the tab's Timeline, by rank"),
    fixes={
        "any job": "compare the rank with others: mount and folder of its shard, processors, other programs "
        "on the node; `tfdarshan findings SESSION/rank-00003`",
    },
    estimate="tfdarshan replays the slow rank with the latency and the bandwidth that the other ranks got.",
    ignore="the rank was slow only once: check a second session first",
    fix="a repair of the slow rank",
)


def find(measures: Measures) -> Finding | None:
    """Find it if the rank that waits most is slow, and not all of its node."""
    found = leading_excess(measures)
    if found is None or slow_node(found[0]) is not None:
        return None
    table, excess = found
    if excess.slow < SLOWER or not _steadily(table):
        return None
    share, leader = 1 - 1 / excess.slow, table.leader
    return Finding(
        name=NAME,
        title=f"rank {table.leading} takes {excess.slow:.1f} times as long to read as the other ranks",
        what=f"Rank {table.leading} on {leader.host} takes {excess.slow:.1f} times as long as the other "
        f"ranks to read the same amount.{wait_words(table)}",
        evidence=(
            Evidence("times as long", f"{excess.slow:.1f}", excess.slow),
            Evidence(
                "in calls beyond others', over all threads",
                human_seconds(share * leader.input_s),
                share * leader.input_s,
            ),
        ),
        files=measures.paths_of(_slowest(measures)),
        fix=Fix(
            "Find out what is different for this rank: the mount and folder of its shard, the processors "
            "that it is bound to, and the programs that run beside it.",
            f"tfdarshan findings LOGDIR/plugins/tfdarshan/SESSION/rank-{table.leading:05}",
        ),
        edits=(OtherStorage(latency=1 / excess.slow, bandwidth=excess.slow),),
    )


def _steadily(table: RankTable) -> bool:
    """Return whether it is slow on most files: a few that stalled say nothing of the rank."""
    found = excess_over(table.leader, table.others, "steady_s")
    return found is not None and found.slow >= SLOWER


def _slowest(measures: Measures) -> Array:
    return np.argsort(-measures.costs.call_s, kind="stable")
