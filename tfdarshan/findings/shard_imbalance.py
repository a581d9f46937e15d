"""One rank has more to read than the others of its job, which wait for it."""

from __future__ import annotations

from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.rank_excess import MORE, gain_of, leading_excess, wait_words
from tfdarshan.units import human_bytes, percent

NAME = "shard_imbalance"


def find(measures: Measures) -> Finding | None:
    """Finds it where the rank that waits most reads far more in a step."""
    found = leading_excess(measures)
    if found is None:
        return None
    table, excess = found
    if excess.work < MORE or excess.taken_s < MORE * excess.usual_s:
        return None
    share = 1 - 1 / excess.work
    assumed = Assumption(
        "equal shards take equally long",
        f"rank {table.leading} reads {excess.work:.2f} times as much as the others",
        "its files take longer whichever rank reads them",
    )
    gain, stall_s = gain_of(measures, share, assumed)
    leader = table.leader
    mean = sum(row.input_bytes for row in table.others) / len(table.others)
    return Finding(
        name=NAME,
        kind="problem",
        title=f"rank {table.leading} has {excess.work:.1f} times as much to read as the other ranks",
        what=f"Rank {table.leading} of {len(table.ranks)} reads {human_bytes(leader.input_bytes)} in "
        f"{leader.input_calls:,} calls, the others {human_bytes(mean)} each.{wait_words(table)}",
        evidence=(
            Evidence("times as much", f"{excess.work:.2f}", excess.work),
            Evidence("of a step's reading beyond others'", percent(share, 1), share),
        ),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=stall_s,
        cure=Cure(
            "Give all ranks equally many bytes: more and smaller shards, dealt out by size.",
            "files = sorted(files, key=os.path.getsize)[rank::world_size]",
            "files = files[rank * len(files) // world_size : (rank + 1) * len(files) // world_size]",
        ),
        gain=gain,
        not_worth="where the ranks do not wait for each other, as in asynchronous training",
    )
