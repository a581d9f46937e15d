"""What verify lets pass as a limit of libdarshan, and what it must not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.made_up_counters import READ, batch_of
from tfdarshan.native import _bridge
from tfdarshan.recording.libdarshan.cross_check import Counted, Verification
from tfdarshan.recording.libdarshan.darshan_records import module_columns
from tfdarshan.recording.libdarshan.expected_rows import SeenRows
from tfdarshan.recording.libdarshan.unseen_calls import EFFECTS, operation_bits
from tfdarshan.reports.text.agreement_text import agreement_sentence

STREAM: dict[str, float] = {"STDIO_OPENS": 1, "STDIO_READS": 7, "STDIO_WRITES": 4, "STDIO_BYTES_READ": 70}


def verify(
    module: str,
    fold: dict[str, float],
    darshan: dict[str, float],
    *,
    seen: dict[str, float] | None = None,
    unseen: tuple[str, ...] = (),
) -> dict[str, dict[str, object]]:
    """Compare one row. `seen` is the fold of the calls that libdarshan saw; None: it cannot be told."""
    columns = module_columns(module)
    exact = seen is not None or not unseen
    expected = batch_of(module, fold if seen is None else seen)
    counted = batch_of(module, darshan)
    verification = Verification()
    verification.compare(
        module,
        batch_of(module, fold),
        np.array([0]),
        Counted(
            counted.counters[columns.places].T,
            counted.f_counters[columns.f_places].T,
            np.ones((1, len(columns.names) + len(columns.f_names)), bool),
            np.zeros(1, bool),
        ),
        SeenRows(
            expected.counters[columns.places].T,
            expected.f_counters[columns.f_places].T,
            np.array([operation_bits(*unseen)]),
            np.array([exact]),
        ),
        ["/data/file"],
    )
    return {entry["kind"]: entry for entry in verification.result()["differences"]}


def test_equal_counters_are_no_difference():
    # GIVEN the same counters from both
    # WHEN they are compared
    # THEN nothing is said
    assert verify("POSIX", READ, READ) == {}


@pytest.mark.parametrize("counter", ["POSIX_READS", "POSIX_CONSEC_READS", "POSIX_RENAMED_FROM"])
def test_one_more_is_unexplained(counter: str):
    # GIVEN a counter that is one more in libdarshan, however large it is
    large = READ | {"POSIX_RENAMED_FROM": (1 << 62) + 1}
    darshan = large | {counter: large.get(counter, 0) + 1}

    # WHEN they are compared
    # THEN exactly that counter is unexplained
    assert verify("POSIX", large, darshan)["unexplained"]["counters"] == [counter]


def test_an_unseen_call_explains_only_what_it_changed():
    # GIVEN a file of which libdarshan missed a stat, and a read that it miscounted
    fold = READ | {"POSIX_STATS": 1, "TFD_UNSEEN_CALLS": 1}
    darshan = READ | {"POSIX_BYTES_READ": 299}

    # WHEN they are compared
    found = verify("POSIX", fold, darshan, seen=READ, unseen=("stat",))

    # THEN the stat has its name, and the read is unexplained
    assert found["stat names"]["calls"] == {"stat": ["POSIX_STATS"]}
    assert found["unexplained"]["counters"] == ["POSIX_BYTES_READ"]


def test_what_follows_from_an_unseen_call_is_named_with_it():
    # GIVEN a read of 50 bytes that libdarshan missed, after which another is no longer consecutive to it
    fold = READ | {"POSIX_READS": 4, "POSIX_BYTES_READ": 350, "POSIX_CONSEC_READS": 3}
    darshan = READ | {"POSIX_CONSEC_READS": 1}

    # WHEN they are compared, with the fold of the seen calls
    found = verify("POSIX", fold, darshan, seen=darshan, unseen=("read",))

    # THEN the differences have the call's name, and none is unexplained
    assert set(found) == {"unseen calls"}
    assert found["unseen calls"]["calls"] == {
        "read": ["POSIX_BYTES_READ", "POSIX_CONSEC_READS", "POSIX_READS"]
    }


def test_a_seen_call_marked_as_unseen_is_unexplained():
    # GIVEN a call that the recorder took for unseen, and libdarshan counted
    # WHEN the fold of the seen calls is compared with it
    found = verify("POSIX", READ, READ, seen=READ | {"POSIX_READS": 2}, unseen=("read",))

    # THEN it shows, though both counters of the file are equal
    assert found["unexplained"]["counters"] == ["POSIX_READS"]


def test_without_the_trace_an_unseen_call_excuses_its_own_counters():
    # GIVEN a stream of which libdarshan missed reads, and whose writes differ too
    darshan = STREAM | {"STDIO_READS": 5, "STDIO_BYTES_READ": 50, "STDIO_WRITES": 3}

    # WHEN there is no trace to leave the missed calls out of
    found = verify("STDIO", STREAM, darshan, unseen=("fread",))

    # THEN they explain the reads and not the writes
    assert found["unseen calls"]["counters"] == ["STDIO_BYTES_READ", "STDIO_READS"]
    assert found["unexplained"]["counters"] == ["STDIO_WRITES"]


def test_a_duration_is_never_longer_in_darshan():
    # GIVEN durations read inside ours: longer here, or longer there
    # WHEN they are compared
    longer_here = verify("POSIX", READ | {"POSIX_F_READ_TIME": 0.5}, READ)
    longer_there = verify("POSIX", READ, READ | {"POSIX_F_READ_TIME": 0.5})

    # THEN only the first has a reason
    assert set(longer_here) == {"two clocks"}
    assert longer_there["unexplained"]["counters"] == ["POSIX_F_READ_TIME"]


def test_every_operation_has_its_effects():
    # GIVEN the operations that Darshan's modules count
    beyond_darshan = {"unlink", "truncate", "copy_read", "copy_write"}
    operations = {operation.name for operation in _bridge.operations()}

    # WHEN the table of their effects is looked at
    # THEN it has each of them, and names counters that exist
    assert set(EFFECTS) == operations - beyond_darshan
    names = [counter.name for counter in (*_bridge.counters(), *_bridge.f_counters())]
    assert all(any(name.startswith(part) for name in names) for parts in EFFECTS.values() for part in parts)


def test_the_sentence_says_what_was_compared_roughly():
    # GIVEN a result with rows that could not be compared exactly
    kinds = [{"kind": "unseen calls", "rows": 2}]
    result = {"counters": 80, "files": 9, "inexact_rows": 2, "differences": kinds}

    # WHEN it is said in a sentence
    # THEN it says so
    assert agreement_sentence(result) == (
        "darshan and builtin agree on 80 counters of 9 files, of 2 rows only on those that unseen calls do "
        "not change: part of the trace was dropped; named differences: unseen calls (2)"
    )


def test_the_sentence_does_not_say_that_they_agree_where_they_do_not():
    # GIVEN a result with a row that nothing explains
    kinds = [{"kind": "unexplained", "rows": 1}]
    result = {"counters": 80, "files": 1, "unexplained_rows": 1, "differences": kinds}

    # WHEN it is said in a sentence
    # THEN it says that they differ
    assert agreement_sentence(result) == (
        "darshan and builtin differ in 1 row without a known reason, of 80 counters of 1 file; "
        "named differences: unexplained (1)"
    )
