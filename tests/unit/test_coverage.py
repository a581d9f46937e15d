from tfdarshan.analysis.files.coverage import measure_coverage
from tfdarshan.analysis.files.file_totals import FileTotals, _Zeros
from tfdarshan.analysis.storage.storage_share import fetched_bytes


def totals(*read):
    moved = tuple((count, 0) for count in read)
    return FileTotals(_Zeros(POSIX_BYTES_READ=sum(read)), 0, [], [], moved=moved)


def meta(rchar, *, counted="own", valid=True, excluded=0, pid=1, parent_pid=0):
    kernel = {
        "valid": valid,
        "counted": counted,
        "rchar": rchar,
        "wchar": 0,
        "read_bytes": rchar // 2,
        "write_bytes": 0,
    }
    ids = {"pid": pid, "parent_pid": parent_pid}
    return ids | {"kernel": kernel, "other": {"excluded": {"bytes_read": excluded, "bytes_written": 0}}}


def test_excluded_bytes_are_accounted_for():
    read = measure_coverage([meta(1000, excluded=300)], totals(600)).read

    assert (read.accounted, read.kernel, read.storage) == (900, 1000, 500)
    assert read.elsewhere == {"excluded": 300}


def test_child_that_was_waited_for_counts_once():
    # GIVEN a parent whose 1000 bytes include its child's 400
    coverage = measure_coverage(
        [meta(1000), meta(400, counted="parent", pid=2, parent_pid=1)], totals(600, 400)
    )

    assert (coverage.read.kernel, coverage.read.unseen) == (1000, 0)


def test_living_child_has_its_own_figures():
    coverage = measure_coverage([meta(1000), meta(400, pid=2, parent_pid=1)], totals(1000, 400))

    assert coverage.read.kernel == 1400


def test_what_a_child_did_before_it_joined_is_no_part_of_the_job():
    # GIVEN a worker that had read 5000 bytes when it joined, read 400 more, and was waited for
    worker = meta(0, counted="parent", valid=False, pid=2, parent_pid=1)
    worker["kernel"]["earlier"] = {"rchar": 5000, "wchar": 70, "read_bytes": 2500, "write_bytes": 0}

    # WHEN
    metas = [meta(6000), worker]
    read = measure_coverage(metas, totals(500, 400)).read

    # THEN
    assert (read.kernel, read.accounted, read.unseen, read.storage, read.earlier) == (
        1000,
        900,
        100,
        500,
        5000,
    )
    assert fetched_bytes(metas) == 500


def test_programs_of_one_process_have_one_figure():
    # GIVEN a fork that recorded 300 bytes and became a program, which read 50 more before it joined
    fork = meta(0, counted="parent", valid=False, pid=2, parent_pid=1)
    fork["kernel"]["earlier"] = {"rchar": 20}
    program = meta(0, counted="parent", valid=False, pid=2, parent_pid=1)
    program["kernel"]["earlier"] = {"rchar": 370}

    # WHEN
    read = measure_coverage([meta(1370), fork, program], totals(600, 300, 400)).read

    # THEN the kernel counted the fork's bytes once
    assert (read.kernel, read.unseen, read.earlier) == (1350, 50, 20)


def test_what_no_figure_counts_is_not_taken_out():
    worker = meta(400, pid=2, parent_pid=1)
    worker["kernel"]["earlier"] = {"rchar": 5000}

    assert measure_coverage([meta(1000), worker], totals(1000, 400)).read.kernel == 1400


def test_a_child_without_figures_leaves_those_of_the_others():
    # GIVEN 1000 bytes charged to the owner, which recorded 100, and 50 that a child read before its exec
    metas = [meta(1000), meta(0, valid=False, pid=2, parent_pid=1)]

    # WHEN
    coverage = measure_coverage(metas, totals(100, 50))

    # THEN its bytes are on neither side: they are in no figure
    assert (coverage.read.kernel, coverage.read.accounted, coverage.read.unseen) == (1000, 100, 900)
    assert (coverage.read.uncharged, coverage.processes_left_out) == (50, 1)


def test_what_waits_for_its_own_child_takes_it_along():
    # GIVEN a child without figures, whose child has ended: its bytes are in no figure either
    metas = [
        meta(1000),
        meta(0, valid=False, pid=2, parent_pid=1),
        meta(300, counted="parent", pid=3, parent_pid=2, excluded=7),
    ]

    # WHEN
    coverage = measure_coverage(metas, totals(1000, 50, 300))

    # THEN
    assert (coverage.read.unseen, coverage.read.uncharged, coverage.processes_left_out) == (0, 357, 2)


def test_storage_is_not_told_by_some_processes_alone():
    # GIVEN that most was read by a child without figures
    coverage = measure_coverage([meta(1000), meta(0, valid=False, pid=2, parent_pid=1)], totals(100, 900))

    assert coverage.read.storage is None


def test_nothing_is_known_without_the_owners_figures():
    coverage = measure_coverage([meta(0, valid=False), meta(400, pid=2, parent_pid=1)], totals(1000, 400))

    assert (coverage.read.kernel, coverage.read.unseen) == (None, None)


def test_a_rank_that_was_killed_leaves_the_figures_of_the_others():
    # GIVEN three ranks, of which the first of the list was killed, and a child of it whose parent is unknown
    def rank(number, **more):
        return meta(1000, pid=10 + number, **more) | {"owner": True, "job": {"rank": number}}

    killed = rank(2, valid=False)
    child = meta(0, counted="parent", pid=30, parent_pid=29) | {"owner": False, "job": {"rank": 2}}

    # WHEN
    coverage = measure_coverage([killed, child, rank(0), rank(1)], totals(800, 50, 990, 1000))

    # THEN
    assert (coverage.read.kernel, coverage.read.unseen, coverage.read.uncharged) == (2000, 10, 850)
    assert coverage.processes_left_out == 2


def test_what_the_recorder_moved_is_no_part_of_the_job():
    # GIVEN a parent whose figure holds the recorder's reads in a child, and those of children without calls
    child = meta(400, counted="parent", pid=2, parent_pid=1)
    child["kernel"]["own"] = {"rchar": 550, "wchar": 60}
    owner = meta(1000 + 550 + 700) | {"children": {"silent_io": {"rchar": 700, "wchar": 5}}}

    # THEN
    read = measure_coverage([owner, child], totals(600, 400)).read
    assert (read.kernel, read.unseen, read.earlier) == (1000, 0, 0)


def test_more_than_the_kernel_counted_says_that_it_lacks_a_child():
    # GIVEN a child that is gone, which its parent's figure lacks
    child = meta(400, counted="parent", pid=2, parent_pid=1)

    # THEN
    coverage = measure_coverage([meta(600), child], totals(600, 400))
    assert coverage.incomplete
    assert coverage.seen(coverage.read) == "not known"
    assert not measure_coverage([meta(600)], totals(601)).incomplete


def test_nearly_all_of_a_bound_is_at_most_all():
    lost = meta(0, counted="own", valid=False, pid=2, parent_pid=1)
    coverage = measure_coverage([meta(100_000), lost], totals(99_999, 0))
    assert coverage.seen(coverage.read) == "at most 100.0 %"


def test_programs_that_nobody_waited_for_make_a_share_a_bound():
    # GIVEN a job of which all is seen that the kernel counted, and a program that it may not have counted
    owner = meta(1000) | {"programs": {"not_recorded": {"cp": 1}, "not_waited_for": 1}}

    coverage = measure_coverage([owner], totals(1000))

    assert coverage.seen(coverage.read) == "at most 100.0 %"
