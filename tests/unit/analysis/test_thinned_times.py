"""Which calls of a timeline are a sample, in one sentence."""

import pytest

from tfdarshan.analysis.calls.thinned_times import sample_sentence


def meta(start_ns=0, first_dropped_ns=-1, resolution_ns=None):
    """Return the metadata of a process."""
    thinned = {} if resolution_ns is None else {"thinned": {"resolution_ns": resolution_ns}}
    return {"start_ns": start_ns, "time": {"first_dropped_ns": first_dropped_ns}, **thinned}


@pytest.mark.parametrize(
    ("metas", "sentence"),
    [
        ([meta()], ""),
        ([meta(first_dropped_ns=10**9)], ""),
        ([meta(first_dropped_ns=10**9, resolution_ns=0)], ""),
        (
            [meta(first_dropped_ns=12_500_000_000, resolution_ns=2_000_000)],
            "From 12.500 s on, calls shorter than 2.0 ms are a sample: one for each 2.0 ms that they took.",
        ),
        (
            [
                meta(),
                meta(10**9, 12_500_000_000, 2_000_000),
                meta(2 * 10**9, 12_500_000_000, 500_000),
                meta(10**9, 10**9, 0),
            ],
            (
                "From 13.500 s on, calls shorter than 500.0 us to 2.0 ms (by process) are a sample: one for "
                "each such time that they took."
            ),
        ),
    ],
)
def test_the_sentence(metas, sentence):
    assert sample_sentence(metas) == sentence
