"""What training loops do besides: checkpoints, logs, a validation set."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .program import ExtraPart, Program
from .pytorch.loader_source import loader_validation

# A job has ended when its last checkpoint is on disk, as a fix saves it that is typed as printed, too.
SAVED = 'if "saver" in globals():\n    saver.shutdown()'
CLOSED = 'if hasattr(manager, "close"):\n    manager.close()'


def _nothing(program: Program) -> ExtraPart:
    del program
    return ExtraPart()


def _numpy_checkpoint(program: Program) -> ExtraPart:
    made = f"model = np.random.default_rng(1).random({program.weights})"
    path = 'f"{OUT}/weights-{done}.npy"'
    if not program.extra_cured:
        save = f"if done % {program.every} == 0:\n    np.save({path}, model)"
        return ExtraPart(("import numpy as np",), before=made, after_step=save, at_end=SAVED)
    save = f"if done % {program.every} == 0:\n    saver.submit(np.save, {path}, model.copy())"
    return ExtraPart(
        ("import numpy as np", "from concurrent.futures import ThreadPoolExecutor"),
        before=f"{made}\nsaver = ThreadPoolExecutor(1)",
        after_step=save,
        at_end=SAVED,
    )


def _tf_checkpoint(program: Program) -> ExtraPart:
    made = (
        f"model = tf.Variable(tf.random.uniform(({program.weights},), dtype=tf.float64))\n"
        "checkpoint = tf.train.Checkpoint(model=model)"
    )
    save = f"if done % {program.every} == 0:\n    manager.save()"
    if not program.extra_cured:
        manager = "manager = tf.train.CheckpointManager(checkpoint, OUT, max_to_keep=3)"
        return ExtraPart(before=f"{made}\n{manager}", after_step=save, at_end=CLOSED)
    fast = repr(str(program.folders.fast_out))
    manager = f"manager = BurstBuffer(checkpoint, fast_dir={fast}, slow_dir=OUT, max_to_keep=3)"
    return ExtraPart(
        ("from tfdarshan.checkpoint import BurstBuffer",),
        before=f"{made}\n{manager}",
        after_step=save,
        at_end=CLOSED,
    )


def _synced_log(program: Program) -> ExtraPart:
    opened = 'log = open(f"{OUT}/metrics.txt", "w")'
    write = 'log.write(f"step {done}\\n")'
    if not program.extra_cured:
        return ExtraPart(("os",), before=opened, after_step=f"{write}\nlog.flush()\nos.fsync(log.fileno())")
    return ExtraPart(("os",), before=opened, after_step=write, at_end="log.flush()\nos.fsync(log.fileno())")


def _small_writes(program: Program) -> ExtraPart:
    buffering = 1 << 20 if program.extra_cured else 0
    opened = f'log = open(f"{{OUT}}/samples.log", "ab", buffering={buffering})'
    line = f'f"step {{done}} line {{line}}".ljust({program.line_bytes - 1})'
    write = f'for line in range({program.lines}):\n    log.write(({line} + "\\n").encode())'
    return ExtraPart(before=opened, after_step=write, at_end="log.close()")


def _torch_checkpoint(program: Program) -> ExtraPart:
    made = f"model = torch.nn.Embedding({max(1, program.weights // 500)}, 1000)"
    path = 'f"{OUT}/weights-{done}.pt"'
    if not program.extra_cured:
        save = f"if done % {program.every} == 0:\n    torch.save(model.state_dict(), {path})"
        return ExtraPart(("import torch",), before=made, after_step=save, at_end=SAVED)
    save = (
        f"if done % {program.every} == 0:\n"
        f"    saver.submit(torch.save, copy.deepcopy(model.state_dict()), {path})"
    )
    return ExtraPart(
        ("copy", "import torch", "from concurrent.futures import ThreadPoolExecutor"),
        before=f"{made}\nsaver = ThreadPoolExecutor(1)",
        after_step=save,
        at_end=SAVED,
    )


def _validation(program: Program) -> ExtraPart:
    """A set of files of its own, read after each epoch, by the library that training uses."""
    validations = {"tensorflow": _tf_data_validation, "torch": loader_validation}
    return validations.get(program.library, _python_validation)(program, _validation_paths(program))


def _validation_paths(program: Program) -> str:
    folder = (program.folders.fast if program.staged else program.folders.data) / "validation"
    return f"validation_paths = sorted(str(path) for path in pathlib.Path({str(folder)!r}).rglob('*.bin'))"


def _python_validation(program: Program, listed: str) -> ExtraPart:
    kept = "@functools.cache\n" if program.validation_cached else ""
    made = (
        f"{listed}\n\n{kept}def read_validation(path):\n"
        '    with open(path, "rb") as file:\n'
        f"        return np.frombuffer(file.read(), np.uint8)[:{program.values}]"
    )
    imports = ["pathlib", "import numpy as np", *(["functools"] if program.validation_cached else [])]
    loop = "for path in validation_paths:\n    read_validation(path)"
    if program.validation_threads:
        imports.append("from concurrent.futures import ThreadPoolExecutor")
        made += f"\n\nvalidators = ThreadPoolExecutor({program.validation_threads})"
        loop = "list(validators.map(read_validation, validation_paths))"
    return ExtraPart(tuple(imports), before=made, after_epoch=loop)


def _tf_data_validation(program: Program, listed: str) -> ExtraPart:
    calls = f", num_parallel_calls={program.validation_threads}" if program.validation_threads else ""
    lines = [
        "validation = tf.data.Dataset.from_tensor_slices(validation_paths)",
        f"validation = validation.map(load_validation{calls})",
        *(["validation = validation.cache()"] if program.validation_cached else []),
        "validation = validation.batch(BATCH)",
    ]
    if program.validation_threads:
        lines += [
            "validation_options = tf.data.Options()",
            f"validation_options.threading.private_threadpool_size = {program.validation_threads}",
            "validation = validation.with_options(validation_options)",
        ]
    made = (
        f"{listed}\n\ndef load_validation(path):\n"
        f"    return tf.io.decode_raw(tf.io.read_file(path), tf.uint8)[:{program.values}]\n\n"
        + "\n".join(lines)
    )
    return ExtraPart(("pathlib",), before=made, after_epoch="for batch in validation:\n    pass")


EXTRA_SOURCES: Mapping[str, Callable[[Program], ExtraPart]] = {
    "": _nothing,
    "numpy_checkpoint": _numpy_checkpoint,
    "tf_checkpoint": _tf_checkpoint,
    "torch_checkpoint": _torch_checkpoint,
    "synced_log": _synced_log,
    "small_writes": _small_writes,
    "validation": _validation,
}
