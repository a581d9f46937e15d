"""What a verb prints is folded where a line is wider than the terminal, and nothing of it is lost."""

from __future__ import annotations

import io

import pytest

from tfdarshan.terminal.fitting import FittedStream, fold
from tfdarshan.terminal.wrapping import wrap

ROW = "  reads                    12,345        33.3 %   5.6 GB at 23.4 MB/s"
SENTENCE = "Training waits 5 ms of each step, and reads 12.5 MB of files that are on a slow file system."
PATH = f"    12.3 ms      10 B   /{'deep/' * 20}a.bin"


@pytest.mark.parametrize("line", [ROW, SENTENCE, PATH, "", "   "])
@pytest.mark.parametrize("width", [*range(20, 120, 7)])
def test_every_word_is_there_and_no_line_is_wider_but_a_word(line, width):
    folded = fold(line, width)

    assert " ".join(folded).split() == line.split()
    for one in folded:
        assert len(one) <= width or len(one.split()) == 1
    if len(line) <= width:
        assert folded == [line]


def test_a_row_is_folded_between_its_cells():
    assert fold(ROW, 50) == ["  reads                    12,345        33.3 %", "    5.6 GB at 23.4 MB/s"]


def test_a_number_stays_beside_its_unit():
    for width in range(20, 90):
        assert not any(line.lstrip().startswith(("ms", "MB")) for line in fold(SENTENCE, width))


def test_a_command_is_whole():
    command = f"  tfdarshan findings {'x' * 90} --json"
    assert fold(command, 50) == [command]
    assert fold(f"copy with: {command.strip()}", 50) == [f"copy with: {command.strip()}"]


@pytest.mark.parametrize(
    ("said", "command"),
    [
        (
            "It was interrupted: if its process has ended, run {}, and look again.",
            "`tfdarshan recover /a/b/c`",
        ),
        ("The packages do not fit: run {} first.", "`pip install -U tfdarshan`"),
        ("recovered /a/b; see it with: {}", "tfdarshan summary '/a/b/a name of words'"),
    ],
)
def test_a_command_within_a_sentence_is_on_one_line(said, command):
    text = said.format(command)
    for width in range(20, 90):
        for lines in (fold(text, width), wrap(text, width)):
            assert any(command in line for line in lines)
            assert [word for line in lines for word in line.split()] == text.split()


def test_colours_take_no_room():
    line = f"\x1b[1m{'a ' * 20}\x1b[0m"
    assert fold(line, 40) == [line]


def test_a_stream_folds_what_comes_in_parts():
    # GIVEN a line written in three parts, and one that is not ended
    stream = io.StringIO()
    fitted = FittedStream(stream, 20)
    for part in ("one two ", "three four five six\nsev", "en\n", "eight"):
        assert fitted.write(part) == len(part)

    # THEN the last one comes when the stream is flushed
    assert stream.getvalue() == "one two three four\n  five six\nseven\n"
    fitted.flush()
    assert stream.getvalue().endswith("seven\neight")
