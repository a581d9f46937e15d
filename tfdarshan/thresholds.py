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
    Setting("busy", "share", 0.85, "busy share from which on processors, or readers, are saturated", JUDGED),
    Setting("slow", "times", 4.0, "time of a slow file or folder over the usual time", JUDGED),
    Setting("slow call", "times", 10.0,
        "time of a slow file with few calls over the usual time", "single calls vary by more"),
    Setting("stragglers", "share", 0.1,
        "largest share of slow files; with more of them the storage is slow", JUDGED),
    Setting("few", "calls", 8, "calls, files or batches below which nothing is said of them", JUDGED),
    Setting("many", "calls", 32, "calls, faults or files that are enough to judge by", JUDGED),
    Setting("several", "times", 3, "slow passes that show that a file is slow", JUDGED),
    Setting("small", "B", 64 << 10,
        "largest small read, and largest write that a buffer should collect",
        "several blocks of a file system"),
    Setting("alike", "times", 1.5, "largest save of one state over its smallest save", JUDGED),
    Setting("memory", "B/s", 500e6,
        "least bandwidth of the page cache, or of a save in memory", "no disk in need of help is as fast"),
    Setting("nearly", "share", 0.9, "share of the largest saving that fewer readers have to reach", JUDGED),
    Setting("cached", "share", 0.9, "least share of what the page cache served if it served all", JUDGED),
    Setting("steps", "steps", 5, "fewest steps of a session that tells something", JUDGED),
    Setting("seconds", "s", 0.1, "shortest session that tells something", JUDGED),
    Setting("unseen", "share", 0.1, "share of the bytes from which on unseen bytes are a doubt", JUDGED),
    Setting("little", "B", 1 << 20, "fewest bytes that tell something", JUDGED),
    Setting("much", "B", 64 << 20, "unseen or mapped bytes that may be a job's input", JUDGED),
    Setting("slow rank", "times", 2.0, "time of a slow rank or worker over the others' time", JUDGED),
    Setting("earlier sessions", "sessions", 3, "earlier sessions that are compared", "quick summaries"),
    Setting("earlier calls", "calls", 300_000, "calls of an earlier session, at most", "quick summaries"),
    Setting("listed", "sessions", 100_000, "sessions whose verdicts are kept for a list", "a file of 50 MB"),
    Setting("shuffled", "batches", 4, "batches in the shuffle buffer of a fix", JUDGED),
    # What calls of a session, and reads of a probe, tell: analysis/ and storage_probe/.
    Setting("most", "share", 0.9, "share that counts as nearly all", JUDGED),
    Setting("hardly", "share", 0.1, "share that counts as next to nothing", JUDGED),
    Setting("rarely", "share", 0.02, "share that counts as exceptions, or as a measurement's error", JUDGED),
    Setting("near", "share", 0.15, "largest difference of intervals, or depths, that are alike", JUDGED),
    Setting("clearly", "share", 0.3, "least difference of what differs clearly", JUDGED),
    Setting("longer", "times", 3.0,
        "pause over a step from which on training stands still; slow read of a probe over others", JUDGED),
    Setting("moment", "s", 0.02, "shortest time that is a pause between steps, or shows a bandwidth", JUDGED),
    Setting("pause", "s", 1e-3, "shortest pause between batches, or saves", "prepares no batch"),
    Setting("save gap", "s", 0.5, "longest pause between writes of one save", JUDGED),
    Setting("save", "B", 1 << 20, "fewest bytes of a save", "logs and summaries write less"),
    Setting("chunk", "calls", 100, "calls in a row that are compared with each other", JUDGED),
    Setting("hung", "times", 8.0, "time of a call that hung over the usual time", JUDGED),
    Setting("held", "s", 0.03, "shortest call that a rate limit holds back",
        "disks seek in 10 ms, object stores take 20 ms more"),
    Setting("held short", "s", 0.01, "the same if the job rests between its calls", "disks seek in 10 ms"),
    Setting("certain", "deviations", 2.576, "distance from chance that shows what a limit counts",
        "1 of 100 sessions by chance"),
    Setting("page fault", "s", 20e-6, "longest page fault that memory serves", JUDGED),
    Setting("read ahead", "B", 512 << 10, "most bytes that storage reads for a read, or a page fault",
        "four times the kernel's default"),
    Setting("neighbours", "calls", 5, "calls in a row that make a moment", JUDGED),
    Setting("handed", "s", 2e-4, "longest time to hand over a batch that is ready", "tf.data: 0.1 to 1 ms"),
    Setting("memory call", "s", 1e-4, "longest call that the page cache serves, besides its bytes",
        "with room for a busy machine"),
    # What is copied to a faster tier, and checked: staging/.
    Setting("slow open", "s", 300e-6, "least time of an open that a server answers", "local: a tenth"),
)  # fmt: skip

THRESHOLD = {setting.name: setting.value for setting in THRESHOLDS}
