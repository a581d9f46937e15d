"""Traces that are damaged or made to do harm: one sentence, or what can be told of them."""

from __future__ import annotations

import itertools
import random
import struct
from pathlib import Path

import pytest

from tests.unit.traces.made_up_trace import IO_PLANE, SESSION_PLANE, MadeUpTrace, put_trace, space
from tfdarshan.commands import main
from tfdarshan.errors import SessionDataError, TfdarshanError
from tfdarshan.recording.tensorflow.rebuild import find_traces, rebuild_session
from tfdarshan.session import open_session
from tfdarshan.sessions.traces.tf_device_time import read_device_time
from tfdarshan.sessions.traces.tf_steps import input_waits
from tfdarshan.sessions.traces.xspace import Space

# Traces that a fuzzer found: some bytes changed in one that TensorFlow wrote. In all but the first a plane is
# damaged; in the first a stat of TensorFlow's own has a value of another type.
FUZZED = sorted((Path(__file__).parents[2] / "fuzz_inputs").glob("xplane-*"))
OTHER_TYPE = "xplane-AttributeError-xspace.py-152"
LEAST, MOST = -(1 << 63), (1 << 63) - 1
ODD_NUMBERS = (0, -1, 1, 99, 1 << 31, 1 << 32, 1 << 62, LEAST, MOST)


def readers(trace, logdir):
    """Return all that reads traces."""
    return (
        lambda: rebuild_session(trace, to=logdir),
        lambda: input_waits(trace, 0),
        lambda: read_device_time(trace, 0),
    )


def refusals(trace, logdir):
    """Return the sentences of those that refuse a trace; any other exception is the test's failure."""
    said = []
    for read in readers(trace, logdir):
        try:
            read()
        except TfdarshanError as error:
            said.append(str(error))
    for sentence in said:
        assert sentence.endswith(".")
        assert "\n" not in sentence
    return said


@pytest.mark.parametrize("fuzzed", FUZZED, ids=lambda path: path.name)
def test_a_fuzzed_trace_is_one_sentence(fuzzed, tmp_path, capsys):
    # GIVEN the trace as it is, and with a session in it
    session = space({SESSION_PLANE: MadeUpTrace().session_plane()})
    trace = put_trace(tmp_path / "as-it-is", fuzzed.read_bytes())
    with_session = put_trace(tmp_path / "logs", fuzzed.read_bytes() + session)

    # WHEN / THEN the library says what is wrong; a stat of another type is passed over, as TensorFlow does
    with pytest.raises(TfdarshanError, match=r"carries no session|is damaged, or no trace"):
        rebuild_session(trace)
    said = refusals(with_session, tmp_path / "to")
    damaged = f"{with_session} is damaged, or no trace of TensorFlow's profiler."
    assert set(said) == (set() if fuzzed.name == OTHER_TYPE else {damaged})

    # THEN the command says the same, if it is the calls that are damaged
    code = main(["rebuild", str(tmp_path / "logs")])
    printed = capsys.readouterr()
    assert printed.out.count("\n") + printed.err.count("\n") == 1
    assert printed.err == (f"tfdarshan: {damaged}\n" if code else "")


def test_all_fuzzed_traces_are_there():
    assert len(FUZZED) == 6


@pytest.mark.parametrize("files", [(), (b"/data/a.bin",), (b"/data/a.bin", b"/data/\xff\x1b.bin")])
def test_a_session_of_few_files_is_made(tmp_path, files):
    # GIVEN a trace of none, one or two files
    trace = put_trace(tmp_path, MadeUpTrace(files).content())

    # WHEN
    rebuilt = rebuild_session(trace)

    # THEN
    session = open_session(rebuilt.path)
    assert rebuilt.segments == len(session.events) == len(session.files) == len(files)
    assert (session.events["length"] == 1_000).all()
    assert set(session.events["path"]) == {path.decode("utf-8", "backslashreplace") for path in files}


DAMAGED = {
    "empty": b"",
    "text": b"this is no trace\n",
    "a length beyond the end": b"\x0a\xff\xff\xff\xff\x07x",
    "a number without an end": b"\x0a" + b"\xff" * 20,
    "groups in groups": b"\x0a\x80\x80\x40" + b"\x0b" * (1 << 20),
    "a group that never ends": b"\x0b\x0a\x00",
    "field number 0": b"\x00\x01",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_trace_is_one_sentence(tmp_path, content):
    # GIVEN
    trace = put_trace(tmp_path, content)

    # WHEN / THEN
    assert set(refusals(trace, tmp_path / "to")) == {
        f"{trace} is damaged, or no trace of TensorFlow's profiler."
    }


def test_rebuild_says_which_traces_cannot_be_read(tmp_path, capsys):
    # GIVEN one that carries a session, one without, and one that is damaged
    put_trace(tmp_path, MadeUpTrace().content(), stamp="2024_01_01_00_00_00")
    put_trace(tmp_path, space({IO_PLANE: b""}), stamp="2024_01_01_00_00_01")
    damaged = put_trace(tmp_path, b"this is no trace\n", stamp="2024_01_01_00_00_02")
    said = f"tfdarshan: {damaged} is damaged, or no trace of TensorFlow's profiler.\n"

    # WHEN
    codes = [main(["rebuild", str(tmp_path)]) for _ in range(2)]

    # THEN it is said each time, and the others are made
    printed = capsys.readouterr()
    assert codes == [1, 1]
    assert printed.out.count("rebuilt ") == printed.out.count("\n") == 1
    assert printed.err == said * 2
    assert find_traces(tmp_path).missing == ()


def test_a_trace_larger_than_protobuf_s_messages_is_not_read(tmp_path):
    # GIVEN a file of 1 TiB without content
    trace = put_trace(tmp_path, b"")
    with trace.open("wb") as file:
        file.truncate(1 << 40)

    # WHEN / THEN
    with pytest.raises(SessionDataError, match="is damaged, or no trace"):
        Space(trace)


@pytest.mark.parametrize("host", [b"../../escaped", b"a/b", b"a\nb", b"", b"\xff"])
def test_a_host_that_is_no_name_writes_nothing(tmp_path, host):
    # GIVEN a host that would be part of the tables' file names
    trace = put_trace(tmp_path / "logs", MadeUpTrace(host=host).content())

    # WHEN / THEN
    with pytest.raises(
        SessionDataError, match="its host name is empty, or has a / or an unprintable character"
    ):
        rebuild_session(trace, to=tmp_path / "to")
    assert {path.name for path in tmp_path.iterdir()} == {"logs"}


ODD_PARTS = {
    "window": [b"", b"12345678", struct.pack("<3q", MOST, MOST, 0), struct.pack("<3q", LEAST, 0, 0)],
    "info": [b"", b"short"],
    "mounts": [b"/data\0ext4\0/dev/sda\0many\0", b"/data\0ext4\0/dev/sda\0-1\0", b""],
    "failures": [struct.pack("<iiQ", 10_000, 2, 1), struct.pack("<iiQ", -1, 2, 1)],
    "file numbers": [b"\x80", b"\x02", b"\xff" * 40 + b"\x01"],
    "file floats": [b"", b"123"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in ODD_PARTS.items() for value in values]
)
def test_a_session_with_a_damaged_part_says_so(tmp_path, name, value):
    # GIVEN
    trace = put_trace(tmp_path, MadeUpTrace(parts={name: value}).content())

    # WHEN / THEN
    with pytest.raises(SessionDataError, match=f"the session in the trace {trace} is damaged: [^:]*\\.$"):
        rebuild_session(trace)
    assert not (tmp_path / "plugins" / "tfdarshan").exists()


def odd_events():
    """Yield what no call of a session has, as a change of an event's message."""
    for name, number in itertools.product(("metadata_id", "offset_ps", "duration_ps"), ODD_NUMBERS):
        yield lambda event, name=name, number=number: setattr(event, name, number)
    for stat, number in itertools.product(range(3), ODD_NUMBERS):
        yield lambda event, stat=stat, number=number: setattr(event.stats[stat], "int64_value", number)
    yield lambda event: setattr(event.stats[2], "ref_value", (1 << 64) - 1)
    yield lambda event: setattr(event.stats[0], "double_value", 1.5)
    yield lambda event: setattr(event.stats[1], "str_value", b"a text")
    yield lambda event: setattr(event.stats[2], "bytes_value", b"bytes")
    yield lambda event: event.stats[0].ClearField("value") or event.stats.add(metadata_id=1)


@pytest.mark.parametrize("change", list(odd_events()))
def test_a_call_with_an_odd_number_is_read_or_one_sentence(tmp_path, change):
    # GIVEN
    made = MadeUpTrace()
    plane = made.io_plane()
    change(plane.lines[0].events[1])
    trace = put_trace(tmp_path, space({IO_PLANE: plane, SESSION_PLANE: made.session_plane()}))

    # WHEN / THEN
    refusals(trace, tmp_path / "to")


@pytest.mark.parametrize("kind", ["double_value", "str_value", "bytes_value", None])
def test_a_call_whose_bytes_are_no_number_is_refused(tmp_path, kind):
    # GIVEN
    made = MadeUpTrace()
    plane = made.io_plane()
    stat = plane.lines[0].events[0].stats[0]
    if kind is None:
        stat.ClearField("int64_value")
    else:
        setattr(stat, kind, 1.5 if kind == "double_value" else b"1")
    trace = put_trace(tmp_path, space({IO_PLANE: plane, SESSION_PLANE: made.session_plane()}))

    # WHEN / THEN
    with pytest.raises(SessionDataError, match="is damaged, or no trace"):
        rebuild_session(trace)


def mutated(content, generator):
    """Return bytes with some bits, bytes or runs of them changed, moved or cut."""
    data = bytearray(content)
    for _ in range(generator.choice((1, 1, 2, 5, 20))):
        at, length = generator.randrange(len(data)), generator.randrange(1, 9)
        match generator.randrange(6):
            case 0:
                data[at] ^= 1 << generator.randrange(8)
            case 1:
                data[at] = generator.randrange(256)
            case 2:
                data[at : at + length] = b"\xff" * length
            case 3:
                data[at : at + length] = bytes(length)
            case 4:
                data[at:at] = generator.randbytes(length)
            case 5 if generator.random() < 0.2:
                del data[at : at + generator.randrange(min(200, len(data)))]
    return bytes(data)


def mutated_trace(generator):
    """Return a trace in which one of four things was changed: any bytes, or those of a part that is whole."""
    made = MadeUpTrace()
    part = generator.choice(["", "calls", *made.parts, *["info"] * 4])
    if part in made.parts:
        made.parts[part] = mutated(made.parts[part] or bytes(16), generator)
        return made.content()
    if part == "calls":
        calls = mutated(made.io_plane().SerializeToString(), generator)
        return space({IO_PLANE: calls, SESSION_PLANE: made.session_plane()})
    return mutated(made.content(), generator)


def read_mutated(tmp_path, seed):
    generator = random.Random(seed)
    trace = put_trace(tmp_path / "logs", mutated_trace(generator))
    return refusals(trace, tmp_path / "to")


def check_seeds(tmp_path, seeds):
    """Read a mutated trace of each seed; each is read or refused, and both happen."""
    refused = 0
    for seed in seeds:
        try:
            refused += bool(read_mutated(tmp_path, seed))
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
    assert 0 < refused < len(seeds)


def test_mutated_traces_are_read_or_one_sentence(tmp_path):
    check_seeds(tmp_path, range(150))


@pytest.mark.long
def test_many_mutated_traces_are_read_or_one_sentence(tmp_path):
    check_seeds(tmp_path, range(1_000_000, 1_004_000))
