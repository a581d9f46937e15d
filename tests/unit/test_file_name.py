import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdarshan.file_name import exact_name, printable, shell_word, shell_words, table_name

BYTES = st.binary(max_size=40).map(lambda name: name.replace(b"\0", b""))
LIKE_ESCAPES = st.lists(st.sampled_from([b"\\", b"x", b"ff", b"5c", b"\xff", b"a", "é".encode()])).map(
    b"".join
)


@given(BYTES | LIKE_ESCAPES)
def test_a_table_s_name_is_utf8_and_gives_the_name_back(name):
    shown = table_name(name)
    shown.encode("utf-8")
    assert os.fsencode(exact_name(shown)) == name


def test_names_are_as_readable_as_can_be():
    assert table_name("/data/é 1.jpg".encode()) == "/data/é 1.jpg"
    assert table_name(b"/data/\xff") == "/data/\\xff"
    assert table_name(b"/data/\\xff") == "/data/\\x5cxff"
    assert table_name(b"C:\\x and \\n") == "C:\\x and \\n"


@given(st.text())
def test_what_is_printable_has_no_control_character(text):
    shown = printable(text)
    assert shown.isprintable()
    assert printable(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/data/été 1.jpg", "/data/été 1.jpg"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x07\x7f\x9b", "\\x07\\x7f\\x9b"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("\u2028\U000e0001", "\\u2028\\U000e0001"),
        (os.fsdecode(b"a\xff\xc3"), "a\\xff\\xc3"),
        ("\ud800", "\\ud800"),
    ],
)
def test_escapes(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("word", "typed"),
    [
        ("/data/a", "/data/a"),
        ("it's", "'it'\"'\"'s'"),
        ("a\nb", "$'a\\012b'"),
        ("it's\ta \\", "$'it\\'s\\011a \\\\'"),
        ("\u202e7", "$'\\342\\200\\2567'"),
        (os.fsdecode(b"\xff1"), "$'\\3771'"),
        ("-x", "./-x"),
    ],
)
def test_a_path_is_a_word_of_one_printable_line(word, typed):
    assert shell_word(word) == typed


@settings(max_examples=30)
@given(st.lists(BYTES, min_size=1, max_size=20))
def test_a_shell_reads_the_words_that_were_meant(words):
    command = shell_words(map(os.fsdecode, words))
    assert command.isprintable()
    shown = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True)
    assert shown.stdout.split(b"\0")[:-1] == words
