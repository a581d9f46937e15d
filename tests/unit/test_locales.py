"""What an encoding cannot write is spelt otherwise, or escaped, and a closed stream is none: no error."""

import io
import sys

import pytest

from tfdarshan.commands import escape_what_the_locale_lacks, main


@pytest.mark.parametrize(
    ("encoding", "written"),
    [("utf-8", "±5.7 % of /é±/±"), ("latin-1", "±5.7 % of /é±/±"), ("ascii", "+-5.7 % of /\\xe9+-/+-")],
)
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_the_sign_of_noise_is_written_as_the_terminal_can(monkeypatch, encoding, written, stream):
    # GIVEN a stream of that encoding
    under = io.BytesIO()
    monkeypatch.setattr(sys, stream, io.TextIOWrapper(under, encoding=encoding))

    # WHEN
    escape_what_the_locale_lacks()
    print("±5.7 % of /é±/±", file=getattr(sys, stream), end="", flush=True)

    # THEN
    assert under.getvalue().decode(encoding) == written


@pytest.mark.parametrize("given", [[], ["--help"]])
def test_help_is_no_failure_where_stdout_is_closed(monkeypatch, given):
    # GIVEN
    monkeypatch.setattr(sys, "stdout", None)

    # WHEN it ends as argparse's help does, or returns
    code: object
    try:
        code = main(given)
    except SystemExit as ended:
        code = ended.code

    # THEN
    assert code == 0
