"""What is drawn: the same from the same seed, all kinds of it, and programs that are programs."""

from __future__ import annotations

import ast
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import later_tensorflow as tf
from tfdarshan.findings.all_findings import NAMES
from tfdarshan.workloads.laboratory.data_layout import LAYOUTS, layout_folder, place_data
from tfdarshan.workloads.laboratory.dice import Dice
from tfdarshan.workloads.laboratory.draw import draw
from tfdarshan.workloads.laboratory.expected_time import expected
from tfdarshan.workloads.laboratory.grain import grain_draw
from tfdarshan.workloads.laboratory.known_fix import FINDINGS_OF
from tfdarshan.workloads.laboratory.program import ACCESSES, EXTRAS, LOADERS, SHAPES
from tfdarshan.workloads.laboratory.program_fixes import known_fixes
from tfdarshan.workloads.laboratory.program_source import source
from tfdarshan.workloads.laboratory.python_source import PACKED
from tfdarshan.workloads.laboratory.pytorch import loader_draw
from tfdarshan.workloads.laboratory.said import REMARKS
from tfdarshan.workloads.laboratory.storage_draw import FUSE_KINDS
from tfdarshan.workloads.laboratory.storage_kind import EMULATED, MEDIA

ANYWHERE = Path("/nowhere")


@pytest.fixture(scope="module")
def jobs():
    return [draw(seed) for seed in range(400)]


@pytest.fixture(scope="module")
def programs(jobs):
    return [job.program(ANYWHERE) for job in jobs]


@pytest.fixture(scope="module")
def loader_jobs():
    return [draw(seed, ("fuse",), "torch") for seed in range(100)]


@pytest.mark.long
def test_a_seed_gives_the_same_job_each_time(jobs):
    assert [draw(seed) for seed in range(50)] == jobs[:50]
    assert len({job.words for job in jobs}) == len(jobs)


def test_all_kinds_appear(jobs, programs):

    assert {job.storage.medium for job in jobs} == set(MEDIA)
    assert {job.storage.name for job in jobs if job.storage.medium == "fuse"} == set(FUSE_KINDS)
    assert {job.storage.name for job in jobs if job.storage.medium == "emulated"} == set(EMULATED)
    assert {one.shape for one in programs} == set(SHAPES)
    assert {one.access for one in programs} == set(ACCESSES)
    assert {one.extra for one in programs} == {"", *EXTRAS}
    assert {one.cache for one in programs} == {"", "right", "misplaced"}
    assert {one.decode for one in programs} == {"", "arithmetic", "jpeg"}
    marked = Counter(one.marked for one in programs)
    assert 0.25 < marked[False] / len(programs) < 0.42


@pytest.mark.parametrize(
    ("share", "is_one"),
    [
        (0.3, lambda job: not job.causes),
        (0.35, lambda job: len(job.causes) == 1),
        (0.35, lambda job: len(job.causes) == 2),
        (0.2, lambda job: job.load is not None),
        (0.11, lambda job: job.warm),
    ],
)
def test_causes_caches_and_other_load_are_as_frequent_as_they_are_to_be(jobs, share, is_one):
    assert sum(map(is_one, jobs)) / len(jobs) == pytest.approx(share, abs=0.06)


def test_a_cause_costs_a_fifth_and_a_well_made_job_hides_its_input(jobs):
    for job in jobs:
        batch = expected(job.drawn | {"validated": 0.3}, job.storage, warm=job.warm)
        hidden = batch.ahead and batch.first_s < batch.step_s
        if job.causes == ():
            assert hidden
            assert job.drawn["extra"] == ""
        assert ("loop" in job.causes) == bool(job.drawn["extra"])
        if "reading" in job.causes or "decoding" in job.causes:
            assert not batch.ahead or batch.first_s > batch.step_s or batch.later_s > batch.step_s


@pytest.mark.parametrize(
    ("quantity", "low", "high"),
    [
        ("step_s", 0.002, 0.4),
        ("size_bytes", 200, 20_000_000),
        ("batch", 4, 256),
        ("threads", 2, 32),
        ("epochs", 1, 6),
    ],
)
def test_quantities_are_drawn_over_all_of_their_range_and_from_no_list(jobs, quantity, low, high):
    values = [job.drawn[quantity] for job in jobs if job.drawn[quantity] > 0]
    assert low <= min(values) < 1.5 * low + 1
    assert high / 4 < max(values) <= high
    assert len(set(values)) > min(0.5 * len(values), 0.2 * high)


def test_a_range_is_drawn_by_its_factors():
    # GIVEN many numbers from 1 to 100
    dice = Dice(0)
    numbers = [dice.between(1, 100) for _ in range(2000)]
    wholes = [dice.whole(1, 99) for _ in range(2000)]

    # THEN half of them are below 10, and none is outside
    for drawn in (numbers, wholes):
        assert sum(one < 10 for one in drawn) / 2000 == pytest.approx(0.5, abs=0.04)
        assert 1 <= min(drawn) < max(drawn) <= 100
    assert {type(one) for one in wholes} == {int}


def test_only_storage_that_is_there_is_drawn():
    assert {draw(seed, ("emulated",)).storage.medium for seed in range(100)} == {"emulated"}


def test_a_run_is_short_and_has_enough_steps(jobs, programs):
    for job, one in zip(jobs, programs, strict=True):
        assert one.count * one.size_bytes <= 400_000_000
        assert one.count % one.batch == 0
        assert one.access != "reopened" or one.count % PACKED == 0
        steps = one.count // one.batch * one.epochs
        assert steps >= 16
        assert steps * one.step_s < 14
        assert job.validation_count == 0 or 8 <= job.validation_count <= 3000


def test_the_job_and_all_of_its_fixes_are_programs_and_differ(jobs, programs):
    for job, one in zip(jobs, programs, strict=True):
        versions = [one, *(fix.program for fix in known_fixes(one))]
        texts = [source(program, ANYWHERE) for program in versions]
        for text in texts:
            ast.parse(text)
        assert len(set(texts)) == len(texts), job.words
        assert all(program.layout in LAYOUTS for program in versions)


def test_loaders_of_all_kinds_appear_and_their_fixes_are_programs(loader_jobs):
    # GIVEN jobs of PyTorch, and all of their fixes
    programs = [job.program(ANYWHERE) for job in loader_jobs]
    texts = [[source(one, ANYWHERE), *(source(fix.program, ANYWHERE) for fix in known_fixes(one))]
             for one in programs]  # fmt: skip

    # THEN they are programs of their own, that nothing marks
    assert {one.shape for one in programs} == set(LOADERS)
    assert {one.access for one in programs} == {*loader_draw.ACCESSES, "shards"}
    assert {one.extra for one in programs} == {"", *loader_draw.EXTRAS}
    assert {one.start_method for one in programs} == {"", "spawn", "forkserver"}
    assert {one.threads > 0 for one in programs} == {one.persistent for one in programs} == {True, False}
    assert {one.shape for one in programs if one.hugging_face} == {"torch_map"}
    for job, versions in zip(loader_jobs, texts, strict=True):
        assert len(set(versions)) == len(versions), job.words
        for text in versions:
            ast.parse(text)
            assert "import tfdarshan" not in text

    # AND fixes of a loader are among the fixes, which findings name
    names = {fix.name for one in programs for fix in known_fixes(one)}
    assert {"parallel", "prefetch", "workers kept", "any order", "shards for all", "memory"} < names
    assert names <= set(FINDINGS_OF)


def test_datasets_of_grain_are_drawn_with_all_of_their_fixes():
    # GIVEN jobs of Grain, and all of their fixes
    jobs = [draw(seed, ("fuse",), "grain") for seed in range(100)]
    programs = [job.program(ANYWHERE) for job in jobs]
    texts = [[source(one, ANYWHERE), *(source(fix.program, ANYWHERE) for fix in known_fixes(one))]
             for one in programs]  # fmt: skip

    # THEN they are programs of their own, that nothing marks
    assert {one.access for one in programs} == set(grain_draw.ACCESSES)
    assert {one.extra for one in programs} == {"", *grain_draw.EXTRAS}
    assert {one.threads > 0 for one in programs} == {one.processes > 0 for one in programs} == {True, False}
    for job, versions in zip(jobs, texts, strict=True):
        assert len(set(versions)) == len(versions), job.words
        for text in versions:
            ast.parse(text)
            assert "import tfdarshan" not in text
            assert "grain." not in text.partition('if __name__ == "__main__":')[0]

    # AND fixes of a dataset are among the fixes, which findings name
    names = {fix.name for one in programs for fix in known_fixes(one)}
    assert {"parallel", "prefetch", "decode calls", "fewer threads", "memory"} < names <= set(FINDINGS_OF)


def test_what_is_pickled_for_processes_of_grain_has_no_open_file():
    for job in (draw(seed, ("fuse",), "grain") for seed in range(100)):
        one = job.program(ANYWHERE)
        for version in (one, *(fix.program for fix in known_fixes(one))):
            defined = [
                node for node in ast.parse(source(version, ANYWHERE)).body if isinstance(node, ast.Assign)
            ]
            opens = any("os.open" in ast.unparse(node) for node in defined)
            assert not (version.processes and opens), job.words


def test_a_worker_with_shards_makes_whole_batches(loader_jobs):
    for job in loader_jobs:
        one = job.program(ANYWHERE)
        for fix in known_fixes(one):
            if fix.program.shape == "torch_iterable":
                samples = one.count / fix.program.shards
                assert samples % one.batch == 0, job.words


def test_what_does_the_work_of_a_loader_is_not_done_where_workers_import_it(loader_jobs):
    for job in loader_jobs:
        defined, guard, _ = source(job.program(ANYWHERE), ANYWHERE).partition('if __name__ == "__main__":')
        assert guard
        assert "DataLoader(" not in defined
        assert '"w")' not in defined


def test_no_program_has_options_that_users_do_not_write(programs):
    """Only the fix that says so limits tf.data's threads; nothing else about tf.data is set."""
    for one in programs:
        assert "options" not in source(one, ANYWHERE)


def test_every_finding_is_a_fix_or_a_remark():
    known = {name for names in FINDINGS_OF.values() for name in names}
    assert set(NAMES) <= known | set(REMARKS)


def test_the_slow_part_of_the_storage_holds_files_of_the_job(jobs):
    for job in jobs:
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


def test_record_files_are_as_many_as_are_drawn(tmp_path):
    tf.needs("tensorflow")
    made = layout_folder(tmp_path, "shards", 32, 512, spread=False, shards=5)
    assert len(list(made.rglob("*.tfrecord"))) == 5


def test_a_longer_job_is_the_same_with_more_samples(jobs):
    for job in jobs:
        longer = job.longer(2.5)
        more = longer.drawn["count"] // job.drawn["count"]
        assert 1 <= more <= 3
        assert more == 3 or (more + 1) * job.drawn["count"] * job.size_bytes > 800_000_000
        grown = {
            name: longer.drawn[name] / more
            for name in ("count", "every", "shuffle_size")
            if name in job.drawn
        }
        assert longer.drawn | grown == job.drawn
        assert longer.validation_count == more * job.validation_count
        assert job.longer(0.9) == job


def test_iterators_of_tensorflow_are_kept_until_the_time_was_taken(programs):
    for one in programs:
        kept = "begun.append(batches)" in source(one, ANYWHERE)
        assert kept == (one.shape not in ("loop", "thread_pool"))


def test_computing_by_numpy_takes_no_new_memory(programs):
    # GIVEN a program that computes with NumPy
    program = next(one for one in programs if one.computes == "numpy")
    text = source(program, ANYWHERE)
    names: dict[str, Any] = {"np": np}
    last = "np.sin(weights, out=sines)"
    exec(text[text.index("weights =") : text.index(last) + len(last)], names)

    # WHEN it computes twice
    names["compute"](None)
    tracemalloc.start()
    names["compute"](None)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # THEN no array is made: its page faults would be counted as computing, or not, by the heap's state
    assert most_bytes < names["weights"].nbytes / 2
