"""The loaders that a job took batches from, by what was noted at the beginning of each pass over one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tfdarshan.frameworks.batch_rows import CAME, REQUEST, START, ProcessRows
from tfdarshan.native.spool_reader import Array

NO_EPOCH, NO_WORKER = -1, -1
# Of a loader's batches, as `pass_note.batch_note` has them.
SIZES = ("batch_bytes", "small_bytes")
# What a loader looks like, and the number of its data set.
DataSet = tuple[str, int]


class Loaders:
    """Loaders that look alike are one: a loop may make one anew for each epoch, of a data set made anew.

    They are two if their data sets are used by turns, as those of training and validation are.

    Args:
        process: The process that took the batches. Its notes on passes are those that `pass_note` makes.

    Attributes:
        found: What the loaders look like, the first that was used first.
        of_pass: The place of each pass's loader.
        epoch_of_pass: Which pass over its loader each is, from 1 on; -1 if it is no epoch.
        workers_of_pass: The process numbers of the workers of each pass.
    """

    def __init__(self, process: ProcessRows) -> None:
        self._main = process.pid
        self.found: list[dict[str, Any]] = []
        self.of_pass: dict[int, int] = {}
        self.epoch_of_pass: dict[int, int] = {}
        self.workers_of_pass: dict[int, list[int]] = {}
        passes = [note for note in process.notes if _is_pass(note)]
        taken = Counter[int]()
        for note, place in zip(passes, _places(passes, process.rows), strict=True):
            number = note["pass"]
            if place == len(self.found):
                self.found.append(note["loader"])
            taken[place] += 1
            self.of_pass[number] = place
            self.epoch_of_pass[number] = taken[place]
            self.workers_of_pass[number] = list(note.get("workers") or [])
        for note in process.notes:
            if note.get("batch_of") in self.of_pass:
                loader = self.found[self.of_pass[note["batch_of"]]]
                loader.update({name: note.get(name, 0) for name in SIZES})

    def number_epochs(self, rows: Array) -> None:
        """Number passes by those that are epochs: who builds a model by one batch, or looks, begins others.

        A pass that took nothing, or one batch where another pass took more, is no epoch: its number is -1.
        Nor is one of the main thread if the loader's batches come in other threads: Keras looks at two to
        have TensorFlow's threads take the rest.
        """
        came = rows[(rows["kind"] == REQUEST) & (rows["outcome"] == CAME)]
        taken = Counter(came["pass"].tolist())
        in_main = Counter(came["pass"][came["thread"] == self._main].tolist())
        most, batches, main_batches, epochs = (Counter[int]() for _ in range(4))
        for number, place in self.of_pass.items():
            most[place] = max(most[place], taken[number])
            batches[place] += taken[number]
            main_batches[place] += in_main[number]
        for number, place in self.of_pass.items():
            is_look = in_main[number] > 0 and 2 * main_batches[place] <= batches[place]
            is_epoch = taken[number] > (most[place] > 1) and not is_look
            epochs[place] += is_epoch
            self.epoch_of_pass[number] = epochs[place] if is_epoch else NO_EPOCH

    def number_trained(self, rows: Array, training: Collection[int], stepped: Collection[int]) -> None:
        """Number the epochs that are trained in: passes without a step measure how good the model is.

        Numbers go on where a training loader follows others that are not used again. A job may train with
        larger batches later, or have one loader for the rest of an epoch.

        Args:
            rows: The rows of the thread that trains.
            training: Places of the loaders whose batches are trained on.
            stepped: Passes behind whose requests an optimizer stepped.
        """
        uses, until, since, epochs = _uses(rows), Counter[int](), dict[int, int](), Counter[int]()
        told = {self.of_pass[number] for number in stepped if number in self.of_pass}
        passes = [(number, place) for number, place in self.of_pass.items() if place in training]
        for number, place in passes:
            until[place] = max(until[place], uses.get(number, (0, 0))[1])
        for number, place in passes:
            if place in told and number not in stepped:
                self.epoch_of_pass[number] = NO_EPOCH
            if self.epoch_of_pass[number] == NO_EPOCH:
                continue
            if place not in since:
                first = uses.get(number, (0, 0))[0]
                since[place] = max((epochs[one] for one in since if until[one] < first), default=0)
                epochs[place] = since[place]
            epochs[place] += 1
            self.epoch_of_pass[number] = epochs[place]

    def places(self, rows: Array) -> Array:
        """Return the place of each row's loader, -1 if that is not known."""
        return _of_passes(self.of_pass, rows)

    def epochs(self, rows: Array) -> Array:
        """Return which pass over its loader each row is of, from 1 on; -1 if it is of no epoch."""
        return _of_passes(self.epoch_of_pass, rows)

    def block(self, rows: Array, training: Collection[int]) -> dict[str, Any]:
        """Return what the metadata says of them.

        Args:
            rows: The process's rows.
            training: Places of the loaders whose batches are trained on.
        """
        places = self.places(rows)
        lasted_ns = rows["end_ns"] - rows["begin_ns"]
        starts = rows["kind"] == START
        came = (rows["kind"] == REQUEST) & (rows["outcome"] == CAME)
        epochs = [place for number, place in self.of_pass.items() if self.epoch_of_pass[number] > 0]
        return {
            "found": [
                {
                    **looks,
                    "training": place in training,
                    "passes": epochs.count(place),
                    "batches": int(np.count_nonzero(came & (places == place))),
                    "working": len(set(rows["worker"][came & (places == place)].tolist()) - {NO_WORKER}),
                    "starts": int(np.count_nonzero(starts & (places == place))),
                    "start_ns": int(lasted_ns[starts & (places == place)].sum()),
                    "wait_ns": int(lasted_ns[came & (places == place)].sum()),
                }
                for place, looks in enumerate(self.found)
            ]
        }


def _of_passes(known: Mapping[int, int], rows: Array) -> Array:
    """Return what is known of each row's pass, -1 if it is not known."""
    numbers = np.unique(rows["pass"])
    values = np.array([known.get(number, -1) for number in numbers.tolist()], np.int64)
    found: Array = values[np.searchsorted(numbers, rows["pass"])]
    return found


def _is_pass(note: Mapping[str, Any]) -> bool:
    return isinstance(note.get("pass"), int) and isinstance(note.get("loader"), dict)


def _places(passes: Sequence[Mapping[str, Any]], rows: Array) -> list[int]:
    """Return the place of each pass's loader.

    A data set takes the place of one that looks alike and is not used again.
    """
    uses, until = _uses(rows), Counter[DataSet]()
    data_sets = [(json.dumps(note["loader"], sort_keys=True), note.get("data_set", 0)) for note in passes]
    for note, data_set in zip(passes, data_sets, strict=True):
        until[data_set] = max(until[data_set], uses.get(note["pass"], (0, 0))[1])
    holders: list[DataSet] = []
    places: dict[DataSet, int] = {}
    for note, data_set in zip(passes, data_sets, strict=True):
        if data_set not in places:
            since, _ = uses.get(note["pass"], (len(rows), 0))
            left = (
                place for place, one in enumerate(holders) if one[0] == data_set[0] and until[one] < since
            )
            place = places[data_set] = next(left, len(holders))
            holders[place : place + 1] = [data_set]
    return [places[data_set] for data_set in data_sets]


def _uses(rows: Array) -> dict[int, tuple[int, int]]:
    """Return the places of the first and the last row in which each pass is used."""
    used = np.flatnonzero((rows["kind"] == START) | (rows["kind"] == REQUEST))
    numbers, first = np.unique(rows["pass"][used], return_index=True)
    _, last = np.unique(rows["pass"][used][::-1], return_index=True)
    uses = zip(used[first].tolist(), used[::-1][last].tolist(), strict=True)
    return dict(zip(numbers.tolist(), uses, strict=True))
