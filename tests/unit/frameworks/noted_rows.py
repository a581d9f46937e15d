"""Rows as a process notes them, one event after the other, in ms."""

import numpy as np

from tfdarshan.frameworks.batch_rows import (
    CAME,
    END,
    EXPOSED,
    FETCH,
    FIRST_ROW,
    OPTIMIZER,
    REQUEST,
    START,
    STOPPED,
    ProcessRows,
    timed_rows,
)
from tfdarshan.frameworks.loaders import Loaders
from tfdarshan.frameworks.pass_note import pass_note

MS = 1_000_000
PID = 100


class Job:
    """Makes rows: time goes on with each event by what it takes."""

    def __init__(self):
        self.now = 0
        self.rows, self.notes = [], []
        self.batches = {}

    def loader(self, name, *, workers=(), data_set=0):
        number = len(self.notes) + 1
        looks = {"framework": "pytorch", "dataset": name, "workers": len(workers)}
        self.notes.append(pass_note(number, looks, workers, data_set))
        self.batches[number] = 0
        return number

    def start(self, number, takes=1, thread=PID):
        self._row(START, takes, thread, number)

    def batch(self, number, takes, *, thread=PID, worker=-1, outcome=CAME, **more):
        self._row(REQUEST, takes, thread, number, self.batches[number], worker, outcome, **more)
        self.batches[number] += outcome == CAME

    def stop(self, number, takes=1):
        self.batch(number, takes, outcome=STOPPED)

    def end(self, number, thread=PID):
        self._row(END, 0, thread, number)

    def fetch(self, begin, end, *, number=0, ordinal=0, worker=-1, thread=PID):
        self.rows.append((FETCH, CAME, begin * MS, end * MS, thread, number, ordinal, worker, 0, 0, 0))

    def optimizer(self, thread=PID, number=0):
        self._row(OPTIMIZER, 0, thread, -1, number)

    def exposed(self, ms):
        """Say how much of the last wait the GPU was idle."""
        begin_ns = self.rows[-1][2]
        self.rows.append((EXPOSED, CAME, begin_ns, begin_ns + ms * MS, PID, -1, 0, -1, 0, 0, 0))

    def compute(self, takes):
        self.now += takes

    def _row(self, kind, takes, thread, number, ordinal=0, worker=-1, outcome=CAME, queued=0, kept=0):
        begin, self.now = self.now, self.now + takes
        self.rows.append(
            (kind, outcome, begin * MS, self.now * MS, thread, number, ordinal, worker, queued, kept, 0)
        )

    @property
    def array(self):
        return timed_rows(np.array(self.rows, FIRST_ROW))

    @property
    def loaders(self):
        return Loaders(ProcessRows(PID, self.array, self.notes, 0))
