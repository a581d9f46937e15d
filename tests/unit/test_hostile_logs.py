"""Darshan logs that nobody means well with: bytes that expand without end, and no files."""

import bz2
import functools
import json
import os
import tracemalloc
import zlib

import numpy as np
import pytest

from tfdarshan.commands import main
from tfdarshan.errors import SessionDataError
from tfdarshan.fleet.log_row import row_of_log
from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing import region_stream
from tfdarshan.formats.importing.light_records import read_light
from tfdarshan.formats.importing.log_regions import NUMBERS, LogRegions
from tfdarshan.formats.importing.region_records import SHAPES
from tfdarshan.native import memory_left
from tfdarshan.sessions import schema

FREE_BYTES = 16 << 20
BOMB_BYTES = 32 << 20
PACK = {darshan_format.ZLIB: zlib.compress, darshan_format.BZIP2: bz2.compress}
NEWEST = {module: max(shapes) for module, shapes in SHAPES.items()}
# BG/Q, DXT_MPIIO and HEATMAP.
OTHERS = (7, 11, 15)
# A file, the rank that used it, and no count or time that is not 0; of DXT_POSIX its list of calls is empty.
RECORD = np.array([7, 0], np.int64).tobytes()
NAME = RECORD[:8] + b"/data/a\0"
JOB = np.zeros((), darshan_format.JOB)
JOB["processes"], JOB["start_s"], JOB["end_s"] = 1, 1_700_000_000, 1_700_000_100
TOO_MANY = "data expands to more records than its bytes can hold. Get another copy of it."


@functools.cache
def bomb(compression):
    """A region of zeros."""
    return PACK[compression](bytes(BOMB_BYTES))


def one_record(module, version):
    return RECORD + bytes(SHAPES[module][version].head.itemsize - len(RECORD))


def log_of(path, compression, versions=NEWEST, **packed):
    """Write a log of a job, a name, a POSIX record, and compressed regions by their names or numbers."""
    pack = PACK[compression]
    packed = {
        "job": pack(JOB.tobytes() + b"job\0"),
        "name": pack(NAME),
        "POSIX": pack(one_record("POSIX", versions["POSIX"])),
    } | packed
    header = np.zeros((), darshan_format.HEADER)
    header["version"], header["magic"] = darshan_format.LOG_VERSION.encode(), darshan_format.MAGIC
    header["compression"] = compression
    content = packed.pop("job")
    for name, region in packed.items():
        place = header.nbytes + len(content), len(region)
        if name == "name":
            header["names"] = place
        else:
            number = NUMBERS.get(name) or int(name)
            header["modules"][number], header["module_versions"][number] = place, versions.get(name, 1)
        content += region
    path.write_bytes(header.tobytes() + content)
    return path


@pytest.fixture
def produced(monkeypatch):
    """How many bytes all streams have made so far, as the only member of a list."""
    made = [0]

    class Counted:
        def __init__(self, stream):
            self.stream = stream

        def __getattr__(self, name):
            return getattr(self.stream, name)

        def decompress(self, *arguments):
            piece = self.stream.decompress(*arguments)
            made[0] += len(piece)
            return piece

    for compression, stream in region_stream.STREAMS.items():
        monkeypatch.setitem(region_stream.STREAMS, compression, lambda stream=stream: Counted(stream()))
    return made


def refused(capsys, log, logdir):
    """Import a log that cannot be, and return the one line it says after its name."""
    assert main(["import", str(log), "--logdir", str(logdir)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert not any(logdir.rglob("*.parquet"))
    return line.removeprefix(f"tfdarshan: the Darshan log {log} is damaged: ")


# PyDarshan's own wheels read no bzip2: what is looked at before PyDarshan is asked.
READ_FIRST = ("job", "name", "POSIX", "STDIO")


@pytest.mark.usefixtures("pydarshan")
@pytest.mark.parametrize(
    ("compression", "region"),
    [*((darshan_format.ZLIB, region) for region in ("job", "name", *SHAPES))]
    + [(darshan_format.BZIP2, region) for region in READ_FIRST],
)
def test_a_bomb_is_one_sentence_after_a_piece_of_it(tmp_path, capsys, produced, region, compression):
    # GIVEN
    log = log_of(tmp_path / "bomb.darshan", compression, **{region: bomb(compression)})
    assert log.stat().st_size < 128 << 10

    # WHEN
    said = refused(capsys, log, tmp_path / "logs")

    # THEN
    assert said == (
        "its job data is longer than 4,096 bytes. Get another copy of it."
        if region == "job"
        else f"its {region} {TOO_MANY}"
    )
    assert produced[0] < 2 * region_stream.PIECE


@pytest.mark.parametrize(
    ("compression", "unit_of"),
    # In zlib a record that is not all zeros takes some bytes each time.
    [(darshan_format.ZLIB, None), (darshan_format.BZIP2, None), (darshan_format.BZIP2, one_record)],
)
@pytest.mark.parametrize(
    ("module", "version"), [(module, version) for module, shapes in SHAPES.items() for version in shapes]
)
def test_no_version_of_a_module_holds_a_bomb(tmp_path, produced, module, version, compression, unit_of):
    # GIVEN zeros, or a record again and again
    again = 2 * region_stream.PIECE // SHAPES[module][version].head.itemsize
    packed = PACK[compression](unit_of(module, version) * again) if unit_of else bomb(compression)
    path = log_of(tmp_path / "bomb.darshan", compression, NEWEST | {module: version}, **{module: packed})
    log = LogRegions(path)

    # WHEN / THEN
    for read in (log.count, log.content):
        produced[0] = 0
        with pytest.raises(SessionDataError, match=f"its {module} {TOO_MANY}"):
            read(module)
        assert produced[0] <= region_stream.PIECE


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("reads", [BOMB_BYTES // 32, 1 << 60])
def test_a_list_of_calls_is_no_longer_than_its_bytes_can_hold(tmp_path, produced, reads, compression):
    # GIVEN one record of a file, whose calls are all alike
    head = np.zeros((), darshan_format.DXT_RECORD)
    head["reads"] = reads
    packed = PACK[compression](head.tobytes() + bytes(BOMB_BYTES))
    log = log_of(tmp_path / "bomb.darshan", compression, DXT_POSIX=packed)
    produced[0] = 0

    # WHEN / THEN
    with pytest.raises(SessionDataError, match=f"its DXT_POSIX {TOO_MANY}"):
        LogRegions(log).content("DXT_POSIX")
    assert produced[0] < 2 * region_stream.PIECE


@pytest.mark.parametrize(
    ("module", "member", "number"),
    [("DXT_POSIX", "writes", -1), ("LUSTRE", "stripes", -1), ("LUSTRE", "stripes", 1 << 40)],
)
def test_what_a_record_says_of_its_length_can_be(tmp_path, module, member, number):
    # GIVEN
    head = np.zeros((), SHAPES[module][NEWEST[module]].head)
    head[member] = number
    packed = zlib.compress(head.tobytes() + bytes(range(256)) * 64)
    log = log_of(tmp_path / "bomb.darshan", darshan_format.ZLIB, **{module: packed})

    # WHEN / THEN
    with pytest.raises(SessionDataError, match=f"its {module} records are not whole"):
        LogRegions(log).count(module)


def test_a_name_that_does_not_end_is_no_name(tmp_path, produced):
    # GIVEN
    log = log_of(tmp_path / "bomb.darshan", darshan_format.BZIP2, name=bz2.compress(b"a" * BOMB_BYTES))

    # WHEN / THEN
    with pytest.raises(SessionDataError, match=f"its name {TOO_MANY}"):
        LogRegions(log)
    assert produced[0] < 2 * region_stream.PIECE


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("region", ["job", "name", *SHAPES])
def test_a_bomb_takes_no_more_memory_than_a_few_pieces(tmp_path, region, compression):
    # GIVEN
    log = log_of(tmp_path / "bomb.darshan", compression, **{region: bomb(compression)})

    # WHEN
    tracemalloc.start()
    try:
        with pytest.raises(SessionDataError, match="is damaged: its "):
            LogRegions(log).content(region)
        _now, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    # THEN
    assert most_bytes < BOMB_BYTES / 4


@pytest.mark.usefixtures("pydarshan")
def test_what_nobody_reads_is_not_decompressed(tmp_path, produced):
    # GIVEN bombs in a heatmap and in other regions that no session has, one of a version that is not known
    packed = bomb(darshan_format.ZLIB)
    others = {str(number): packed for number in OTHERS} | {"H5D": packed}
    log = log_of(tmp_path / "a.darshan", darshan_format.ZLIB, NEWEST | {"H5D": 99}, **others)

    # WHEN / THEN
    assert main(["import", str(log), "--logdir", str(tmp_path / "logs")]) == 0
    assert produced[0] < darshan_format.JOB_REGION_BYTES


@pytest.mark.parametrize("compression", PACK)
def test_a_fleet_reads_no_more_of_a_log_than_its_row_needs(tmp_path, produced, compression):
    # GIVEN
    unread = {str(number): bomb(compression) for number in OTHERS}
    unread |= {module: bomb(compression) for module in SHAPES if module not in READ_FIRST}
    log = log_of(tmp_path / "a.darshan", compression, **unread)
    hostile = log_of(tmp_path / "b.darshan", compression, STDIO=bomb(compression))

    # WHEN / THEN
    assert list(read_light(log)[1].records) == ["POSIX"]
    assert produced[0] < darshan_format.JOB_REGION_BYTES
    row = row_of_log(str(hostile), "")
    assert row["state"] == "damaged"
    assert row["note"].endswith(TOO_MANY)
    assert produced[0] < 2 * region_stream.PIECE


def large_region(region):
    """Noise that is a region of 5 MiB: more than there is memory for, and no bomb."""
    noise = np.random.default_rng(1).bytes(5 << 20)
    if region == "name":
        return noise
    if region == "DXT_POSIX":
        head = np.zeros((), darshan_format.DXT_RECORD)
        head["reads"] = len(noise) // darshan_format.SEGMENTS[NEWEST[region]].itemsize
        return head.tobytes() + noise[: int(head["reads"]) * darshan_format.SEGMENTS[NEWEST[region]].itemsize]
    return noise[: len(noise) // 704 * 704]


@pytest.fixture
def little_memory(monkeypatch):
    """A machine with FREE_BYTES of free memory."""
    monkeypatch.setattr(memory_left, "_available_bytes", lambda: FREE_BYTES)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("region", ["name", "DXT_POSIX", "POSIX"])
def test_a_region_larger_than_the_memory_is_refused(tmp_path, region, compression):
    # GIVEN
    log = log_of(tmp_path / "large.darshan", compression, **{region: PACK[compression](large_region(region))})

    # WHEN / THEN
    with pytest.raises(SessionDataError) as not_read:
        LogRegions(log).content(region)
    said = str(not_read.value)
    assert said.startswith(f"the Darshan log {log} cannot be read: its {region} data takes more than ")
    assert said.endswith(" Read it on a machine with more memory.")


@pytest.mark.usefixtures("pydarshan")
@pytest.mark.parametrize(
    ("name", "second"), [("start_s", 2**62), ("start_s", 10**12), ("start_s", -1), ("end_s", 2**62)]
)
def test_a_job_of_no_time_is_one_sentence(tmp_path, capsys, name, second):
    # GIVEN
    job = JOB.copy()
    job[name] = second
    log = log_of(tmp_path / "a.darshan", darshan_format.ZLIB, job=zlib.compress(job.tobytes() + b"job\0"))

    # WHEN / THEN
    said = refused(capsys, log, tmp_path / "logs")
    assert said == "its job began or ended at no date that a clock shows. Get another copy of it."
    # A fleet counts no such job.
    row = row_of_log(str(log), "")
    assert (row["state"], row["note"].endswith(said)) == ("damaged", True)


@pytest.mark.parametrize("short", [0, 1, 16])
def test_a_job_without_all_of_its_numbers_is_one_sentence(tmp_path, capsys, short):
    # GIVEN a log whose job ends within its numbers, or has no command after them
    job = JOB.tobytes()[: darshan_format.JOB.itemsize - short]
    log = log_of(tmp_path / "a.darshan", darshan_format.ZLIB, job=zlib.compress(job))

    # WHEN / THEN
    said = "its job data is too short. Get another copy of it."
    assert refused(capsys, log, tmp_path / "logs") == said
    assert row_of_log(str(log), "")["note"].endswith(said)


@pytest.mark.usefixtures("little_memory")
def test_a_region_that_is_counted_takes_no_memory(tmp_path):
    region = large_region("POSIX")
    log = log_of(tmp_path / "large.darshan", darshan_format.ZLIB, POSIX=zlib.compress(region))

    assert LogRegions(log).count("POSIX") == len(region) // 704


@pytest.mark.parametrize("kind", ["FIFO", "device", "folder"])
def test_what_is_no_regular_file_is_one_sentence(tmp_path, capsys, kind):
    # GIVEN
    log = tmp_path / "a.darshan"
    if kind == "FIFO":
        os.mkfifo(log)
    elif kind == "folder":
        log.mkdir()
    else:
        log.symlink_to("/dev/zero")

    # WHEN
    code = main(["import", str(log), "--logdir", str(tmp_path / "logs")])

    # THEN
    assert code == 1
    assert capsys.readouterr().err == (
        f"tfdarshan: the log {log} cannot be read: it is not a regular file; give a Darshan log that you can "
        "read.\n"
    )


@pytest.mark.usefixtures("little_memory")
def test_a_log_of_any_size_is_not_read(tmp_path):
    log = tmp_path / "a.darshan"
    log.touch()
    os.truncate(log, 1 << 40)

    with pytest.raises(SessionDataError, match=r"cannot be read: it takes 1\.1 TB of memory, and "):
        LogRegions(log)


@pytest.mark.usefixtures("pydarshan")
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("name", ["POSIX_F_READ_TIME", "POSIX_F_META_TIME", "POSIX_F_CLOSE_END_TIMESTAMP"])
def test_times_that_are_no_times_are_unknown(tmp_path, capsys, name, number):
    # GIVEN a record with such a time
    f_names = [column.name for column in schema.f_counter_columns() if column.name.startswith("POSIX_")]
    names = [column.name for column in schema.counter_columns() if column.name.startswith("POSIX_")]
    layout = darshan_format.counter_record(len(names), len(f_names))
    record = np.frombuffer(one_record("POSIX", NEWEST["POSIX"]), layout).copy()
    record["f_counters"][0, f_names.index(name)] = number
    log = log_of(tmp_path / "a.darshan", darshan_format.ZLIB, POSIX=zlib.compress(record.tobytes()))

    # WHEN
    assert main(["files", str(log), "--json"]) == 0
    (file,) = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["files"]

    # THEN
    assert file[name] is None
    for verb in (["summary"], ["list"], ["report", "-o", str(tmp_path / "page.html")]):
        assert main([*verb, str(log)]) == 0
        assert "nan" not in capsys.readouterr().out


@pytest.mark.usefixtures("pydarshan")
@pytest.mark.parametrize("number", [np.nan, np.inf, 1e300])
def test_calls_at_no_time_are_one_sentence(tmp_path, capsys, number):
    version = NEWEST["DXT_POSIX"]
    head = np.frombuffer(one_record("DXT_POSIX", version), darshan_format.DXT_RECORD).copy()
    head["reads"] = 1
    call = np.zeros(1, darshan_format.SEGMENTS[version])
    call["end_s"] = number
    region = zlib.compress(head.tobytes() + call.tobytes())
    log = log_of(tmp_path / "a.darshan", darshan_format.ZLIB, DXT_POSIX=region)

    assert refused(capsys, log, tmp_path / "logs").startswith("its DXT_POSIX data has no times.")
