"""Fixes applied to the letter: what a reader would type, and what he could not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tfdarshan.findings.fsync import FIX as SYNC_FIX
from tfdarshan.findings.small_writes import FIX as WRITES_FIX
from tfdarshan.frameworks.plain.save_words import ARRAYS
from tfdarshan.frameworks.pytorch.loader_words import LoaderWords
from tfdarshan.frameworks.tensorflow.checkpoint_words import BURST_BUFFER
from tfdarshan.workloads.laboratory.applied import (
    CannotTypeError,
    apply_lines,
    copies_and_lines,
    filled_command,
    is_command,
    is_mirrored,
)
from tfdarshan.workloads.laboratory.draw import draw
from tfdarshan.workloads.laboratory.program_source import source

PROGRAM = '''\
"""Trains."""
import os
import tensorflow as tf

paths = ["a"]

def read_image(name):
    return tf.io.read_file(name)

ds = tf.data.Dataset.from_tensor_slices(paths)
ds = ds.map(read_image)
ds = ds.batch(32)
'''
CHAINED = '''\
"""Trains."""
import tensorflow as tf

paths = ["a"]
ds = (
    tf.data.Dataset.from_tensor_slices(paths)
    .map(lambda name: tf.io.read_file(name))
    .batch(32)
)
'''
TWO = '''\
"""Trains, and validates."""
import tensorflow as tf

def load(name):
    return tf.io.read_file(name)

def load_other(name):
    return tf.io.read_file(name)

training = tf.data.Dataset.from_tensor_slices(["a"]).map(load)
validation = tf.data.Dataset.from_tensor_slices(["b"]).map(load_other)
'''
MAP = "dataset = dataset.map(load)"
EIGHT = "dataset = dataset.map(load, num_parallel_calls=8)"
FOUR = "dataset = dataset.map(load, num_parallel_calls=4)"
POOL = """\
dataset = dataset.map(load, num_parallel_calls=16)
options = tf.data.Options()
options.threading.private_threadpool_size = 16
dataset = dataset.with_options(options)"""


def applied(source, line, instead_of, folders=None):
    return apply_lines(source, line, instead_of, folders or {})


def test_a_reader_takes_the_names_for_his_own():
    text = applied(PROGRAM, EIGHT, MAP)
    assert "ds = ds.map(read_image, num_parallel_calls=8)\n" in text
    assert text.replace(", num_parallel_calls=8", "") == PROGRAM


def test_a_line_stands_for_a_part_of_a_chain():
    text = applied(CHAINED, EIGHT, MAP)
    assert ".map(lambda name: tf.io.read_file(name), num_parallel_calls=8)" in text
    assert ".batch(32)" in text
    text = applied(
        CHAINED,
        "dataset = dataset.batch(batch_size).prefetch(tf.data.AUTOTUNE)",
        "dataset = dataset.batch(batch_size)",
    )
    assert ".batch(32).prefetch(tf.data.AUTOTUNE)" in text


@pytest.mark.parametrize("source", [PROGRAM, CHAINED])
def test_lines_that_follow_come_after_the_statement(source):
    text = applied(source, POOL, "dataset = dataset.map(load)")
    assert "num_parallel_calls=16" in text
    assert (
        "\noptions = tf.data.Options()\noptions.threading.private_threadpool_size = 16\n"
        "ds = ds.with_options(options)\n" in text
    )


@pytest.mark.parametrize(
    ("named", "where"), [("load_other", "validation"), ("load", "training"), ("read_image", "training")]
)
def test_a_line_that_stands_to_the_letter_is_that_one(named, where):
    # GIVEN a program with two data sets, and a line of the second, of the first, or with another's name
    text = applied(TWO, f"dataset = dataset.map({named}).cache()", f"dataset = dataset.map({named})")

    # THEN it is the one that calls what is printed; what the program does not have stands for the first
    (changed,) = [line for line in text.splitlines() if ".cache()" in line]
    assert changed.startswith(f"{where} = ")


def test_of_two_loaders_the_one_of_the_printed_names_is_changed():
    # GIVEN a loader of a validation set in front of that of training
    text = (
        "from torch.utils.data import DataLoader\n\n"
        "validation = DataLoader(held_out, batch_size=BATCH)\n"
        "loader = DataLoader(dataset, batch_size=BATCH)\n"
    )

    # WHEN
    line = "loader = DataLoader(dataset, batch_size=21, num_workers=8)"
    typed = applied(text, line, "loader = DataLoader(dataset, batch_size=21)")

    # THEN
    assert typed == text.replace("(dataset, batch_size=BATCH)", "(dataset, batch_size=21, num_workers=8)")


def test_a_validation_set_that_workers_read_keeps_its_batches():
    # GIVEN the loaders of training and of a validation set
    text = (
        "from torch.utils.data import DataLoader\n\n"
        "loader = DataLoader(samples, batch_size=32)\n"
        "validation_loader = DataLoader(validation_set, batch_size=64)\n"
    )

    # WHEN
    fix = LoaderWords({}).more_validation(8)

    # THEN
    made = "DataLoader(validation_set, batch_size=64, num_workers=8, persistent_workers=True)"
    assert made in applied(text, fix.line, fix.instead_of)


def test_lines_that_follow_are_indented_as_the_statement_is():
    source = "import tensorflow as tf\ndef make(paths, load):\n    data = paths.map(load)\n    return data\n"
    text = applied(source, POOL, "dataset = dataset.map(load)")
    assert "    data = paths.map(load, num_parallel_calls=16)\n    options = tf.data.Options()\n" in text
    assert "    data = data.with_options(options)\n    return data\n" in text


def test_lines_before_the_changed_one_come_before_the_statement():
    text = applied(PROGRAM, f"import random\nrandom.shuffle(paths)\n{EIGHT}", MAP)
    assert "import random\nrandom.shuffle(paths)\nds = ds.map(read_image, num_parallel_calls=8)\n" in text


@pytest.mark.parametrize(
    ("line", "instead_of", "why"),
    [
        # The call has other arguments, or is another call.
        (
            "dataset = dataset.map(f)",
            FOUR,
            "the program has no `",
        ),
        ("log = open(p, 'ab', 1 << 20)", "log = open(p, 'ab', buffering=0)", "the program has no `"),
        ("x = 1", "dataset = dataset.interleave(load)", "the program has no `"),
        # Nothing to take out, or the head of a block.
        ("handles = {}", "", "no line is named"),
        ("handles = {}", "with open(path, 'rb') as file:", "no whole statement"),
        ("paths = sorted(os.scandir(folder))", "if os.path.exists(path):  # for each", "no whole statement"),
        # What comes needs names that are not there.
        (
            "dataset = dataset.map(load, num_parallel_calls=calls)",
            MAP,
            "has no calls",
        ),
        ("dataset = tf.data.TFRecordDataset(shards)", "dataset = dataset.map(load)", "has no shards"),
    ],
)
def test_what_a_reader_cannot_type_is_said(line, instead_of, why):
    with pytest.raises(CannotTypeError, match=why):
        applied(PROGRAM, line, instead_of)


def test_names_of_modules_stand_for_nothing_else():
    with pytest.raises(CannotTypeError):
        applied("import os\nos.map(os)\n", "dataset = dataset.map(load, 2)", "dataset = dataset.map(load)")


def test_a_name_stands_for_one_thing():
    with pytest.raises(CannotTypeError):
        applied("import os\nos.rename(a, b)\n", "os.replace(one, one)", "os.rename(one, one)")


def test_placeholders_are_filled_in_and_what_a_comment_names_is_imported():
    source = '"""Trains."""\nimport os\n\nos.save(checkpoint, "/slow")\n'.replace("checkpoint", "os.path")
    line = "BurstBuffer(model, fast_dir=FAST, slow_dir=SLOW).save()  # from tfdarshan.checkpoint"
    text = applied(source, line, "os.save(model, folder)", {"FAST": "/f", "SLOW": "/s"})
    assert text == (
        '"""Trains."""\nfrom tfdarshan.checkpoint import BurstBuffer\nimport os\n\n'
        "BurstBuffer(os.path, fast_dir='/f', slow_dir='/s').save()\n"
    )


def test_a_command_is_filled_in():
    line = "tfdarshan advise --logdir LOGDIR --fast DIR -o plan.json && tfdarshan stage apply plan.json"
    assert is_command(line)
    assert not is_command("dataset = dataset.cache()")
    filled = filled_command(line, {"LOGDIR": "/l", "DIR": "/d"})
    assert filled.startswith("tfdarshan advise --logdir /l --fast /d -o plan.json && ")
    with pytest.raises(CannotTypeError, match="changes nothing"):
        filled_command("tfdarshan advise --logdir LOGDIR --fast DIR", {})


def test_the_job_itself_is_no_part_of_what_is_run_before():
    copies = "tfdarshan advise --fast DIR -o plan.json\ntfdarshan stage apply plan.json"
    assert filled_command(
        f"{copies}\ntfdarshan run --staged plan.json t.py", {"DIR": "/d"}
    ) == copies.replace("DIR", "/d")
    mirror = f"{copies} --mirror\npython t.py  # with DIR in place of /data"
    assert filled_command(mirror, {"DIR": "/d"}) == f"{copies} --mirror".replace("DIR", "/d")
    assert is_mirrored(mirror)
    assert not is_mirrored(copies)


AHEAD = ("for batch in read_ahead(batches):  # from tfdarshan.ahead", "for batch in batches:")
UNMARKED = """\
import time

def read_batches():
    for batch_number in range(3):
        yield batch_number

for epoch in range(2):
    for batch in read_batches():
        time.sleep(0.01)
"""
MARKED = UNMARKED.replace(
    "    for batch in read_batches():\n        time.sleep(0.01)\n",
    "    batches = iter(read_batches())\n    while next(batches, None) is not None:\n        pass\n",
)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (UNMARKED, "    for batch in read_ahead(read_batches()):\n"),
        (MARKED, "    batches = iter(read_ahead(read_batches()))\n"),
    ],
)
def test_a_loop_reads_ahead_of_what_it_iterates_over(program, expected):
    text = applied(program, *AHEAD)
    assert expected in text
    assert "from tfdarshan.ahead import read_ahead\n" in text
    assert len(text.splitlines()) == len(program.splitlines()) + 1
    exec(compile(text, "train.py", "exec"), {})


def test_a_program_without_such_a_loop_is_not_guessed_at():
    with pytest.raises(CannotTypeError, match="the program has no `for batch in batches:`"):
        applied(PROGRAM, *AHEAD)


ONCE = (
    "dataset = read_batches()  # before the first epoch\nfor batch in dataset:",
    "for batch in read_batches():",
)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (UNMARKED, "dataset = read_batches()\nfor epoch in range(2):\n    for batch in dataset:\n"),
        (MARKED, "dataset = read_batches()\nfor epoch in range(2):\n    batches = iter(dataset)\n"),
    ],
)
def test_what_comes_before_the_first_epoch_is_put_before_its_loop(program, expected):
    text = applied(program, *ONCE)
    assert expected in text
    exec(compile(text, "train.py", "exec"), {})


def test_a_loop_over_another_call_is_not_the_one_that_is_printed():
    with pytest.raises(CannotTypeError, match="the program has no `for batch in make_dataset"):
        applied(UNMARKED, ONCE[0].replace("read_batches", "make_dataset"), "for batch in make_dataset():")


ONE_BY_ONE = '''\
"""Trains."""
import numpy as np

names = ["a"]

def read(name):
    return np.fromfile(name)

def read_samples():
    for name in names:
        yield read(name)
'''
BY_THREADS = (
    "yield from map_ahead(read, samples, threads=4)  # from tfdarshan.ahead",
    "for sample in samples:\n    yield read(sample)",
)


def test_a_whole_loop_is_replaced_with_its_names():
    text = applied(ONE_BY_ONE, *BY_THREADS)
    assert text.endswith("def read_samples():\n    yield from map_ahead(read, names, threads=4)\n")
    assert '"""Trains."""\nfrom tfdarshan.ahead import map_ahead\nimport numpy as np\n' in text


@pytest.mark.parametrize(
    "other",
    ["yield read(name, 1)", "yield names", "yield read(other)", "name = read(name)\n        yield name"],
)
def test_a_loop_that_does_something_else_is_not_replaced(other):
    with pytest.raises(CannotTypeError, match="the program has no `for sample in samples"):
        applied(ONE_BY_ONE.replace("yield read(name)", other), *BY_THREADS)


def test_a_function_is_decorated_and_what_that_takes_imported():
    text = applied(ONE_BY_ONE, "@functools.cache\ndef read(path):", "def read(path):")
    assert "\n\n@functools.cache\ndef read(name):\n    return" in text
    assert '"""Trains."""\nimport functools\nimport numpy as np\n' in text
    again = applied(text, "@functools.wraps(read)\ndef read(path):", "def read(path):")
    assert "@functools.wraps(read)\n@functools.cache\ndef read" in again


def test_a_function_of_another_name_is_not_guessed_at():
    for head in ("def load(path):", "def read(path, size):"):
        with pytest.raises(CannotTypeError, match="the program has no `def"):
            applied(ONE_BY_ONE, f"@functools.cache\n{head}", head)


SAVING = '''\
"""Trains."""
import os
import numpy as np

def train(model, log):
    for epoch in range(2):
        for step in range(3):
            if step == 2:
                np.save(f"w-{step}.npy", model)
            os.fsync(log.fileno())
'''


def test_a_pool_is_made_before_the_first_epoch_and_used_where_the_line_was():
    text = applied(
        SAVING,
        "saver = concurrent.futures.ThreadPoolExecutor(1)  # before the first epoch\n"
        "saver.submit(np.save, path, array.copy())",
        "np.save(path, array)",
    )
    assert "    saver = concurrent.futures.ThreadPoolExecutor(1)\n    for epoch in range(2):\n" in text
    assert (
        "                saver.submit(np.save, f'w-{step}.npy', model.copy())\n            os.fsync" in text
    )
    assert '"""Trains."""\nimport concurrent.futures\nimport os\n' in text


def test_a_sync_moves_into_a_thread():
    text = applied(SAVING, SYNC_FIX.line, SYNC_FIX.instead_of)
    assert "            sync_behind(log)\n" in text
    assert "from tfdarshan.checkpoint import sync_behind\n" in text


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize(
    ("extra", "fix", "comes"),
    [
        (
            "tf_checkpoint",
            BURST_BUFFER,
            "manager = BurstBuffer(checkpoint, fast_dir='/f', slow_dir='/s', ",
        ),
        ("synced_log", SYNC_FIX, "sync_behind(log)"),
        ("small_writes", WRITES_FIX, "samples.log', 'ab', buffering=1 << 20)"),
    ],
)
def test_what_is_printed_for_the_loop_s_writes_fits_the_programs_that_are_drawn(marked, extra, fix, comes):
    program = dataclasses.replace(draw(0).program(Path("/nowhere")), extra=extra, marked=marked)
    text = source(program, Path("/nowhere/logs"))
    assert comes in apply_lines(text, fix.line, fix.instead_of, {"FAST": "/f", "SLOW": "/s"})


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize(
    ("extra", "fix", "waits"),
    [
        ("numpy_checkpoint", ARRAYS.fix, "saver.shutdown()"),
        ("tf_checkpoint", BURST_BUFFER, "manager.close()"),
    ],
)
def test_training_lasts_until_the_last_checkpoint_is_on_disk(marked, extra, fix, waits):
    program = dataclasses.replace(draw(0).program(Path("/nowhere")), extra=extra, marked=marked)
    text = source(program, Path("/nowhere/logs"))
    folders = {"FAST": "/f", "SLOW": "/s"}

    # THEN both with the fix as it is printed and with the laboratory's own
    typed = apply_lines(text, fix.line, fix.instead_of, folders)
    for one in (typed, source(dataclasses.replace(program, extra_cured=True), Path("/nowhere/logs"))):
        assert one.index("ends_s.append(") < one.index(waits) < one.index("trained_s =")


def test_what_is_printed_for_a_checkpoint_names_the_manager():
    assert BURST_BUFFER.what == (
        "Save in the background: write to a fast tier, from which a thread copies to storage. "
        "Call close() at the end."
    )
    assert BURST_BUFFER.instead_of == (
        "manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=3)"
    )
    assert BURST_BUFFER.line == (
        "manager = BurstBuffer(checkpoint, fast_dir=FAST, slow_dir=SLOW, max_to_keep=3)"
        "  # from tfdarshan.checkpoint"
    )


def test_a_class_stands_for_itself():
    # GIVEN another class that is called with one argument, in front of the one that is printed
    program = ONE_BY_ONE.replace('names = ["a"]', 'DATA = "/d"\nnames = pathlib.Path(DATA)\npool = {}(1)')
    line = ("pool = ThreadPoolExecutor(8)  # from concurrent.futures", "pool = ThreadPoolExecutor(1)")

    # THEN
    for name in ("ThreadPoolExecutor", "concurrent.futures.ThreadPoolExecutor"):
        text = applied(program.format(name), *line)
        assert "pathlib.Path(DATA)" in text
        assert "pool = ThreadPoolExecutor(8)" in text
    with pytest.raises(CannotTypeError, match="the program has no `pool = ThreadPoolExecutor"):
        applied(program.format("Pool"), *line)


DATABASE = '''\
"""Reads rows."""
import sqlite3

DATA = "/data"
database = sqlite3.connect(f"{DATA}/a.db", check_same_thread=False)
'''


def test_a_copy_of_a_database_is_opened_as_the_database_was():
    folders = {"DIR": "/fast"}
    line = 'cp -u /data/a.db DIR/\ndatabase = sqlite3.connect("DIR/a.db")'

    copies, lines = copies_and_lines(line, folders)
    text = applied(DATABASE, lines, "database = sqlite3.connect(path)", folders)

    assert copies == "cp -u /data/a.db /fast/"
    assert "sqlite3.connect('/fast/a.db', check_same_thread=False)" in text
    # Of other calls all arguments have to be those that are printed.
    with pytest.raises(CannotTypeError, match="the program has no"):
        applied(PROGRAM.replace("ds.map(read_image)", "ds.map(read_image, name=1)"), f"{MAP}.cache()", MAP)


def test_several_lines_may_go_for_one_that_comes():
    # GIVEN a cache that never fills: of a pipeline in lines, and of one in a chain
    goes, comes = (
        "dataset = dataset.cache()\ndataset = dataset.take(9)",
        "dataset = dataset.take(288).cache()",
    )
    lines = (
        f"{PROGRAM.replace('ds = ds.batch', 'ds = ds.cache()' + chr(10) + 'ds = ds.batch')}ds = ds.take(9)\n"
    )
    chain = CHAINED.replace("    .batch(32)\n", "    .cache()\n    .batch(32)\n    .take(9)\n")

    # WHEN
    typed, chained = (applied(text, comes, goes) for text in (lines, chain))

    # THEN
    assert typed == lines.replace("ds.cache()", "ds.take(288).cache()").replace("ds = ds.take(9)\n", "")
    assert "take(9)" not in chained
    assert ".take(288).cache().batch(32)" in "".join(chained.split())
    with pytest.raises(CannotTypeError, match=r"no `dataset = dataset\.take\(9\)`"):
        applied(
            PROGRAM, "dataset = dataset.cache()", "dataset = dataset.batch(32)\ndataset = dataset.take(9)"
        )
