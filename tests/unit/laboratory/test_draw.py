"""What is drawn: the same from the same seed, all kinds of it, and programs that are programs."""

from __future__ import annotations

import ast
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfdarshan.findings.all_findings import NAMES
from tfdarshan.workloads.laboratory.data_layout import LAYOUTS, layout_folder, place_data
from tfdarshan.workloads.laboratory.draw import FUSE_KINDS, draw
from tfdarshan.workloads.laboratory.known_cure import FINDINGS_OF, REMARKS, known_cures
from tfdarshan.workloads.laboratory.program import ACCESSES, EXTRAS, SHAPES
from tfdarshan.workloads.laboratory.program_source import source
from tfdarshan.workloads.laboratory.python_source import PACKED
from tfdarshan.workloads.laboratory.storage_kind import EMULATED_S, MEDIA

SEEDS = range(1500)
ANYWHERE = Path("/nowhere")


def test_a_seed_gives_the_same_job_each_time():
    assert [draw(seed) for seed in range(50)] == [draw(seed) for seed in range(50)]
    assert len({draw(seed).words for seed in SEEDS}) == len(SEEDS)


def test_all_kinds_appear():
    jobs = [draw(seed) for seed in SEEDS]
    programs = [job.program(ANYWHERE) for job in jobs]

    assert {job.storage.medium for job in jobs} == set(MEDIA)
    assert {job.storage.name for job in jobs if job.storage.medium == "fuse"} == set(FUSE_KINDS)
    assert {job.storage.name for job in jobs if job.storage.medium == "emulated"} == set(EMULATED_S)
    assert {one.shape for one in programs} == set(SHAPES)
    assert {one.access for one in programs} == set(ACCESSES)
    assert {one.extra for one in programs} == {"", *EXTRAS}
    assert {one.cache for one in programs} == {"", "right", "misplaced"}
    assert {one.decode for one in programs} == {"", "arithmetic", "jpeg"}
    marked = Counter(one.marked for one in programs)
    assert 0.25 < marked[False] / len(programs) < 0.42


def test_some_jobs_are_well_made():
    """Their steps last longer than reading does, and something reads ahead of them."""
    ahead = [one for one in (draw(seed).program(ANYWHERE) for seed in SEEDS) if one.ahead]
    assert len(ahead) > 100
    assert all(one.step_s >= 0.01 and not one.extra for one in ahead)


def test_only_storage_that_is_there_is_drawn():
    assert {draw(seed, ("emulated",)).storage.medium for seed in range(100)} == {"emulated"}


def test_a_run_is_short():
    for seed in SEEDS:
        one = draw(seed).program(ANYWHERE)
        assert one.count * one.size_bytes <= 200_000_000
        assert one.count % one.batch == one.count % PACKED == 0
        steps = one.count // one.batch * one.epochs
        assert steps >= 6
        assert steps * one.step_s < 8


def test_the_job_and_all_of_its_cures_are_programs_and_differ():
    for seed in SEEDS:
        one = draw(seed).program(ANYWHERE)
        programs = [one, *(cure.program for cure in known_cures(one))]
        texts = [source(program, ANYWHERE) for program in programs]
        for text in texts:
            ast.parse(text)
        assert len(set(texts)) == len(texts), draw(seed).words
        assert all(program.layout in LAYOUTS for program in programs)


def test_no_program_has_options_that_users_do_not_write():
    """Only the cure that says so limits tf.data's threads; nothing else about tf.data is set."""
    for seed in SEEDS:
        assert "options" not in source(draw(seed).program(ANYWHERE), ANYWHERE)


def test_every_finding_is_a_cure_or_a_remark():
    known = {name for names in FINDINGS_OF.values() for name in names}
    assert set(NAMES) <= known | set(REMARKS)


def test_the_slow_part_of_the_storage_holds_files_of_the_job():
    for seed in SEEDS:
        job = draw(seed)
        one = job.program(ANYWHERE)
        if job.storage.name == "slow file":
            assert one.layout in ("files", "jpeg")
            assert one.slow_path == "/part-3/00003."


@pytest.mark.parametrize("layout", ["files", "packed", "single", "database"])
def test_data_is_made_once_and_placed(tmp_path, layout):
    made = layout_folder(tmp_path / "pool", layout, 32, 4096, spread=False)
    again = layout_folder(tmp_path / "pool", layout, 32, 4096, spread=False)
    files = [path for path in made.rglob("*") if path.is_file()]

    assert made == again
    assert sum(path.stat().st_size for path in files) >= 32 * 4096
    for link in (True, False):
        target = tmp_path / f"placed-{link}"
        place_data(made, target, link=link)
        assert sorted(path.relative_to(target) for path in target.rglob("*") if path.is_file()) == sorted(
            path.relative_to(made) for path in files
        )


def test_sizes_are_spread_only_where_they_are_to_be(tmp_path):
    same = layout_folder(tmp_path, "files", 32, 4096, spread=False)
    spread = layout_folder(tmp_path, "files", 32, 4096, spread=True)

    assert {path.stat().st_size for path in same.rglob("*.bin")} == {4096}
    assert len({path.stat().st_size for path in spread.rglob("*.bin")}) > 10


def test_a_longer_job_is_the_same_with_more_samples():
    for seed in SEEDS:
        job = draw(seed)
        longer = job.longer(2.5)
        more = longer.drawn["count"] // job.drawn["count"]
        assert 1 <= more <= 3
        assert more == 3 or (more + 1) * job.drawn["count"] * job.size_bytes > 400_000_000
        assert (
            longer.drawn | {name: job.drawn[name] for name in ("count", "every") if name in job.drawn}
            == job.drawn
        )
        assert longer.validation_count == more * job.validation_count
        assert job.longer(0.9) == job


def test_iterators_of_tensorflow_are_kept_until_the_time_was_taken():
    for seed in SEEDS:
        one = draw(seed).program(ANYWHERE)
        kept = "begun.append(batches)" in source(one, ANYWHERE)
        assert kept == (one.shape not in ("loop", "thread_pool"))


def test_computing_by_numpy_takes_no_new_memory():
    # GIVEN a program that computes with NumPy
    program = next(one for one in (draw(seed).program(ANYWHERE) for seed in SEEDS) if one.computes == "numpy")
    text = source(program, ANYWHERE)
    names: dict[str, Any] = {"np": np}
    exec(
        text[text.index("weights =") : text.index("begun = []" if "begun = []" in text else "ends_s")], names
    )

    # WHEN it computes twice
    names["compute"](None)
    tracemalloc.start()
    names["compute"](None)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # THEN no array is made: its page faults would be counted as computing, or not, by the heap's state
    assert most_bytes < names["weights"].nbytes / 2
