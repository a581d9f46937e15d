"""What holds for the findings of every session, whatever its calls."""

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.findings.random_calls import CALL, PATHS, WAITS
from tfdarshan.findings.all_findings import NAMES
from tfdarshan.findings.diagnosis import diagnosis_of
from tfdarshan.findings.finding import KINDS
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.replayed import worth
from tfdarshan.findings.whatif import StorageChange, what_if
from tfdarshan.reports.text.findings_text import findings_text
from tfdarshan.reports.text.whatif_text import whatif_text
from tfdarshan.terminal.paint import WIDTH

# A file that is opened again and again, whose bytes storage gave once: advice says that memory serves it.
ONCE_FROM_STORAGE = [
    *[(0.0, 0.0, 1, "open", 0, 0, -1)] * 8,
    (0.0, 0.0, 1, "pread", 1, 1 << 30, -1),
    (0.0, 6.0, 1, "pread", 0, 1 << 20, -1),
    (0.0, 27.0, 1, "open", 0, 0, -1),
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    calls=st.lists(CALL, max_size=60),
    steps=st.integers(0, 10),
    wait=WAITS,
    sizes=st.sampled_from([-1, 0, 5, 10**6]),
)
@example(calls=ONCE_FROM_STORAGE, steps=5, wait=50.0, sizes=10**6)
def test_costs_gains_and_words_of_any_session(tmp_path_factory, calls, steps, wait, sizes):
    # GIVEN
    made = [(start, start + taken, *rest) for start, taken, *rest in calls]
    session = training(
        tmp_path_factory.mktemp("any"), made, epochs_of_steps(steps, 100, wait), paths=PATHS,
        sizes=[sizes] * len(PATHS), duration_ms=1200, kernel={"rchar": 10**7, "read_bytes": 10**6},
    )  # fmt: skip

    # WHEN
    measures = measure(session)
    found = diagnosis_of(measures)

    # THEN costs are of what all fixes together give, each second once
    causes = [finding for finding in found.findings if finding.gain is not None]
    most_s = max((finding.gain.before_s for finding in causes), default=0.0)
    assert sum(finding.cost_s for finding in causes) <= most_s * (1 + 1e-9)
    for finding in found.findings:
        assert finding.name in NAMES
        assert finding.cost_s >= 0
        assert finding.what
        assert finding.title
        assert "{" not in finding.what + finding.title
    for finding in causes:
        gain = finding.gain
        assert gain.low_s <= gain.saved_s <= gain.high_s < gain.before_s
        assert 0 <= gain.wait_s <= max(gain.saved_s, 0.0)
        by_loop = measures.job.facts.pipeline.loop_reads
        assert gain.supported <= (measures.model.certain or by_loop)
    # ... the most important first
    kinds = [KINDS.index(one.kind) for one in found.findings]
    assert kinds == sorted(kinds)
    worths = [worth(one) for one in found.problems]
    assert worths == sorted(worths, reverse=True)
    # ... each finding said, unknown or neither
    assert {f.name for f in found.findings}.isdisjoint(entry.name for entry in found.unknown)
    # ... and all of it in words
    assert found.verdict.sentence.endswith(".")
    text = findings_text(found)
    unfolded = ("+", "-", "/", "`")
    assert all(len(line) <= WIDTH or line.lstrip().startswith(unfolded) for line in text.splitlines())
    assert "nan" not in text.lower().replace("domi", "")
    # ... and what-if has an answer, too
    if measures.group("read").calls and measures.job is not None:
        answer = what_if(measures, StorageChange(bandwidth=2.0, latency=0.5, threads=4))
        low, high = answer.gain.speedup_range
        assert low <= answer.gain.speedup * (1 + 1e-9)
        assert answer.gain.speedup <= high * (1 + 1e-9)
        assert whatif_text(answer)
