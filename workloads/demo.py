"""Trains on ~1,000 JPEG files under tfdarshan.profile, prints the summary and checks it.

Every file is read whole, once per epoch, by tf.io.read_file: one open and two reads, the second
of them empty. So the totals are known from the files alone, and must be met exactly.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

import tfdarshan
from tfdarshan.terminal.progress import Progress

from .images import ImageFile, write_images
from .read_check import check_reads


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; 0 when the session says what the files say, else 1."""
    options = _parse(arguments)
    try:
        return _run(options)
    except tfdarshan.TfdarshanError as error:
        print(f"demo: {error}", file=sys.stderr)
    except OSError as error:
        print(f"demo: {error.filename or options.data_dir}: {error.strerror}", file=sys.stderr)
    return 1


def _run(options: argparse.Namespace) -> int:
    with Progress("JPEG files") as progress:
        files = write_images(options.data_dir, options.files, seed=options.seed, progress=progress)
    total_bytes = sum(file.size_bytes for file in files)
    print(
        f"{len(files):,} JPEG files, {total_bytes:,} bytes, in {os.path.relpath(options.data_dir)}",
        flush=True,
    )
    session = _train(files, options)
    print(f"\n{session.summary()}")
    problems = check_reads(_rows_of(files, session.files), files, options.epochs)
    print(_check_line(len(files), total_bytes, options.epochs, problems))
    for problem in problems[:10]:
        print(f"  {problem}")
    print(f"\nTo see it in a browser, in TensorBoard's tab I/O:\n\n{_tensorboard(options.logdir)}")
    return 1 if problems else 0


def _train(files: Sequence[ImageFile], options: argparse.Namespace) -> tfdarshan.Profile:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    from .image_training import make_dataset, make_model

    model, dataset = make_model(seed=options.seed), make_dataset(files, seed=options.seed)
    with tfdarshan.profile(options.logdir) as session:
        history = model.fit(dataset, epochs=options.epochs, verbose=0, shuffle=False)
    for epoch, (loss, accuracy) in enumerate(
        zip(history.history["loss"], history.history["accuracy"], strict=True), start=1
    ):
        print(f"epoch {epoch}/{options.epochs}: loss {loss:.3f}, accuracy {accuracy:.3f}")
    return session


def _rows_of(files: Sequence[ImageFile], rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["path"].isin([str(file.path) for file in files])]


def _check_line(count: int, total_bytes: int, epochs: int, problems: Sequence[str]) -> str:
    opens, reads, zero_reads = count * epochs, 2 * count * epochs, count * epochs
    expected = f"{opens:,} opens, {reads:,} reads, {zero_reads:,} zero-length, {total_bytes * epochs:,} bytes"
    if problems:
        return f"check: WRONG: {count:,} files x {epochs} epochs make {expected}, but:"
    return f"check: exact: {count:,} files x {epochs} epochs = {expected}"


def _tensorboard(logdir: Path) -> str:
    """Return the command that opens the logdir, to be typed here."""
    program = Path(sys.executable).parent / "tensorboard"
    return shlex.join([os.path.relpath(program), "--logdir", os.path.relpath(logdir)])


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    home = Path(__file__).resolve().parent.parent / "demo"
    parser = argparse.ArgumentParser(prog="python -m tfdarshan.workloads.demo", description=__doc__)
    parser.add_argument("--files", type=_positive, default=1000, help="JPEG files (default 1000)")
    parser.add_argument("--epochs", type=_positive, default=2, help="times each is read (default 2)")
    parser.add_argument("--seed", type=_not_negative, default=0, help="which files (default 0)")
    parser.add_argument("--data-dir", type=_absolute, default=home / "images", help="where the files are")
    parser.add_argument("--logdir", type=_absolute, default=home / "logs", help="where the session goes")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    value = _not_negative(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _not_negative(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _absolute(text: str) -> Path:
    return Path(text).absolute()


if __name__ == "__main__":
    sys.exit(main())
