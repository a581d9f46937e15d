"""Any question, asked so that whoever maps one of its tasks ends."""

import os
import signal
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LethalQuestion:
    """Maps all tasks but one, which kills its process as the kernel does one that takes too much memory."""

    question: Any
    deadly: str

    def empty(self):
        return self.question.empty()

    def map(self, task):
        if task.name == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.question.map(task)

    def merge(self, one, other):
        return self.question.merge(one, other)

    def finish(self, partial):
        return self.question.finish(partial)


@dataclass(frozen=True)
class DeadlyFor:
    """Asks another runner so, for questions of some kinds."""

    runner: Any
    deadly: str
    kinds: tuple[type, ...]

    def gather(self, question, tasks):
        if isinstance(question, self.kinds):
            question = LethalQuestion(question, self.deadly)
        return self.runner.gather(question, tasks)
