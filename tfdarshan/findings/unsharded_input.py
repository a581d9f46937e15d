"""Every rank reads all of the input, where each should read a part of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix
from tfdarshan.findings.fix_lines import input_pipeline, reader_of, words_of
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.tensorflow.pipeline_words import BY_RANK
from tfdarshan.replay.edits import PartOfInput
from tfdarshan.replay.loop_edits import FewerSteps
from tfdarshan.units import human_bytes

NAME = "unsharded_input"
ABOUT = About(
    title="Every rank reads all of the input",
    cause="Several ranks each read every input file. If a rank needs only its part, the ranks repeat "
    "each other's reads. An epoch then takes as many times longer as there are such ranks.",
    says="all 4 ranks read the same files",
    seen=("as many bytes read on every rank", "the tab's Timeline, by rank"),
    fixes={
        "tf.data": "`dataset = files.shard(world_size, rank).interleave(...)`",
        "PyTorch": "`DataLoader(dataset, sampler=DistributedSampler(dataset))`",
        "Grain": "`dataset = dataset[rank::world_size]`",
        "plain Python": "`for path in files[rank::world_size]:`",
    },
    estimate="tfdarshan replays the rank that waits longest with its share of an epoch's steps: with four "
    "ranks, a quarter. Validation and checkpoints stay. If `shard()` behind the reads drops samples, "
    "all steps stay, with a quarter of the reads and decoding.",
    ignore="each rank has to see every sample, as in validation",
    fix="a shard for each rank",
)
# Stages of tf.data that drop the samples of other ranks: the second one is what tf.distribute adds.
SHARDS = ("shard", "auto_shard")
OF_AN_EPOCH = "Epochs get shorter, as they have fewer steps; a step takes as long as before."


def find(measures: Measures) -> Finding | None:
    """Find it if several ranks each read every input file equally often."""
    table = measures.ranks
    shared = None if table is None else table.shared
    if (
        table is None
        or shared is None
        or table.leading not in shared.ranks
        or 2 * len(shared.ranks) < len(table.ranks)
    ):
        return None
    count = len(shared.ranks)
    who = f"all {count}" if count == len(table.ranks) else f"{count} of {len(table.ranks)}"
    dropping = drops_samples(measures)
    part = f"If each rank reads a part, an epoch has 1/{count} of the steps, and waits 1/{count} as long."
    if dropping:
        part = f"Each rank then drops the other ranks' samples. A step needs 1/{count} of what a rank reads."
    times = {1: "", 2: " twice"}.get(shared.passes, f" {shared.passes} times")
    return Finding(
        name=NAME,
        title=f"{who} ranks read the same files",
        what=f"{count} ranks each read all {human_bytes(shared.bytes_once)} of the input{times}: "
        f"{human_bytes(shared.bytes_read)} together. {part}",
        evidence=(
            Evidence("ranks with the same files", f"{count} of {len(table.ranks)}", count),
            Evidence("bytes read by several", human_bytes(shared.bytes_read), shared.bytes_read),
            Evidence("bytes of the input", human_bytes(shared.bytes_once), shared.bytes_once),
        ),
        files=measures.paths_of(np.argsort(-measures.costs.read_bytes, kind="stable")),
        fix=_fix(measures),
        edits=(PartOfInput(1 / count) if dropping else FewerSteps(1 / count),),
        caveat="" if dropping else OF_AN_EPOCH,
    )


def drops_samples(measures: Measures) -> bool:
    """Say whether ranks drop what they have read of each other's samples, and step on their own alone."""
    pipeline, reader = input_pipeline(measures), reader_of(measures)
    if pipeline is None or reader is None:
        return False
    return any(stage.name in SHARDS for stage in pipeline.after(reader))


def _fix(measures: Measures) -> Fix:
    what, words = "Let each rank read a part of the files.", words_of(measures)
    what += " Put shard() in front of the reads." if drops_samples(measures) else f" {OF_AN_EPOCH}"
    if words is not None and input_pipeline(measures) is None:
        fix = words.part_of_rank()
        return replace(fix, what=f"{fix.what} {OF_AN_EPOCH}")
    if "tensorflow" in measures.versions:
        return Fix(what, *BY_RANK)
    return Fix(what, "for path in files[rank::world_size]:", "for path in files:")
