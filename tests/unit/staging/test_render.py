"""How an advice is worded."""

import numpy as np
import pytest

from tests.unit.staging.synthetic import FAST, file_use, job_of, malware_like, run_of
from tfdarshan.reports.text.advice_text import render
from tfdarshan.staging.advice import decide_on
from tfdarshan.staging.expectation import Expectation
from tfdarshan.staging.question import Question
from tfdarshan.units import human_times


@pytest.mark.parametrize(
    ("saved_s", "text"),
    [(0.0, "1.00x"), (-1.0, "0.50x"), (0.5, "2.00x"), (1.0, "100x or more")],
)
def test_a_gain_is_a_factor_as_those_of_findings(saved_s, text):
    assert human_times(Expectation(1.0, saved_s, saved_s, saved_s).speedup) == text


def test_one_file_is_no_files():
    # GIVEN one file that was written
    use = file_use(malware_like(100), np.ones(100))
    use.bytes_written[7] = 1
    question = Question(fast="/fast", room_bytes=1 << 60, block_bytes=1)

    # WHEN
    text = render(decide_on(use, run_of(use), question, FAST, job_of(use)).advice)

    # THEN
    assert "  1 file " in text
    assert "1 files" not in text
