from tfdarshan.analysis.coverage import measure_coverage
from tfdarshan.analysis.file_totals import FileTotals, _Zeros


def totals(read):
    return FileTotals(_Zeros(POSIX_BYTES_READ=read), 0, [], [])


def meta(rchar, *, counted="own", valid=True, excluded=0):
    kernel = {
        "valid": valid,
        "counted": counted,
        "rchar": rchar,
        "wchar": 0,
        "read_bytes": rchar // 2,
        "write_bytes": 0,
    }
    return {"kernel": kernel, "other": {"excluded": {"bytes_read": excluded, "bytes_written": 0}}}


def test_excluded_bytes_are_accounted_for():
    read = measure_coverage([meta(1000, excluded=300)], totals(600)).read

    assert (read.accounted, read.kernel, read.storage) == (900, 1000, 500)
    assert read.elsewhere == {"excluded": 300}


def test_child_that_was_waited_for_counts_once():
    # GIVEN a parent whose 1000 bytes include its child's 400
    coverage = measure_coverage([meta(1000), meta(400, counted="parent")], totals(1000))

    assert coverage.read.kernel == 1000


def test_living_child_has_its_own_figures():
    assert measure_coverage([meta(1000), meta(400)], totals(1400)).read.kernel == 1400


def test_missing_kernel_figures_are_said():
    coverage = measure_coverage([meta(1000), meta(0, valid=False)], totals(1400))

    assert coverage.read.kernel is None
    assert coverage.processes_left_out == 1
