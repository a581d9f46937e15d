"""Small reads in order are named where storage serves each, and not where the kernel reads ahead."""

from tests.unit.findings.made_up_training import training
from tfdarshan.findings.diagnosis import diagnose

KB = 1_000
PART = 8_192


def job(logdir, taken_ms, *, files=60, parts=12, part=PART, name="{:03}.bin", jumps=False, asks=False):
    """Return a session of files that one reader reads in parts; `taken_ms(part)` is what one takes.

    With `asks` a read of 16 bytes that takes as long is in front of each.
    """
    at = 0.0
    calls: list[tuple] = []
    for file in range(files):
        calls.append((at, at + 0.05, 1, "open", file, 0))
        at += 0.05
        for number in range(parts):
            if asks:
                calls.append((at, at + taken_ms(number), 1, "read", file, 16, number * part))
                at += taken_ms(number)
            end = at + taken_ms(number)
            offset = (number * 7 % parts if jumps else number) * part
            calls.append((at, end, 1, "read", file, part, offset))
            at = end
    steps = [(50.0 * n, 50.0 * n + 50, 45) for n in range(int(at // 50))]
    paths = [f"/data/{name.format(file)}" for file in range(files)]
    return training(logdir, calls, steps, paths=paths, sizes=[part * parts] * files)


def found(session):
    return next((one for one in diagnose(session).findings if one.name == "small_reads"), None)


def test_small_reads_that_storage_serves_one_by_one_are_the_problem(tmp_path):
    # GIVEN reads of 8 KiB that take 3 ms each, twelve of a file
    session = job(tmp_path, lambda part: 3.0)

    # THEN one read of each file instead saves eleven of twelve
    first = found(session)
    assert first.gain.speedup_range[0] > 1.2
    assert 2 < first.gain.speedup < 9
    assert not first.fix.instead_of


def test_reads_that_the_kernel_read_ahead_are_not(tmp_path):
    # GIVEN storage that serves one of a file, and memory the eleven others
    assert found(job(tmp_path, lambda part: 3.0 if part == 0 else 0.02)) is None


def test_large_reads_are_not_small(tmp_path):
    assert found(job(tmp_path, lambda part: 3.0, part=256 * KB)) is None


def test_reads_that_jump_are_another_finding(tmp_path):
    session = job(tmp_path, lambda part: 3.0, parts=64, files=12, jumps=True)
    assert found(session) is None
    assert "random_access" in [one.name for one in diagnose(session).findings]


def test_a_database_is_told_of_its_pages(tmp_path):
    assert "PRAGMA page_size" in found(job(tmp_path, lambda part: 3.0, name="{:03}.sqlite")).fix.line
