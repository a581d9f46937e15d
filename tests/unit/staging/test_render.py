"""How an advice is worded."""

from math import inf

import numpy as np
import pytest

from tests.unit.staging.synthetic import FAST, file_use, job_of, malware_like, run_of
from tfdarshan.reports.text.advice_text import gain_text, render
from tfdarshan.staging.advice import decide_on
from tfdarshan.staging.question import Question


@pytest.mark.parametrize(
    ("gain", "text"),
    [(0.21, "1.21x"), (0, "1.00x"), (-0.1, "0.90x"), (-0.41, "0.59x"), (6, "7.00x"), (inf, "no I/O left")],
)
def test_a_gain_is_a_factor_as_those_of_findings(gain, text):
    assert gain_text(gain) == text


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
