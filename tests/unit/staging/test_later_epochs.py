"""Later epochs of a run, which the page cache may serve: what is promised then, and everywhere the same."""

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.staging.synthetic import FAST, file_use, run_of
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.staging import NAME
from tfdarshan.reports.text.advice_text import render
from tfdarshan.reports.text.staging_check_text import render_check
from tfdarshan.reports.views.panel import Text
from tfdarshan.reports.views.staging_view import staging_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import decide, decide_on
from tfdarshan.staging.check import compare
from tfdarshan.staging.file_use import Mount
from tfdarshan.staging.plan import Plan, PlannedFile
from tfdarshan.staging.question import Question

FILES, MB, GB = 24, 1_000_000, 1_000_000_000
FIRST_ONLY = "for the first epoch of a run: later ones gain only if the page cache does not keep it"
# Writing the copies takes longer than an epoch saves.
SLOW_WRITES = dataclasses.replace(FAST, write_bytes_per_s=1e8)


def one_epoch(**more):
    """One cold epoch of 24 MB."""
    return file_use(np.full(FILES, MB), np.ones(FILES), **more)


def decided(use, memory_bytes=25 * GB, fast=SLOW_WRITES, **question):
    facts = dataclasses.replace(run_of(use), memory_bytes=memory_bytes)
    return decide_on(use, facts, Question(fast="/fast", room_bytes=1 << 40, block_bytes=1, **question), fast)


def said(advice):
    return " ".join(render(advice).split())


def test_one_cold_epoch_promises_the_first_epoch_of_a_run():
    # GIVEN 24 MB read once, and 25 GB of memory; copying takes as long as some epochs save
    advice = decided(one_epoch()).advice
    epochs = advice.copy.break_even_epoch
    assert epochs > 1

    # WHEN
    text = said(advice)

    # THEN the first sentence says for which epoch, and the copy pays in no later epoch for certain
    assert text.startswith(f"Stage {FILES} files, 24.0 MB, to /fast, {FIRST_ONLY}")
    assert "the first epoch of a run then takes" in text
    assert "nothing if the page cache keeps the 24.0 MB, with 25.0 GB of memory" in text
    assert f"won back by the first epochs of {epochs} runs if the page cache keeps what it can, " in text
    assert f"in epoch {epochs} if it keeps nothing" in text
    assert advice.copy.break_even_if_kept is None


def test_epochs_that_the_page_cache_would_serve_do_not_pay_for_the_copy():
    # GIVEN ten epochs, of which the first saves less than the copy takes
    advice = decided(one_epoch(), epochs=10).advice

    # THEN
    assert [reason.code for reason in advice.reasons] == ["copy"]
    assert "likely to keep the 24.0 MB" in advice.reasons[0].sentence
    # ... but it is not known of FUSE, nor if the memory hardly holds the input
    for use, memory in ((one_epoch(mount=("/data", "fuse.sshfs")), 25 * GB), (one_epoch(), 25 * MB)):
        unsure = decided(use, memory, epochs=10, input_wait=1.0).advice
        assert unsure.helps
        expected = unsure.chosen.expected
        assert unsure.later.epochs_worth(10) == 1
        assert f"10 epochs save {1e3 * expected.low_s:.1f} ms to" in said(unsure)


def test_input_larger_than_the_memory_gains_in_part_of_later_epochs():
    # GIVEN memory for a quarter of the input
    advice = decided(one_epoch(), memory_bytes=6 * MB).advice

    assert advice.later.kept_share == pytest.approx(0.25)
    assert "75.0 % of it if the page cache keeps what it can of the 24.0 MB" in said(advice)
    assert advice.copy.break_even_epoch < advice.copy.break_even_if_kept


@pytest.mark.parametrize(
    "use",
    [
        file_use(np.full(FILES, MB), np.full(FILES, 2)),  # storage served the second epoch, too
        dataclasses.replace(one_epoch(), emulated=True),
        dataclasses.replace(one_epoch(), mounts=(Mount("/data", "tmpfs"),)),
    ],
    ids=["two epochs", "emulated", "tmpfs"],
)
def test_epochs_that_are_known_to_gain_are_promised_as_before(use):
    advice = decided(use, slow="/data").advice

    assert advice.helps
    assert advice.later.known
    assert "page cache" not in said(advice).split("The job")[0]
    assert "an epoch then takes" in said(advice)


@pytest.mark.parametrize(("stored", "kept"), [(1, 1.0), (2, 0.0)])
def test_files_that_were_read_again_say_what_the_page_cache_keeps(stored, kept):
    # GIVEN one epoch in which every fourth file was read twice, the second time from memory or from storage
    opens = np.where(np.arange(FILES) % 4 == 0, 2, 1)
    advice = decided(file_use(np.full(FILES, MB), opens, storage_opens=np.minimum(opens, stored))).advice

    assert advice.later.measured
    assert advice.later.kept_share == pytest.approx(kept)
    assert ("the page cache serves 100.0 % of later ones" in said(advice)) == (kept == 1)


def test_two_sessions_of_one_epoch_have_no_later_epoch():
    use = file_use(np.full(FILES, MB), np.full(FILES, 2))
    facts = dataclasses.replace(run_of(use), memory_bytes=25 * GB, paths=("one", "two"))

    advice = decide_on(use, facts, Question(fast="/fast", room_bytes=1 << 40, block_bytes=1), FAST).advice

    assert advice.later.kept_share == 1


def test_advice_finding_tab_plan_and_check_say_the_same(tmp_path):
    # GIVEN a recorded epoch of 24 files of 1 MB, 25 GB of memory, on NFS
    calls = []
    for number in range(FILES):
        at = number * 100.0
        calls += [(at, at + 1, 1, "open", number, 0), (at + 1, at + 100, 1, "pread", number, MB)]
    meta = {"machine": {"cpus": 2.0, "memory_bytes": 25 * GB, "cpu_s": 0.1}}
    session = training(
        tmp_path, calls, epochs_of_steps(FILES, 100, 95), paths=[f"/data/{n:03}" for n in range(FILES)],
        sizes=[MB] * FILES, meta=meta,
    )  # fmt: skip

    # WHEN each is asked
    decision = decide([session], Question(fast="/fast", room_bytes=1 << 40, block_bytes=1), FAST)
    (finding,) = (one for one in diagnose(session).findings if one.name == NAME)
    tab = next(panel for panel in staging_view(Source(session)) if isinstance(panel, Text))

    # THEN
    assert FIRST_ONLY in said(decision.advice)
    assert FIRST_ONLY in finding.cure.what
    assert "if the page cache keeps the 24.0 MB" in finding.not_worth
    assert FIRST_ONLY in tab.lines[0]
    assert decision.promise.cached_share == 1
    # ... and a check of several epochs says that a mean is compared
    use = file_use(np.full(FILES, MB), np.full(FILES, 10), tier=(1e-3, 0.0))
    use = dataclasses.replace(use, paths=_renamed(use.paths))
    plan = Plan("/data", "/fast", tuple(PlannedFile(f"{n:06}", MB, 1) for n in range(FILES)))
    text = render_check(compare(plan, decision.promise, use, run_of(use), None))
    assert "Promised is a run's first epoch; obtained is the mean of 10" in text


def _renamed(paths):
    import pyarrow.compute as pc

    return pc.replace_substring(paths, "/data/", "/fast/")
