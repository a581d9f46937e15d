import pytest

from tfdarshan.units import (
    human_bytes,
    human_rate,
    human_seconds,
    percent,
    plural,
    shortened,
    shortened_inside,
    signed_percent,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (88_123, "88.1 kB"), (999_949, "999.9 kB"),
     (999_950, "1.0 MB"), (1_234_567_890, "1.2 GB")],
)  # fmt: skip
def test_human_bytes(count, text):
    assert human_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 ns"), (185e-9, "185 ns"), (12.34e-6, "12.3 us"), (0.0012, "1.2 ms"), (0.99999, "1.000 s"),
     (1.5, "1.500 s"), (4321.9, "4,322 s")],
)  # fmt: skip
def test_human_seconds(seconds, text):
    assert human_seconds(seconds) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, "-"), (0, 5, "0.0 %"), (5, 5, "100.0 %"), (99_999, 100_000, "> 99.9 %"), (1, 100_000, "< 0.1 %"),
     (11, 10, "110.0 %"), (1, 3, "33.3 %")],
)  # fmt: skip
def test_percent_never_rounds_to_all_or_nothing(part, whole, text):
    assert percent(part, whole) == text


def test_rate_plural_and_shortening():
    assert human_rate(5_000_000, 2) == "2.5 MB/s"
    assert human_rate(5, 0) == "-"
    assert (plural(1, "process", "processes"), plural(2_000, "file")) == ("1 process", "2,000 files")
    assert shortened("/a/long/path/file.jpg", 12) == ".../file.jpg"
    assert len(shortened("x" * 50, 12)) == 12
    assert shortened_inside("train.py --seed 1", 17) == "train.py --seed 1"
    assert shortened_inside("train.py --epochs 90 --seed 1", 16) == "train. ... eed 1"


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(0.12, "+12.0 %"), (-0.4, "-40.0 %"), (0, "+0.0 %"), (-0.0003, "< 0.1 %"), (-0.99999, "-99.9 %"),
     (2.5, "+250.0 %")],
)  # fmt: skip
def test_signed_percent(ratio, text):
    assert signed_percent(ratio) == text
