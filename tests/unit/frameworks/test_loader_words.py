"""Fixes of a DataLoader, as one types them."""

import numpy as np
import pytest

from tfdarshan.frameworks.all_frameworks import words_of
from tfdarshan.frameworks.pytorch.loader_look import declared, training_look
from tfdarshan.frameworks.pytorch.loader_words import LoaderWords
from tfdarshan.frameworks.pytorch.torch_save import SAVES
from tfdarshan.frameworks.pytorch.trainer_words import TrainerWords


class FakeTorch:
    """Stands in for torch: four blocks are drawn in the order 3, 2, 0, 1."""

    @staticmethod
    def randperm(count):
        return np.array([n for n in (3, 2, 0, 1) if n < count])


LOOK = {"framework": "pytorch", "batch_size": 32, "shuffled": True, "workers": 2, "prefetch_factor": 2}


@pytest.mark.parametrize(
    ("look", "line"),
    [
        ({}, "DataLoader(dataset)"),
        ({"batched": False, "workers": 2}, "DataLoader(dataset, batch_size=None, num_workers=2)"),
        (
            {"batched": False, "batch_size": 4, "drop_last": True, "shuffled": True},
            "DataLoader(dataset, sampler=sampler, batch_size=None)",
        ),
        (LOOK, "DataLoader(dataset, batch_size=32, shuffle=True, num_workers=2)"),
        (
            LOOK
            | {"prefetch_factor": 8, "persistent": True, "in_order": False}
            | {"pinned": True, "drop_last": True},
            (
                "DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True, num_workers=2, "
                "prefetch_factor=8, persistent_workers=True, in_order=False, pin_memory=True)"
            ),
        ),
    ],
)
def test_a_loader_is_typed_as_it_looks(look, line):
    assert LoaderWords(look).loader() == f"loader = {line}"


def test_a_fix_changes_what_it_is_about():
    # GIVEN
    words = LoaderWords(LOOK)

    # THEN
    now = "loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=2)"
    for fix, change in (
        (words.more_readers(8), "num_workers=8, persistent_workers=True"),
        (words.fewer_readers(1), "num_workers=1"),
        (words.read_ahead(), "num_workers=2, prefetch_factor=4"),
        (words.keep_workers(), "num_workers=2, persistent_workers=True"),
        (words.any_order(), "num_workers=2, in_order=False"),
        (words.more_decoding(4), "num_workers=4, persistent_workers=True"),
    ):
        assert fix.instead_of == now
        assert fix.line == now.replace("num_workers=2", change)


@pytest.mark.parametrize("fix", [LoaderWords.more_readers, LoaderWords.more_decoding])
def test_workers_have_as_many_batches_ready_as_they_have_by_default(fix):
    # GIVEN a loader without workers, which has no batches ready
    words = LoaderWords({"batch_size": 32, "workers": 0, "prefetch_factor": 0})

    # THEN
    now = "loader = DataLoader(dataset, batch_size=32)"
    assert fix(words, 4).line == now.replace(")", ", num_workers=4, persistent_workers=True)")


@pytest.mark.parametrize(
    ("look", "workers", "told"),
    [
        ({"iterable": True, "workers": 0}, 4, True),
        ({"iterable": True, "workers": 0}, 1, False),
        ({"iterable": True, "workers": 2}, 4, False),
        ({"workers": 0}, 4, False),
    ],
)
def test_workers_of_an_iterable_data_set_need_parts_of_their_own(look, workers, told):
    # GIVEN a job that may not deal out its samples yet
    fix = LoaderWords(LOOK | look).more_readers(workers)

    # THEN
    assert ("get_worker_info()" in fix.what) == told


def test_first_workers_of_a_job_that_runs_jax_are_not_forked():
    # GIVEN
    alone, workers = (LoaderWords(LOOK | {"runs_jax": True, "workers": count}) for count in (0, 2))
    spawned = {"workers": 2, "start_method": "spawn", "given": ["multiprocessing_context"]}

    # THEN
    assert 'num_workers=4, multiprocessing_context="spawn"' in alone.more_readers(4).line
    assert "multiprocessing_context" not in workers.more_readers(4).line

    # AND workers are started as they were
    assert 'num_workers=4, multiprocessing_context="spawn"' in (
        LoaderWords(LOOK | spawned).more_readers(4).line
    )


def test_without_workers_one_reads_ahead():
    # GIVEN
    words = LoaderWords({"batch_size": 8})

    # THEN
    arguments = "batch_size=8, num_workers=1, prefetch_factor=4, persistent_workers=True"
    assert words.read_ahead().line == f"loader = DataLoader(dataset, {arguments})"
    assert "the training loop reads its input itself" in words.more_readers(4).what


def test_blocks_of_samples_are_read_by_one_worker_in_an_order_of_the_jobs():
    # WHEN
    fix = LoaderWords(LOOK).read_in_order(64)

    # THEN
    assert "Read blocks of 64 consecutive samples" in fix.what
    assert fix.instead_of == "loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=2)"
    *order, line = fix.line.splitlines()
    assert line == "loader = DataLoader(dataset, sampler=order, batch_size=32, num_workers=1)"
    assert "sampler" not in LoaderWords(LOOK | {"iterable": True}).read_in_order(64).line

    # AND the order has each block from its beginning on, and all samples, also of less than a block
    for samples, drawn in ((200, [192, 200, 128, 192, 0, 64, 64, 128]), (50, [0, 50])):
        places = {"torch": FakeTorch, "dataset": range(samples)}
        exec("\n".join(order), places)
        blocks = zip(drawn[::2], drawn[1::2], strict=True)
        assert places["order"] == [number for block in blocks for number in range(*block)]


def test_what_the_loader_was_given_is_handed_on_unless_the_order_is_another_one():
    # GIVEN
    whole = LoaderWords({"given": ["batch_sampler", "collate_fn"], "workers": 2})
    sampled = LoaderWords(LOOK | {"given": ["sampler"], "shuffled": False})

    # THEN
    now = "loader = DataLoader(dataset, batch_sampler=batch_sampler, num_workers=2, collate_fn=collate_fn)"
    assert whole.more_readers(4).instead_of == now
    assert sampled.any_order().line == (
        "loader = DataLoader(dataset, sampler=sampler, batch_size=32, num_workers=2, in_order=False)"
    )
    assert whole.read_in_order(64).line.splitlines()[-1] == (
        "loader = DataLoader(dataset, sampler=order, batch_size=batch_size, num_workers=1, "
        "collate_fn=collate_fn)"
    )


@pytest.mark.parametrize(
    ("look", "line"),
    [
        (
            LOOK,
            (
                "sampler = DistributedSampler(dataset)  # from torch.utils.data.distributed\n"
                "loader = DataLoader(dataset, sampler=sampler, batch_size=32, num_workers=2)"
            ),
        ),
        (
            {},
            (
                "sampler = DistributedSampler(dataset, shuffle=False)  # from torch.utils.data.distributed\n"
                "loader = DataLoader(dataset, sampler=sampler)"
            ),
        ),
        # Such a data set takes no sampler.
        (
            LOOK | {"iterable": True, "shuffled": False},
            "files = files[rank::world_size]  # in __iter__, before workers get their parts",
        ),
    ],
)
def test_a_rank_has_a_part_of_the_samples(look, line):
    assert LoaderWords(look).part_of_rank().line == line


def test_only_what_ends_can_be_loaded():
    assert "data set that ends" in LoaderWords({"iterable": True}).keep_in_memory().what
    assert "data set that ends" not in LoaderWords(LOOK).keep_in_memory().what


def test_shards_are_dealt_out_to_workers():
    words = LoaderWords(LOOK | {"iterable": True})

    assert "Split the input into 8 (or 16, 24, ...) shards of equal size" in words.more_shards(8).what
    assert "samples[number::8]" in words.more_shards(8).line
    assert "sort the shards by size, and deal them out" in words.equal_parts().what
    assert "[info.id :: info.num_workers]  # in __iter__" in words.equal_parts().line


def test_no_fix_speaks_of_tf_data():
    # GIVEN
    words = LoaderWords(LOOK)

    # THEN
    fixes = (
        words.more_readers(4), words.fewer_readers(1), words.read_ahead(), words.keep_in_memory(),
        words.more_decoding(4), words.more_validation(4), words.keep_workers(), words.any_order(),
        words.less_transport(), words.more_shards(8), words.equal_parts(), words.read_in_order(64),
        words.part_of_rank(),
        SAVES.fix,
    )  # fmt: skip
    for fix in fixes:
        assert "tf.data" not in f"{fix.what}{fix.line}{fix.instead_of}"


def test_the_replay_model_is_told_of_workers():
    assert declared(LOOK).readers == 2
    assert declared(LOOK).prefetch == 2
    assert declared(LOOK).whole_batches
    assert declared(LOOK | {"persistent": True}).kept
    assert not declared({"workers": 0}).processes


def test_workers_that_have_nothing_to_read_are_no_readers():
    assert declared(LOOK | {"workers": 8, "working": 3}).readers == 3
    assert declared(LOOK | {"workers": 8, "working": 3}).prefetch == 3


def test_the_training_loader_is_the_first_that_is_trained_on():
    # GIVEN
    found = [
        {"framework": "pytorch", "training": False},
        {"framework": "pytorch", "training": True, "workers": 3},
    ]

    # THEN
    assert training_look({"loaders": {"found": found}})["workers"] == 3
    assert training_look({}) is None


TRAINED = LOOK | {"trainer": ["SFTTrainer", "SFTConfig"]}


@pytest.mark.parametrize(
    ("fix", "before", "after"),
    [
        (
            lambda words: words.more_readers(8),
            "dataloader_num_workers=2",
            "dataloader_num_workers=8, dataloader_persistent_workers=True",
        ),
        (
            lambda words: words.read_ahead(),
            "dataloader_num_workers=2",
            "dataloader_num_workers=2, dataloader_prefetch_factor=4",
        ),
        (
            lambda words: words.any_order(),
            "dataloader_num_workers=2",
            "dataloader_num_workers=2, dataloader_in_order=False",
        ),
        (
            lambda words: words.more_validation(3),
            "dataloader_num_workers=2",
            "dataloader_num_workers=3, dataloader_persistent_workers=True",
        ),
    ],
)
def test_fixes_of_a_trainers_loader_are_its_arguments(fix, before, after):
    # WHEN
    typed = fix(TrainerWords(TRAINED))

    # THEN
    assert typed.instead_of == f"args = SFTConfig(output_dir, {before})"
    assert typed.line == f"args = SFTConfig(output_dir, {after})"
    assert typed.what.endswith("Keep the other arguments.")


def test_a_trainer_is_given_kept_samples_and_an_order_of_its_samples():
    # GIVEN
    words = TrainerWords(TRAINED)

    # THEN
    kept, blocks = words.keep_in_memory(), words.read_in_order(64)
    assert kept.line.splitlines()[-1] == "trainer = SFTTrainer(model, args, train_dataset=samples)"
    assert kept.instead_of == "trainer = SFTTrainer(model, args, train_dataset=dataset)"
    assert kept.loads_first
    installed = TrainerWords(TRAINED | {"installed": True}).keep_in_memory()
    assert installed.what == f"{kept.what} Leave out columns that the model does not take."
    assert blocks.line.splitlines()[-2:] == [
        "trainer._get_train_sampler = lambda *_: order  # before trainer.train()",
        "args = SFTConfig(output_dir, dataloader_num_workers=1)",
    ]
    for typed in (kept, blocks, words.part_of_rank()):
        assert "DataLoader" not in typed.line


def test_all_loaders_are_changed_that_training_takes_batches_from():
    # GIVEN data sets that are read side by side, two of them alike, and a validation set
    looks = [LOOK | {"workers": 0, "batch_size": size} for size in (4, 8, 8, 16)]
    found = [look | {"training": place < 3} for place, look in enumerate(looks)]

    # WHEN
    fix = words_of({"loaders": {"found": found}}).more_readers(2)

    # THEN
    assert [line.count("num_workers=2") for line in fix.line.splitlines()] == [1, 1]
    sizes = ["batch_size=4" in fix.instead_of, "batch_size=8" in fix.instead_of]
    assert (sizes, "batch_size=16" in fix.instead_of) == ([True, True], False)
    assert fix.what.endswith("Change each DataLoader that training takes batches from.")
