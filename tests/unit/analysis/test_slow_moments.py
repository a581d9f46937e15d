"""Slow beside others of other files, or alone."""

import numpy as np

from tfdarshan.analysis.storage.outlier_calls import slow_moments


def found(text):
    """Return them of a line of calls: a capital letter is a slow one, and each letter a file."""
    file = np.array([ord(letter.lower()) for letter in text])
    slow = np.array([letter.isupper() for letter in text])
    return "".join(
        letter if moment else "." for letter, moment in zip(text, slow_moments(file, slow), strict=True)
    )


def test_slow_calls_of_three_files_close_together_are_a_moment():
    assert found("abcDEFgh") == "...DEF.."
    assert found("aBcDeFgh") == ".B.D.F.."


def test_a_slow_file_among_quick_ones_is_none():
    assert found("abCdefghIjklmnO") == "." * 15
    assert found("abCDefgh") == "." * 8


def test_many_slow_calls_of_one_file_are_none():
    assert found("abCCCCCCde") == "." * 10
    assert found("AABBAABB") == "." * 8


def test_too_few_calls_are_none():
    assert found("ABC") == "..."
    assert found("") == ""
