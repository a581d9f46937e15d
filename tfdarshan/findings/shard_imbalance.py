"""One rank has more to read than the others of its job, which wait for it."""

from __future__ import annotations

from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.rank_excess import leading_excess, wait_words
from tfdarshan.replay.edits import PartOfInput
from tfdarshan.units import human_bytes, percent

NAME = "shard_imbalance"
ABOUT = About(
    title="One rank has more to read",
    cause="One rank reads more bytes or makes more calls per step than the other ranks. In synchronous "
    "training every rank waits for the slowest rank, so the whole job waits for the largest "
    "shard.",
    says="rank 3 has 2.0 times as much to read as the other ranks",
    seen=("longer input wait on that rank", "the tab's Steps, by rank"),
    fixes={
        "tf.data": "many small shards of one size: `files.shard(world_size, rank)`",
        "PyTorch": "`DataLoader(dataset, sampler=DistributedSampler(dataset))`",
        "plain Python": "`files = sorted(files, key=os.path.getsize)[rank::world_size]`",
    },
    estimate="tfdarshan replays the rank that waits longest with as much input per step as the median of "
    "the other ranks. Fewer reads and less decoding are left.",
    ignore="ranks do not wait for each other, as in asynchronous training",
    fix="shards of one size",
)


def find(measures: Measures) -> Finding | None:
    """Find it if the rank that waits most reads far more in a step."""
    found = leading_excess(measures)
    if found is None:
        return None
    table, excess = found
    if excess.work <= 1 or excess.taken_s <= excess.usual_s:
        return None
    share, leader = 1 - 1 / excess.work, table.leader
    mean = sum(row.input_bytes for row in table.others) / len(table.others)
    return Finding(
        name=NAME,
        title=f"rank {table.leading} has {excess.work:.1f} times as much to read as the other ranks",
        what=f"Rank {table.leading} of {len(table.ranks)} reads {human_bytes(leader.input_bytes)} in "
        f"{leader.input_calls:,} calls, the other ranks {human_bytes(mean)} each.{wait_words(table)}",
        evidence=(
            Evidence("times as much", f"{excess.work:.2f}", excess.work),
            Evidence("of a step's reading beyond others'", percent(share, 1), share),
        ),
        fix=Fix(
            "Give each rank as many bytes as the others: sort the files by size, and deal them out to the "
            "ranks in turn. If that is not enough, split the largest files.",
            "files = sorted(files, key=os.path.getsize)[rank::world_size]",
            "files = files[rank * len(files) // world_size : (rank + 1) * len(files) // world_size]",
        ),
        edits=(PartOfInput(1 / excess.work),),
    )
