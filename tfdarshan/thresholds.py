"""What was chosen about sessions: what is worth a word, and from where on a cause is there, in one table.

The replay model has its own numbers, in `replay/priors.py`. No other module of findings/, analysis/,
staging/, storage_probe/ and replay/ has a number that somebody chose.
"""

from __future__ import annotations

from dataclasses import dataclass

JUDGED = "a judgement: no measurement yet"


@dataclass(frozen=True)
class Setting:
    """A number that was chosen.

    Attributes:
        name: What it is called.
        unit: Its unit.
        value: It.
        meaning: What it is.
        source: Where it comes from.
    """

    name: str
    unit: str
    value: float
    meaning: str
    source: str


THRESHOLDS = (
    # What is worth a word, and what a fix has to give.
    Setting("note", "share", 0.02, "smallest share of the time that a fix has to save to be named", JUDGED),
    Setting("problem", "share", 0.05,
        "smallest share of the time that a fix has to save to be a problem", "runs differ by as much"),
    Setting("healthy", "share", 0.05, "largest input wait of a healthy job, as a share of step time", JUDGED),
    Setting("wide", "times", 1.5, "upper over lower bound of a range that needs a reason", JUDGED),
    Setting("hangs", "share", 0.25, "share of a range's variance that an open question explains", JUDGED),
    Setting("copy some", "log", 0.05, "least speedup of copying some files beyond changing lines", JUDGED),
    Setting("copy all", "log", 0.08, "least speedup of copying all files beyond changing lines", JUDGED),
    Setting("convert", "log", 0.12, "least speedup of converting the data beyond changing lines", JUDGED),
    # From where on a cause is there.
    Setting("full", "share", 0.7,
        "serialized share of a call from which on storage is full", "1.4 times as much at most"),
    Setting("room", "share", 0.4, "largest share of memory for cached input", "the job needs the rest"),
    Setting("again", "times", 1.2, "readings of the input from which on a run has later epochs", JUDGED),
    Setting("busy", "share", 0.85, "busy share of the processors from which on no more calls fit", JUDGED),
    Setting("slow", "times", 4.0, "time of a slow file or folder over the usual time", JUDGED),
    Setting("slow call", "times", 10.0,
        "time of a slow file with few calls over the usual time", "single calls vary by more"),
    Setting("stragglers", "share", 0.1,
        "largest share of slow files; with more of them the storage is slow", JUDGED),
    Setting("few calls", "calls", 8, "calls below which a file has few calls", JUDGED),
    Setting("many calls", "calls", 32, "calls that are enough to judge a folder or file", JUDGED),
    Setting("several", "times", 3, "slow passes that show that a file is slow", JUDGED),
    Setting("small write", "B", 64 << 10,
        "largest write that a buffer should collect", "several blocks of a file system"),
    Setting("alike", "times", 1.5, "largest save of one state over its smallest save", JUDGED),
    Setting("memory", "B/s", 500e6,
        "bandwidth of a local save that memory takes", "no disk in need of help writes so fast"),
    Setting("nearly", "share", 0.9, "share of the largest saving that fewer readers have to reach", JUDGED),
    # What a session's calls tell: analysis/.
    # What a probe's reads tell: storage_probe/.
    # What is copied to a faster tier, and checked: staging/.
    Setting("slow open", "s", 300e-6, "least time of an open that a server answers", "local: a tenth"),
)  # fmt: skip

THRESHOLD = {setting.name: setting.value for setting in THRESHOLDS}
