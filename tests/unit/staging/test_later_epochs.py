"""Later epochs of a run, which the page cache may serve: what is promised then, and everywhere the same."""

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.staging.synthetic import FAST, file_use, job_of, run_of
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.staging import NAME
from tfdarshan.reports.text.advice_text import render
from tfdarshan.reports.text.later_epochs_text import later_gain
from tfdarshan.reports.text.staging_check_text import render_check
from tfdarshan.reports.views.panel import Text
from tfdarshan.reports.views.staging_view import staging_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import decide, decide_on
from tfdarshan.staging.check import compare
from tfdarshan.staging.plan_file import Plan, PlannedFile
from tfdarshan.staging.question import Question

FILES, MB, GB = 24, 1_000_000, 1_000_000_000
FIRST_ONLY = "If the page cache keeps the input, only the first epoch gets faster."
# Writing the copies takes longer than an epoch saves.
SLOW_WRITES = dataclasses.replace(FAST, write_bytes_per_s=1e8)


def one_epoch(**more):
    """One cold epoch of 24 MB."""
    return file_use(np.full(FILES, MB), np.ones(FILES), **more)


def decided(use, memory_bytes=25 * GB, fast=SLOW_WRITES, **question):
    facts = dataclasses.replace(run_of(use), memory_bytes=memory_bytes)
    asked = Question(fast="/fast", room_bytes=1 << 40, block_bytes=1, **question)
    return decide_on(use, facts, asked, fast, job_of(use))


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
    assert text.startswith(f"Stage {FILES} files, 24.0 MB, to /fast")
    assert "the first epoch of a run then takes" in text
    assert "nothing if the page cache keeps the 24.0 MB, with 25.0 GB of memory" in text
    assert f"pays off in epoch {epochs}, or after the first epochs of several runs if the page " in text
    assert advice.copy.break_even_if_kept is None


def test_epochs_that_the_page_cache_would_serve_do_not_pay_for_the_copy():
    # GIVEN ten epochs, of which the first saves less than the copy takes
    advice = decided(one_epoch(), epochs=10).advice

    # THEN
    assert [reason.code for reason in advice.reasons] == ["copy"]
    kept = "if the page cache keeps nothing of the 24.0 MB of input, and later or never if it keeps all"
    assert kept in advice.reasons[0].sentence


def test_input_larger_than_the_memory_gains_in_later_epochs_too():
    # GIVEN memory for a quarter of the input
    advice = decided(one_epoch(), memory_bytes=6 * MB).advice

    assert advice.later.later_s == advice.later.first_s > 0
    assert "page cache keeps" not in said(advice)
    assert advice.copy.break_even_epoch == advice.copy.break_even_if_kept


@pytest.mark.parametrize(
    "use",
    [
        file_use(np.full(FILES, MB), np.full(FILES, 2)),  # storage served the second epoch, too
        dataclasses.replace(one_epoch(), emulated=True),
        dataclasses.replace(one_epoch(), in_memory=np.ones(FILES, bool)),
    ],
    ids=["two epochs", "emulated", "tmpfs"],
)
def test_epochs_that_are_known_to_gain_are_promised_as_before(use):
    advice = decided(use, slow="/data").advice

    assert advice.helps
    assert advice.later.known
    assert "page cache" not in said(advice).split("The job")[0]
    assert "an epoch then takes" in said(advice)


def test_later_epochs_save_what_storage_took_of_them():
    # GIVEN three epochs, of which memory served the last two
    later = decided(
        file_use(np.full(FILES, MB), np.full(FILES, 3), storage_opens=np.ones(FILES))
    ).advice.later

    # THEN
    assert later.measured
    assert later.first_s > 0
    assert later.later_s == pytest.approx(0, abs=0.01 * later.first_s)
    words = "with all files staged a run's first epoch saves "
    assert later_gain(later).startswith(words)


def test_two_sessions_of_one_epoch_have_no_later_epoch():
    # GIVEN the files of two sessions, and the model of one
    use = file_use(np.full(FILES, MB), np.full(FILES, 2))
    facts = dataclasses.replace(run_of(use), memory_bytes=25 * GB, paths=("one", "two"))
    question = Question(fast="/fast", room_bytes=1 << 40, block_bytes=1)

    advice = decide_on(use, facts, question, FAST, job_of(one_epoch())).advice

    assert not advice.later.known


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
    assert "the first epoch of a run then takes" in said(decision.advice)
    assert FIRST_ONLY in finding.fix.what
    assert "the first epoch" in tab.lines[0].lower()
    assert decision.promise.cached_share == 1
    # ... and a check of several epochs says that a mean is compared
    use = file_use(np.full(FILES, MB), np.full(FILES, 10), tier=(1e-3, 0.0))
    use = dataclasses.replace(use, paths=_renamed(use.paths))
    plan = Plan("/data", "/fast", tuple(PlannedFile(f"{n:06}", MB, 1) for n in range(FILES)))
    text = render_check(compare(plan, decision.promise, use, run_of(use), None))
    assert "The promise is for a run's first epoch, and the obtained time is the mean of 10 epochs" in text


def _renamed(paths):
    import pyarrow.compute as pc

    return pc.replace_substring(paths, "/data/", "/fast/")
