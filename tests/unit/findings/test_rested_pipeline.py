"""A pipeline that rests while steps compute goes on with cold caches: read ahead, it may be quicker."""

import pytest

from tests.unit.findings.made_up_training import training
from tfdarshan.analysis.step_model import most_saved_s, noise_s
from tfdarshan.findings import prefetch
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.prefetch import RESTED

MB = 1 << 20


@pytest.mark.parametrize("wait_ms", [30.0, 90.0])
def test_read_ahead_may_take_less_than_reading_after_a_rest(tmp_path, wait_ms):
    # GIVEN steps that wait for one reader, that reads and decodes, and rests for 50 ms
    step_ms, calls, steps = wait_ms + 50, [], []
    for n in range(40):
        at = n * step_ms
        calls.append((at, at + wait_ms / 3, 1, "pread", 0, MB, n * MB))
        steps.append((at, at + step_ms, wait_ms))
    measures = measure(training(tmp_path, calls, steps, sizes=[10**12]))

    # THEN what can be hidden is expected, and a tenth of the decoding may go along with it
    gain = prefetch.find(measures).gain
    hidden_s = min(wait_ms, 50) / 1e3
    assert gain.saved_s == pytest.approx(0.92 * hidden_s, rel=0.05)
    unit_s, decoding_s = measures.model.unit_s, wait_ms / 1.5e3
    assert measures.model.other_s == pytest.approx(decoding_s, rel=0.05)
    hidden_s *= 39 / 40  # the first batch has no step before it
    saved_s = [min(hidden_s + share * decoding_s, wait_ms / 1e3) for share in (0.0, RESTED)]
    alone, quicker = (most_saved_s(unit_s, one_s + noise_s(unit_s, one_s)) for one_s in saved_s)
    assert gain.high_s == pytest.approx(quicker, rel=0.01)
    assert gain.high_s > alone
