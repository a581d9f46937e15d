"""What no session of the tables has said: sentences of rare jobs, said where it is so and only there."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.findings.made_up_buffers import SHUFFLE, buffer_job, found_buffer
from tests.unit.findings.made_up_decoding import PARSE, SIDE_BY_SIDE, decoding_job
from tests.unit.findings.made_up_jobs import BATCH, LOAD, PATHS, PREFETCH, SHARDS
from tests.unit.findings.made_up_mapped import unwatched_mapping
from tests.unit.findings.made_up_training import epochs_of_steps
from tests.unit.sentences.made_up_advice import ALIKE, CHECK, advised
from tests.unit.staging.synthetic import FAST
from tfdarshan.findings import checkpoint_stall, decode_bound
from tfdarshan.findings.finding import Finding
from tfdarshan.findings.full_storage import _fix, _shown_by
from tfdarshan.findings.mapped_fix_lines import read_larger_windows, read_single_pages
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.reopening import _title
from tfdarshan.findings.step_split import step_split
from tfdarshan.findings.verdict import make_verdict
from tfdarshan.reports.text.advice_text import render
from tfdarshan.reports.text.staging_check_text import render_check
from tfdarshan.units import percent


@pytest.mark.parametrize("of_calls", [True, False])
def test_a_limit_on_calls_is_met_by_fewer_of_them(of_calls):
    limit: Any = SimpleNamespace(limit_of_calls=of_calls)

    what = _fix(limit).what

    fewer = "Read with fewer calls: put small files into shards, stage the files, or keep them in memory."
    assert (what == fewer) == of_calls


def test_storage_that_a_probe_shows_to_be_full_is_said_to_be():
    storage: Any = SimpleNamespace(limit_s=None, depth_s=[1.0])

    assert _shown_by(storage) == "A probe got no more with several reads at a time."


def test_a_file_that_is_opened_again_is_said_to_be():
    assert _title(20.0, 1.0, 1) == "a file is opened 20 times"
    assert _title(40.0, 2.0, 2) == "files are opened 20 times each"
    assert _title(40.0, 2.0, 1) == "each process opens a file 20 times"


def test_records_that_are_shuffled_are_kept_in_a_small_buffer(tmp_path):
    fix = found_buffer(buffer_job(tmp_path, SHARDS, SHUFFLE, BATCH, PREFETCH)).fix

    assert fix.what == (
        "Keep 64 samples in the buffer: the first step of an epoch then waits for these samples only."
    )


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (320, " in the buffer behind map(read_image): the paths in front of it are shuffled already. If"),
        (8, " in the buffer behind it: shuffling paths takes no time. If"),
    ],
)
def test_paths_that_are_shuffled_already_are_said_to_be(tmp_path, paths, said):
    first = {"name": "shuffle", "size": paths}
    fix = found_buffer(buffer_job(tmp_path, PATHS, first, LOAD, SHUFFLE, BATCH, PREFETCH)).fix

    assert said in fix.what


def test_a_map_out_of_order_reads_single_pages_and_one_in_order_more():
    file: Any = SimpleNamespace(format="npy", mount_point="/data", fs_type="nfs")
    disk: Any = SimpleNamespace(format="npy", mount_point="/data", fs_type="ext4")

    assert read_single_pages(file).what == (
        "Tell the kernel that the mapping is read out of order: a page fault then reads one page only."
    )
    for one, line in (
        (file, "echo 4096 > /sys/class/bdi/$(mountpoint -d /data)/read_ahead_kb"),
        (disk, "blockdev --setra 8192 $(findmnt -no SOURCE /data)"),
    ):
        fix = read_larger_windows(one)
        assert fix.what == (
            "Have the kernel read 4 MB ahead on this mount, as root. Without root, call "
            "madvise(MADV_WILLNEED) on the next 128 KiB, again and again."
        )
        assert line in fix.line
    assert fix.line.endswith("$(findmnt -no SOURCE /data)  # for all readers of the mount")


@pytest.mark.parametrize(
    ("buffered", "in_memory", "beside", "words"),
    [
        (True, False, False, ("Save less often, or give the burst buffer, which is in use already, a faster "
         "fast tier.")),
        (False, True, False, (" The page cache takes the checkpoints, so nothing waits for the device; a "
        "burst "
         "buffer would wait.")),
        (False, False, True, "Save less often: training already goes on while checkpoints are written."),
    ],
)  # fmt: skip
def test_checkpoints_that_no_thread_would_hide_are_said_why(buffered, in_memory, beside, words, monkeypatch):
    monkeypatch.setattr(checkpoint_stall, "uses_a_burst_buffer", lambda _: buffered)
    monkeypatch.setattr(checkpoint_stall, "stay_in_memory", lambda *_: in_memory)
    saves: Any = SimpleNamespace(beside=beside)
    measures: Any = None

    fix, edits, why = checkpoint_stall._fix(measures, saves)

    assert edits == ()
    assert (why if fix is None else fix.what) == words


@pytest.mark.parametrize("mapped", [True, False])
def test_what_is_no_file_call_may_be_page_faults_that_nobody_watched(mapped, tmp_path, monkeypatch):
    # GIVEN a job that waits longer for what is no file call, with 64 MiB of mapped files or without
    measures = measure(decoding_job(tmp_path, SIDE_BY_SIDE, PARSE, BATCH))
    if mapped:
        there: Any = SimpleNamespace(record="")
        for module in ("decode_bound", "step_split"):
            monkeypatch.setattr(f"tfdarshan.findings.{module}.unseen_faults", lambda _: there)

    found = decode_bound.find(measures)
    labels = [part.label for part in step_split(measures)]

    assert isinstance(found, Finding)
    longer = "the input pipeline is busy longer outside of file calls than in them"
    not_seen = "How much of that time is page faults on mapped files was not recorded."
    assert (found.title == longer) == mapped
    assert (not_seen in found.what) == mapped
    assert ("waiting for other work of the pipeline, or page faults (not recorded)" in labels) == mapped


def test_a_mapping_that_nobody_watched_is_in_the_split(tmp_path):
    measures = measure(unwatched_mapping(tmp_path, 1 << 30, epochs_of_steps(50, 20.0, 10.0)))

    (label,) = (part.label for part in step_split(measures) if part.name == "other_wait")

    assert label == "waiting for other work of the pipeline, or page faults (not recorded)"


@pytest.mark.parametrize("handed", [True, False])
def test_a_wait_for_batches_that_are_ready_is_no_storage(handed, tmp_path):
    measures = measure(decoding_job(tmp_path, SIDE_BY_SIDE, PARSE, BATCH))
    model = measures.model
    waited = dataclasses.replace(model, handed_s=0.9 * model.most_wait_s if handed else 0.0)

    sentence = make_verdict(dataclasses.replace(measures, model=waited), [], []).sentence

    share = percent(waited.handed_s, model.unit_s)
    words = "Handing over batches that are ready takes HANDED of step time: use fewer, larger batches."
    assert (words.replace("HANDED", share) in sentence) == handed


def test_a_problem_without_a_gain_is_what_the_job_loses_time_to(tmp_path):
    measures = measure(decoding_job(tmp_path, SIDE_BY_SIDE, PARSE, BATCH))
    problem = Finding("slow_node", "node 7 is slow", "-")

    sentence = make_verdict(measures, [problem], []).sentence

    assert sentence == "The job loses time. Node 7 is slow."


@pytest.mark.parametrize("flat", [True, False])
def test_a_tier_that_takes_as_long_for_any_size_is_said_to(flat):
    model = dataclasses.replace(FAST.model, s_per_byte=0.0 if flat else FAST.model.s_per_byte)

    text = render(advised(ALIKE, fast=dataclasses.replace(FAST, model=model)))

    assert (" us whatever the size" in text) == flat


def test_a_check_adds_up_what_its_assumptions_moved():
    moved = dataclasses.replace(CHECK, obtained_s=CHECK.promised_s + 2)

    (line,) = (line for line in render_check(moved).splitlines() if "all of these" in line)

    assert line.split()[-2:] == ["+2.000", "s"]
